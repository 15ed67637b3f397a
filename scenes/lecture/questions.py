"""The five questions of the main lecture and its progress line, the same wherever they stand."""

from __future__ import annotations

from scenes.kit import *  # noqa: F403
from vit_data.run import Run

QUESTIONS = (("make tokens", "pixels → vectors"), ("keep location", "where each came from"), ("choose a readout", "many rows → one label"),
             ("share information", "rows read one another"), ("predict a class", "one row → class scores"))


def stages(run: Run) -> list[tuple[str, str]]:
    """What the progress line shows: each stage of the model with the shape that leaves it."""
    m = run.model
    return [("image", times(m.channels, m.image, m.image)), ("patches", f"{m.patches} crops"), ("patch projection", times(m.patches, m.width)),
            ("+ position + CLS", times(m.tokens, m.width)), (f"encoder × {m.depth}", times(m.tokens, m.width)), ("final CLS", count(m.width)),
            ("class head", f"{count(m.classes)} logits")]


class Progress(Group):
    """The model as one line of stages, those behind us pale, the one we are at larger and marked HERE.

    ``cards`` and ``arrows`` are the parts, ``marker`` the HERE sign.
    """

    def __init__(self, run: Run, here: int, width: float = STAGE.width):
        entries = stages(run)
        gap = 0.34
        unit = (width - gap * (len(entries) - 1)) / (len(entries) + 0.55)
        small, large = route_icons(run, 0.95), route_icons(run, 1.7)
        order = (Route.IMAGE, Route.PATCHES, Route.PROJECTION, Route.PREPARE, Route.ATTENTION, Route.SUMMARY, Route.SCORES)
        self.cards = Group()
        for i, (name, shape) in enumerate(entries):
            color = theme.AMBER if i == here else theme.BLUE
            grown = 1.55 if i == here else 1.0
            text = column(words(name, 36 if i == here else 28, color, bold=True, width=unit * grown - 0.16, align="center"),
                          words(shape, 32 if i == here else 25, theme.INK if i == here else theme.GREY, width=unit * grown - 0.1, align="center"), gap=0.1)
            icon = (large if i == here else small)[order[i]]
            border = Frame(corner_radius=0.14, width=unit * grown, height=4.0 if i == here else 2.7, stroke_color=color, stroke_width=5 if i == here else 2.4,
                           fill_color=theme.tint(color, 0.1 if i == here else 0.05), fill_opacity=1)
            icon.move_to(border.get_top() + ((1.32 if i == here else 0.8) * DOWN))
            text.move_to([0, (icon.get_bottom()[1] + border.get_bottom()[1]) / 2, 0])
            card = Group(border, icon, text)
            if i < here:
                border.set_stroke(theme.tint(color, 0.35))
                for line in text:
                    line.ink.set_fill(opacity=0.45)
                card.add(border.copy().set_fill(theme.PAPER, 0.5).set_stroke(width=0))
            self.cards.add(card)
        self.cards.arrange(RIGHT, buff=gap)
        self.arrows = Group(*(arrow(a[0], b[0], theme.INK if i >= here else theme.SKIP, gap=0.04) for i, (a, b) in enumerate(zip(self.cards, self.cards[1:]))))
        self.marker = column(words("▲", theme.LABEL, theme.AMBER), words("HERE", theme.CAPTION, theme.AMBER, bold=True), gap=-0.02).next_to(
            self.cards[here], DOWN, buff=0.12
        )
        super().__init__(self.cards, self.arrows, self.marker)
