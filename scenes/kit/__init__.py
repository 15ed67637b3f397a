"""The kit: everything that two slides share. Storyboards import from here."""

from manim import DOWN, LEFT, ORIGIN, RIGHT, UP, AnimationGroup, Create, FadeIn, FadeOut, FadeTransform, Group, LaggedStart, Succession, Transform, VGroup

from . import theme
from .block import Block, Concat, Heads, Lane, Neurons, SparseMatrix, head_color, joined
from .attention import FeatureRow, TokenMatrix, TokenRow, WeightedRow, axis_notes, feature_names, known_limit, lead, spot, token_names, value_block, values_text
from .cards import SectionCard
from .families import FamiliesPage
from .flow import Bars, all_scores, Code, Layer, Pipeline, Table, connections, draw, sum_line, write
from .listing import Listing, axes, gives
from .layout import Area, at, beside, column, fit, grid, row
from .learning import FROZEN, LEARNS, Learner, Net, backward, badge, flame, forward, learning_key, mark, sketch_cat, sketch_dog, snowflake
from .nose import NosePage
from .numbers import MINUS, bracket, count, num, pct, pct_least, points, short, times, tiny, triple, vec
from .photo import Crop, MapView, Photograph, pixels, scale_bar
from .roles import RECEIVER, SOURCE, joint, local_roles, message_path, pulse, weight_pill
from .route import Route, route_icons, route_stages
from .shapes import Box, Connector, Emerge, Frame, around, arrow, brace_label, elbow, extent, link, outline, panel, picture
from .slide import STAGE, Slide
from .talk import Talk
from .text import Words, code, escape, math, words
from .tiles import Glide, Tiles
from .vectors import Cells, Matrix, Strip, crop_strip, features, known, named_row, pixel_row, sign_key, sparse_rows

__all__ = [name for name in dir() if not name.startswith("_")]
