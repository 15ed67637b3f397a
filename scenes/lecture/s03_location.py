"""Main lecture, second question: keep location."""

import numpy as np
from manim import TransformFromCopy

from scenes.kit import *  # noqa: F403 - the kit is the vocabulary of a storyboard
from vit_data import rows
from vit_data.run import Vector


class LocationPage(Talk, NosePage):
    """The nose patch's rows, and position rows wherever the run knows them."""

    @property
    def patch(self):
        return self.dog.patches[self.nose]

    def position(self, number):
        """The learned position row of a patch, whole, in part or not known."""
        patch = self.dog.patches.get(rows.name(number))
        if patch and patch.p:
            return patch.p
        table = self.dog.matrices
        return Vector.of(table.p.array()[number]) if table else Vector.unknown(self.model.width)

    def strip(self, vector, color, width=3.2, height=0.62):
        return Strip(vector, color, width, height)


class WhereDoesLocationEnter(LocationPage):
    route = "lecture/s03/1"

    def title(self):
        return "The projection is shared. Where does location enter?"

    def caption(self):
        return "The features say what a patch looks like. Nothing in them says where it was."

    def says(self):
        r, c = self.place
        return [
            f"Patch {self.number} lies in row {r}, column {c}. We can see that, because we see the {self.word}.",
            "The shared projection saw only the pixels. The row of features that it returned would be the same if the patch had lain anywhere else.",
            f"So if we shuffled all {self.model.patches} rows, the encoder could not notice. What is where matters, for a face above all. Somebody has to tell the model where each row came from.",
        ]

    def build(self):
        r, c = self.place
        photo = Photograph(self.run, side=4.3, grid=True).move_to([STAGE.left + 3.0, STAGE.bottom + 2.15, 0])
        cell = photo.cell(self.number)
        down = Connector(link([photo.get_left()[0] - 0.12, cell.get_y(), 0], cell.get_left(), theme.AMBER, 3)[0])
        across = Connector(link([cell.get_x(), photo.get_top()[1] + 0.12, 0], cell.get_top(), theme.AMBER, 3)[0])
        names = [
            words(f"row {r}", theme.BODY, theme.AMBER, bold=True).next_to(down, LEFT, buff=0.08),
            words(f"column {c}", theme.BODY, theme.AMBER, bold=True).next_to(across, UP, buff=0.04),
        ]
        left = photo.get_right()[0] + 1.0
        strip = self.strip(self.patch.c, theme.BLUE, STAGE.right - left, 0.75).move_to([(left + STAGE.right) / 2, STAGE.top - 1.45, 0])
        head = words(f"content $c_{self.number}$", 48, theme.BLUE, bold=True).next_to(strip, UP, buff=0.16).align_to(strip, LEFT)
        ask = words("Where?", 110, theme.AMBER, bold=True).move_to([strip.get_x(), STAGE.bottom + 1.35, 0])
        self.step(photo, FadeIn(photo.patch(self.number, theme.AMBER)))
        self.go(*draw(down, across), *write(*names))
        self.step(Emerge(strip, cell), FadeIn(head))
        self.step(FadeIn(ask, scale=0.7))


class AddWhatAndWhere(LocationPage):
    route = "lecture/s03/2"

    def title(self):
        return "Add WHAT and WHERE"

    def caption(self):
        return f"Coordinate by coordinate; the row stays {self.model.width} features wide."

    def says(self):
        return [
            f"The answer is simple. Keep the content row of the patch: that is the what, in blue.",
            f"Give every place a row of its own, learned in training and just as wide, {self.model.width} numbers: that is the where, in amber.",
            f"And add the two, coordinate by coordinate. The sum e goes into the encoder. Adding keeps the width at {self.model.width}; joining the rows end to end would double it. "
            "The encoder has to learn to make use of both parts, and it does, because what it reads is always the sum.",
        ]

    def build(self):
        n = self.number
        what, where, both = self.patch.c, self.position(n), self.patch.e or Vector.unknown(self.model.width)
        width, left = 7.4, STAGE.left + 3.6
        ys = [STAGE.top - 0.75, STAGE.top - 2.15, STAGE.bottom + 1.15]
        lanes = []
        for y, symbol, name, vector, color in zip(ys, ("c_i", "p_i", "e_i"), ("WHAT", "WHERE", "input row"), (what, where, both), (theme.BLUE, theme.AMBER, theme.BLUE)):
            strip = self.strip(vector, color, width, 0.85).move_to([left + width / 2, y, 0])
            label = row(words(name, 44, color, bold=True), math(symbol, 56, color), gap=0.3).next_to(strip, LEFT, buff=0.35)
            lanes.append((label, strip))
        signs = [words(s, 64, theme.GREY).move_to([left - 0.6, y, 0]) for s, y in (("+", (ys[0] + ys[1]) / 2), ("=", (ys[1] + ys[2]) / 2))]
        rule = words(f"$e_i = c_i + p_i$,  {self.model.width} features", 52).move_to([STAGE.center[0], STAGE.bottom + 0.25, 0])
        crop = Photograph(self.run).crop(n, 1.0).next_to(lanes[0][1], RIGHT, buff=0.9)
        spot = words(f"position {n}", theme.BODY, theme.AMBER).next_to(lanes[1][1], RIGHT, buff=0.75)
        self.step(crop)
        self.go(Emerge(lanes[0][1], crop), *write(lanes[0][0]))
        self.step(FadeIn(signs[0]), FadeIn(lanes[1][1]), *write(lanes[1][0], spot))
        self.step(
            FadeIn(signs[1]),
            TransformFromCopy(lanes[0][1], lanes[2][1]),
            TransformFromCopy(lanes[1][1], lanes[2][1].copy()),
            *write(lanes[2][0]),
            run_time=1.1,
        )
        self.go(*write(rule))


