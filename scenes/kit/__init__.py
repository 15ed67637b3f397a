"""The kit: everything that two slides share. Storyboards import from here."""

from manim import DOWN, LEFT, ORIGIN, RIGHT, UP, AnimationGroup, Create, FadeIn, FadeOut, FadeTransform, Group, LaggedStart, Succession, Transform, VGroup

from . import theme
from .cards import SectionCard
from .flow import Bars, Code, Layer, Pipeline, Table, connections, draw, sum_line, write
from .layout import Area, at, beside, column, fit, grid, row
from .numbers import MINUS, bracket, count, num, pct, points, short, times, triple, vec
from .photo import Crop, MapView, Photograph, pixels, scale_bar
from .roles import RECEIVER, SOURCE, joint, local_roles, message_path, pulse, weight_pill
from .route import Route, route_icons, route_stages
from .shapes import Box, Connector, Emerge, Frame, around, arrow, brace_label, elbow, extent, link, outline, panel, picture
from .slide import STAGE, Slide
from .text import Words, code, escape, math, words
from .tiles import Glide, Tiles
from .vectors import Cells, Matrix, Strip, features, known, named_row, pixel_row, sign_key, sparse_rows

__all__ = [name for name in dir() if not name.startswith("_")]
