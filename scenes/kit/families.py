"""The three Transformer families side by side, as both decks open with them."""

from __future__ import annotations

import numpy as np
from manim import DOWN, LEFT, RIGHT, UP, FadeIn, Group, LaggedStart, MoveAlongPath, Rectangle, Square, VGroup, VMobject

from . import theme
from .flow import draw, write
from .layout import column
from .photo import Photograph
from .shapes import Box, Frame, arrow, elbow, link, panel
from .slide import STAGE, Slide
from .text import words


class FamiliesPage(Slide):
    """Encoder, decoder and encoder-decoder; at the end the other two pale and patches take the encoder's inputs.

    A page adds its route and what it says.
    """

    def build(self):
        gap = 0.3
        w = (STAGE.width - 2 * gap) / 3
        cards = Group(*(panel(w, STAGE.height, theme.tint(theme.PURPLE, 0.35), theme.PAPER) for _ in range(3))).arrange(RIGHT, buff=gap).move_to(STAGE.center)
        heads = Group(
            *(
                column(words(name, theme.BODY, theme.PURPLE, bold=True), words(what, theme.BODY), gap=0.02).move_to([card.get_x(), STAGE.top - 0.55, 0])
                for card, name, what in zip(
                    cards, ("ENCODER", "DECODER", "ENCODER-DECODER"), ("Encode the input", "Predict the next token", "Generate from a source")
                )
            )
        )
        uses = Group(*(words(text, theme.SMALL + 1, theme.GREY).move_to([card.get_x(), STAGE.bottom + 0.32, 0])
                       for card, text in zip(cards, ("labels · retrieval · readouts", "chat · code · continuation", "translation · summarization"))))
        self.step(FadeIn(cards[0]), *write(heads[0]))
        tokens = self.encoder(cards[0].get_x())
        self.go(*write(uses[0]))
        self.step(FadeIn(cards[1]), *write(heads[1]))
        self.decoder(cards[1].get_x())
        self.go(*write(uses[1]))
        self.step(FadeIn(cards[2]), *write(heads[2]))
        self.pair(cards[2].get_x())
        self.go(*write(uses[2]))

        veils = VGroup(
            *(Rectangle(width=w + 0.06, height=STAGE.height + 0.06, stroke_width=0, fill_color=theme.PAPER, fill_opacity=0.65).move_to(v) for v in cards[1:])
        )
        photo = Photograph(self.run, side=1.0)
        crops = [photo.crop(p, t.width, theme.BLUE).move_to(t) for p, t in zip(self.patches(), tokens)]
        for crop in crops:
            crop.border.set_stroke(width=2)
        self.step(FadeIn(veils), cards[0].animate.set_stroke(theme.BLUE, 4), run_time=0.7)
        self.go(LaggedStart(*(FadeIn(c, shift=0.25 * UP) for c in crops), lag_ratio=0.25, run_time=1.0))

    def patches(self):
        return [self.dog.place(p) for p in ("corner", "face", "branches", "background")]

    def tokens(self, n, color=theme.PURPLE, side=0.46, fill=0.3):
        return Group(
            *(
                Frame(corner_radius=0.06, width=side, height=side, stroke_color=color, stroke_width=2, fill_color=theme.tint(color, fill), fill_opacity=1)
                for _ in range(n)
            )
        ).arrange(RIGHT, buff=0.14)

    def square(self, seen, x, y, text, side=0.19):
        """Who reads whom: a filled cell where the row's token reads the column's."""
        cells = VGroup(*(Square(side, stroke_color=theme.tint(theme.TEAL, 0.5), stroke_width=1.2, fill_color=theme.TEAL if on else theme.PAPER, fill_opacity=1)
                         for on in np.asarray(seen, dtype=bool).ravel())).arrange_in_grid(len(seen), len(seen[0]), buff=0.03)
        return Group(cells, words(text, theme.SMALLEST_PX, theme.TEAL)).arrange(DOWN, buff=0.08).move_to([x, y, 0])

    def encoder(self, x):
        low, mid, high = -1.22, -0.05, 0.95
        tokens = self.tokens(4).move_to([x - 0.7, low, 0])
        block = Box("Encoder", color=theme.PURPLE, width=2.4, height=0.62).move_to([x - 0.7, mid, 0])
        out = self.tokens(4, fill=0.75).move_to([x - 0.7, high, 0])
        label = words("one vector per token", theme.SMALL).next_to(out, UP, buff=0.1)
        up = [link(t.get_top(), [t.get_x(), block.get_bottom()[1], 0], theme.PURPLE, 2) for t in tokens]
        on = [arrow([t.get_x(), block.get_top()[1], 0], t.get_bottom(), theme.PURPLE, gap=0.03, width=2.4) for t in out]
        self.go(FadeIn(tokens), FadeIn(block))
        self.go(*draw(*up), FadeIn(self.square(np.ones((4, 4)), x + 1.35, mid, "all read all")))
        self.go(*draw(*on), LaggedStart(*(FadeIn(t, shift=0.15 * UP) for t in out), lag_ratio=0.15), FadeIn(label))
        return tokens

    def decoder(self, x):
        low, mid, high = -1.22, -0.05, 1.02
        slots = self.tokens(4).move_to([x - 0.7, low, 0])
        block = Box("Decoder", color=theme.PURPLE, width=2.4, height=0.62).move_to([x - 0.7, mid, 0])
        fresh = self.tokens(1, fill=0.75)[0].move_to([slots[2].get_x(), high, 0])
        label = words("next", theme.SMALL).next_to(fresh, LEFT, buff=0.12)
        rise = arrow([fresh.get_x(), block.get_top()[1], 0], fresh.get_bottom(), theme.PURPLE, gap=0.03, width=2.4)
        turn = x + 1.62
        loop = elbow(
            fresh.get_right() + 0.06 * RIGHT,
            np.array([turn, high, 0]),
            np.array([turn, low, 0]),
            slots[3].get_right() + 0.08 * RIGHT,
            color=theme.PURPLE,
            width=2.4,
        )
        mask = self.square(np.tri(4), x + 1.02, mid - 0.02, "earlier")
        repeat = words("append → repeat", theme.SMALL).move_to([x, low - 0.52, 0])
        self.go(
            FadeIn(slots[:3]),
            FadeIn(block),
            FadeIn(mask),
            *draw(*(link(t.get_top(), [t.get_x(), block.get_bottom()[1], 0], theme.PURPLE, 2) for t in slots[:3])),
        )
        self.go(*draw(rise), FadeIn(fresh, shift=0.15 * UP), FadeIn(label))
        self.go(*draw(loop), FadeIn(repeat))
        way = VMobject().set_points_as_corners([fresh.get_center(), [turn, high, 0], [turn, low, 0], slots[3].get_center()])
        self.go(MoveAlongPath(slots[3], way, run_time=1.1))

    def pair(self, x):
        low, mid, high = -1.22, -0.05, 0.95
        source, target = self.tokens(3, side=0.4).move_to([x - 1.08, low, 0]), self.tokens(3, side=0.4).move_to([x + 1.08, low, 0])
        enc, dec = (
            Box(n, color=theme.PURPLE, width=1.6, height=0.62, size=theme.LABEL).move_to([x + dx, mid, 0]) for n, dx in (("Encoder", -1.08), ("Decoder", 1.08))
        )
        names = Group(words("source", theme.SMALL).next_to(source, DOWN, buff=0.1), words("target prefix", theme.SMALL).next_to(target, DOWN, buff=0.1))
        across = arrow(enc, dec, theme.TEAL, gap=0.03, width=4)
        carry = words("source *K,V*", theme.SMALL, theme.TEAL).move_to([x, mid + 0.55, 0])
        fresh = self.tokens(1, side=0.4, fill=0.75)[0].move_to([dec.get_x(), high + 0.1, 0])
        label = words("next", theme.SMALL).next_to(fresh, RIGHT, buff=0.12)
        lines = [link(t.get_top(), [t.get_x(), enc.get_bottom()[1], 0], theme.PURPLE, 2) for t in (*source, *target)]
        self.go(FadeIn(source), FadeIn(target), FadeIn(enc), FadeIn(dec), FadeIn(names), *draw(*lines))
        self.go(*draw(across), FadeIn(carry))
        self.go(
            *draw(arrow([dec.get_x(), dec.get_top()[1], 0], fresh.get_bottom(), theme.PURPLE, gap=0.03, width=2.4)),
            FadeIn(fresh, shift=0.15 * UP),
            FadeIn(label),
        )


__all__ = ["FamiliesPage"]