class WhichPositionRow(LocationPage):
    route = "lecture/s03/3"

    def title(self):
        return "Which positional vector goes with each row?"

    def caption(self):
        return f"A learned table with one row of {self.model.width} numbers for each of the {self.model.tokens} token positions."

    def says(self):
        m = self.model
        return [
            f"Here are three content rows: the first patch, patch {self.number}, and the last one, number {m.patches}.",
            f"And here is the table of positions. It was learned together with all other weights, and now it is fixed: {m.tokens} rows, one for each patch and one more that we will meet in a minute.",
            "Row one of the table belongs to the first patch, and so on; the number decides, not the picture.",
            "Add them line by line, and each row carries its location along.",
        ]

    def build(self):
        m = self.model
        numbers = (1, self.number, m.patches)
        ys = [STAGE.top - 1.15 - i * 1.45 for i in range(3)]
        photo = Photograph(self.run, side=1.0)
        limit = max(float(np.nanquantile(np.abs(known(self.position(n))), 0.98)) for n in numbers) or 1.0
        heads = [words(t, theme.CAPTION, c, bold=True).move_to([x, STAGE.top - 0.25, 0]) for t, c, x in
                 (("content", theme.BLUE, STAGE.left + 2.7), ("position", theme.AMBER, STAGE.left + 6.75), ("with location", theme.BLUE, STAGE.right - 1.6))]
        lanes = []
        for n, y in zip(numbers, ys):
            patch = self.dog.patches.get(rows.name(n))
            crop = photo.crop(n, 0.95, theme.BLUE).move_to([STAGE.left + 0.5, y, 0])
            content = self.strip(patch.c, theme.BLUE, 2.9).move_to([STAGE.left + 2.7, y, 0])
            place = Strip(self.position(n), theme.AMBER, 2.9, 0.62, limit=limit).move_to([STAGE.left + 6.75, y, 0])
            label = words(f"position {n}", theme.LABEL, theme.AMBER).next_to(place, DOWN, buff=0.06)
            name = words(rows.name(n), theme.LABEL, theme.BLUE).next_to(content, DOWN, buff=0.06)
            total = self.strip(self.sum(patch, n), theme.BLUE, 3.2, 0.62).move_to([STAGE.right - 1.6, y, 0])
            where = words(f"{rows.name(n)} + location", theme.LABEL, theme.BLUE).next_to(total, DOWN, buff=0.06)
            lanes.append((crop, content, name, joint("+", theme.GREY).move_to([STAGE.left + 4.72, y, 0]), place, label, arrow(place, total), total, where))
        self.step(*(FadeIn(Group(*lane[:3]), shift=0.12 * UP) for lane in lanes), FadeIn(heads[0]), lag_ratio=0.15)
        table = around(Group(*(lane[4] for lane in lanes), *(lane[5] for lane in lanes)), theme.AMBER, 0.2)
        self.step(FadeIn(table), FadeIn(heads[1]), *(FadeIn(lane[4]) for lane in lanes))
        self.step(*(a for lane in lanes for a in (FadeIn(lane[3]), FadeIn(lane[5]))), lag_ratio=0.2)
        self.step(*(a for lane in lanes for a in (*draw(lane[6]), Emerge(lane[7], lane[4]), FadeIn(lane[8]))), FadeIn(heads[2]))

    def sum(self, patch, number):
        """The row that enters block 1."""
        if patch.e:
            return patch.e
        return Vector.of(self.dog.matrices.e.array()[number]) if self.dog.matrices else Vector.unknown(self.model.width)
