"""Section 3 of the reference deck: the rows get their location, a summary row joins them (pages 1 to 12)."""

import numpy as np
from manim import GrowFromEdge, Rectangle

from scenes.kit import *  # noqa: F403 - the kit is the vocabulary of a storyboard
from scenes.kit.learning import LEARNS, backward, flame
from vit_data import figures, head, rows
from vit_data.run import Vector


class RowsPage(NosePage):
    """The nose patch, its number, its place on the grid, and rows of the whole matrices where the run has them."""

    def matrix(self, name):
        """A whole matrix of the run as an array, or None."""
        found = self.dog.matrices and getattr(self.dog.matrices, name)
        return None if found is None else found.array()

    def row_of(self, name, token):
        """A row of a whole matrix, for its colours only."""
        matrix = self.matrix(name)
        return Vector.of(matrix[rows.index(token)]) if matrix is not None else Vector.unknown(self.model.width)

    def merge(self, sources, target, *more):
        """Copies of the terms move together; where they meet, the sum appears."""
        moving = [source.copy() for source in sources]
        self.go(*(m.animate.move_to(target) for m in moving), run_time=0.6)
        self.go(*(FadeOut(m) for m in moving), FadeIn(target), *(FadeIn(m) for m in more), run_time=0.4)

    def content_of(self, token):
        patch = self.dog.patches.get(token)
        return patch.c if patch and patch.c else Vector.unknown(self.model.width)


class PrepareRows(SectionCard):
    route = "reference/s03/1"

    def name(self):
        return "Prepare the rows, then classify the image"

    def before(self):
        return f"Our {figures.picture_word(self.run, 'dog')} has become {self.model.patches} rows of patch features."

    def question(self):
        return "Where is each patch, and\nhow do we get one summary\nof the image?"

    def topics(self):
        return ("Add location", "Introduce CLS", "Resume the forward pass")

    def caption(self):
        return (f"One {figures.picture_word(self.run, 'dog')} all the way: its rows learn where they belong, a summary row joins them, and together they go to "
                "the classifier.")

    def notes(self):
        return (f"What do the {self.model.patches} rows know so far? Only what each piece looks like. Two things are missing before attention can start: where "
                "a piece lay, "
                "and a place where the answer for the whole picture can gather. Name the three steps of the section and go on to the first.")

    def art(self):
        photo = Photograph(self.run, side=2.5, grid=True)
        nose = self.dog.place("nose")
        strip = Strip(self.dog.patches[nose].c, width=3.9, height=0.42)
        place = Strip(self.dog.patches[nose].p or Vector.unknown(self.model.width), theme.AMBER, 3.9, 0.42)
        cls = Strip(self.dog.cls.e, theme.AMBER, 3.9, 0.42)
        sums = column(cls, words("+", theme.BODY, theme.GREY, bold=True), strip, place, gap=0.1)
        return column(Group(photo, photo.patch(nose, theme.AMBER)), sums, gap=0.3)


class GiveLocation(RowsPage):
    route = "reference/s03/2"

    def title(self):
        return f"Give each patch its location in the {self.word}"

    def caption(self):
        n = self.number
        return (f"What a crop is part of depends on where it lies. $c_{n}$ tells what it looks like, $p_{n}$ in which grid slot it belongs; "
                "attention gets both, as one sum.")

    def notes(self):
        r, c = self.place
        return (f"Did the patch projection ever hear of row {r} or column {c}? It only saw pixel values, the same layer for every slot. Slide along the row "
                "and down the column "
                f"until they cross at {self.nose}. Shuffle the pieces in your mind: the content rows would be the same set. So the place needs a vector of its "
                "own.")

    def build(self):
        n, (r, c), m = self.number, self.place, self.model
        photo = Photograph(self.run, side=4.1, grid=True).move_to([STAGE.left + 2.75, STAGE.bottom + 2.12, 0])
        cells = photo.cell(n)
        down = Rectangle(width=cells.width, height=photo.image.height, stroke_width=0, fill_color=theme.AMBER,
                         fill_opacity=0.4).move_to([cells.get_x(), photo.image.get_y(), 0])
        along = Rectangle(width=photo.image.width, height=cells.height, stroke_width=0, fill_color=theme.AMBER,
                          fill_opacity=0.4).move_to([photo.image.get_x(), cells.get_y(), 0])
        names = Group(words(f"column {c}", theme.LABEL, theme.AMBER, bold=True).next_to(down, UP, buff=0.08),
                      words(f"row {r}", theme.LABEL, theme.AMBER, bold=True).next_to(along, LEFT, buff=0.12))
        left = photo.get_right()[0] + 0.75
        crop = photo.crop(n, 1.3, theme.AMBER).move_to([left + 0.65, STAGE.top - 0.72, 0])
        head_ = column(words(f"{self.nose} · one of {m.patches} patches", theme.BODY, bold=True),
                       words(f"The {self.word} stays as it is.", theme.LABEL, theme.GREY), gap=0.06, align=LEFT)
        head_.next_to(crop, RIGHT, buff=0.3)
        ys = (STAGE.top - 2.25, STAGE.top - 3.5)
        p = self.dog.patches[self.nose].p
        content = self.lane("Content", f"c_{n}", "features from this crop", self.content_of(self.nose), theme.BLUE, left, ys[0],
                            f"already computed by Linear({m.patch_values}, {m.width})")
        place = self.lane("Position", f"p_{n}", "a vector for this grid slot", p, theme.AMBER, left, ys[1], f"row {r}, column {c} → patch number {n}")
        end = words("The *shared pixel projection* never got row or column: *add* that *information next.*", theme.LABEL, width=STAGE.right - left)
        end.move_to([left, STAGE.bottom + 0.3, 0], aligned_edge=LEFT)
        spot_ = photo.patch(n, theme.AMBER)
        self.step(photo, FadeIn(spot_))
        self.go(Emerge(crop, photo.cell(n)), *write(head_))
        self.step(GrowFromEdge(along, LEFT), FadeIn(names[1]))
        self.go(GrowFromEdge(down, UP), FadeIn(names[0]))
        self.bring_to_front(spot_)
        self.step(*write(content[0], content[2]), Emerge(content[1], crop))
        self.step(*write(place[0], place[2]), Emerge(place[1], Group(down, along)))
        self.step(*write(end))

    def lane(self, word, symbol, what, vector, color, left, y, origin):
        title = row(words(word, theme.BODY, color, bold=True), math(symbol, theme.BODY + 4, color), words(f": {what}", theme.LABEL, theme.INK),
                    gap=0.14).move_to([left, y + 0.42, 0], aligned_edge=LEFT)
        strip = Strip(vector, color, STAGE.right - left, 0.34).move_to([left, y, 0], aligned_edge=LEFT)
        return title, strip, words(origin, theme.SMALL, theme.GREY).move_to([left, y - 0.37, 0], aligned_edge=LEFT)


class LookupTable(RowsPage):
    route = "reference/s03/3"

    def title(self):
        return "Position is a learned lookup table"

    def caption(self):
        m = self.model
        return (f"The table holds one trainable row of {m.width} numbers a slot, {count(m.parameters.position_patches)} in all, and every image uses the same "
                "one. "
                f"Slot {self.number} gets $p_{self.number}$, whatever its pixels show.")

    def notes(self):
        r, c = self.place
        return (f"Does a second picture need a second table? Point from row {r}, column {c} of the picture to the stored row: the way is the same for the cat. "
                f"Only the content changes with the picture. Compare the two bars at the end: the table is about a quarter the size of the patch projection. "
                "The entries shown are those of the measured checkpoint.")

    def build(self):
        m, n, (r, c) = self.model, self.number, self.place
        p = self.dog.patches[self.nose].p
        photo = Photograph(self.run, side=2.75, grid=True).move_to([STAGE.left + 1.45, STAGE.top - 1.9, 0])
        where = words(f"{self.nose}: row {r}, column {c}", theme.LABEL, bold=True).next_to(photo, UP, buff=0.14)
        values = self.matrix("p")
        names = {rows.name(i): i - 1 for i in sorted({1, 2, n, m.patches})}
        table = TokenMatrix(None if values is None else values[1:], (m.patches, m.width), 4.4, 3.75, theme.AMBER, down=names, wide=0.24, size=theme.LABEL)
        table.shift([STAGE.left + 6.55, STAGE.bottom + 2.2, 0] - table.image.get_center())
        head_ = words(f"P: {m.patches} grid slots × {m.width} coordinates", theme.LABEL, theme.AMBER, bold=True).next_to(table.border, UP, buff=0.42)
        width = extent(table.border, f"[ … {m.width} coordinates … ]", UP, theme.GREY, theme.SMALL, gap=0.12)
        width[1].move_to(width[0]).shift(0.18 * UP)
        left = table.border.get_right()[0] + 0.45
        room = STAGE.right - left
        mark_ = table.mark_row(self.nose, theme.INK)
        way = arrow(photo.cell(n).get_center(), [table.row_labels.get_left()[0] - 0.05, table.row(self.nose).get_y(), 0], theme.AMBER, gap=0.15, width=4)
        y = table.row(self.nose).get_y()
        picked = Group(math(f"p_{n}", theme.CAPTION + 4, theme.AMBER), Strip(p, theme.AMBER, room, 0.42),
                       words(vec(p, 2), theme.BODY, bold=True)).arrange(DOWN, buff=0.12, aligned_edge=LEFT)
        picked.move_to([left, y + 0.42, 0], aligned_edge=LEFT)
        rule = words(f"*Slot {n}* selects $p_{n}$\nfor *every image.*", theme.BODY).next_to(photo, DOWN, buff=0.25).align_to(photo, LEFT)
        counts = self.counts(left, room)
        self.step(photo, FadeIn(photo.patch(n, theme.AMBER)), FadeIn(where))
        self.step(FadeIn(table), FadeIn(head_), FadeIn(width[1]))
        self.step(*draw(way), FadeIn(mark_))
        self.go(Emerge(picked[1], table.row(self.nose)), FadeIn(picked[0]), FadeIn(picked[2]))
        self.step(*write(rule))
        self.step(*write(counts[0], counts[2]), GrowFromEdge(counts[1], LEFT))
        self.go(*write(counts[3], counts[5]), GrowFromEdge(counts[4], LEFT))

    def counts(self, left, room):
        """Two bars on one scale: the table's numbers and the patch projection's."""
        m = self.model
        sizes = (m.parameters.position_patches, m.parameters.patch_total)
        y, parts = STAGE.bottom + 1.65, []
        texts = ((f"{times(m.patches, m.width)} = *{count(sizes[0])}*", "learned numbers"), (f"*{count(sizes[1])}* parameters", "Compare: patch projection"))
        for size, (top, under), color in zip(sizes, texts, (theme.AMBER, theme.BLUE)):
            line = words(top, theme.LABEL).move_to([left, y, 0], aligned_edge=LEFT)
            bar = Rectangle(width=room * size / max(sizes), height=0.2, stroke_width=0, fill_color=color, fill_opacity=1)
            bar.move_to([left, y - 0.3, 0], aligned_edge=LEFT)
            note = words(under, theme.SMALL, theme.GREY).move_to([left, y - 0.58, 0], aligned_edge=LEFT)
            parts += [line, bar, note]
            y -= 1.1
        return parts


class AddPosition(RowsPage):
    route = "reference/s03/4"

    def title(self):
        return "Add position to these content rows"

    def caption(self):
        n, m = self.number, self.model
        return (f"The crop’s pixels gave $c_{n}$, its grid slot gives $p_{n}$. Like coordinates are added, so $e_{n}$ is again {m.width} numbers wide; "
                "the width does not double.")

    def notes(self):
        n, m = self.number, self.model
        return (f"Is the result {m.width} or {2 * m.width} numbers wide? Let them vote, then add the first coordinate by hand, then the second. "
                f"Nothing is placed side by side: c, p and e of patch {n} have equal width. The values are rounded, so a last digit can be one off. Below, the "
                "same sum for all patches at once.")

    def terms(self):
        patch = self.dog.patches[self.nose]
        return patch.c, patch.p, patch.e

    def build(self):
        n, m = self.number, self.model
        photo = Photograph(self.run, side=1.75, grid=True).move_to([STAGE.left + 0.875, STAGE.top - 0.9, 0])
        crop = photo.crop(n, 1.2, theme.AMBER).next_to(photo, DOWN, buff=0.2).align_to(photo, LEFT)
        name = words(self.nose, theme.BODY, bold=True).next_to(crop, RIGHT, buff=0.16)
        lines, ys = [], [STAGE.top - d for d in (0.6, 1.5, 2.55)]
        xs = {"label": STAGE.left + 2.35, "strip": STAGE.left + 7.15, "one": STAGE.left + 10.2, "two": STAGE.left + 11.75}
        for symbol, what, vector, color, y in zip("cpe", ("content from pixels", f"row {n} of the learned table", "input to the block"), self.terms(),
                                                  (theme.BLUE, theme.AMBER, theme.BLUE), ys):
            label = column(row(math(f"{symbol}_{n}", theme.CAPTION + 2, color), words(f"· {times(1, m.width)}", theme.LABEL, theme.GREY), gap=0.14),
                           words(what, theme.SMALL, theme.GREY),
                           gap=0.02, align=LEFT).move_to([xs["label"] + 0.45, y, 0], aligned_edge=LEFT)
            strip = Strip(vector, color, 3.5, 0.46).move_to([xs["strip"], y, 0])
            values = [words(num(vector[i]), theme.CAPTION, bold=symbol == "e").move_to([xs[k] + 0.35, y, 0], aligned_edge=RIGHT) for i,
                      k in ((1, "one"), (2, "two"))]
            dots = words("…", theme.CAPTION, theme.GREY).move_to([xs["two"] + 0.8, y, 0])
            lines.append((label, strip, values, dots))
        plus = words("+", theme.TITLE, theme.GREY, bold=True).move_to([xs["label"], ys[1], 0])
        equals = words("=", theme.TITLE, theme.GREY, bold=True).move_to([xs["label"], ys[2], 0])
        rule = Rectangle(width=STAGE.right - xs["label"], height=0.02, stroke_width=0, fill_color=theme.GREY,
                         fill_opacity=1).move_to([(STAGE.right + xs["label"]) / 2, (ys[1] + ys[2]) / 2 + 0.02, 0])
        known_ = words(f"We already have $c_{n}$, computed with the patch projection.", theme.LABEL,
                       theme.GREY).move_to([xs["label"] + 0.45, STAGE.top + 0.04, 0], aligned_edge=LEFT)
        brackets = Group(*(words(f"coordinate {i}", theme.SMALL, theme.GREY).move_to([x, STAGE.top + 0.02, 0])
                           for i, x in ((1, xs["one"] - 0.1), (2, xs["two"] - 0.05))))
        self.step(photo, FadeIn(photo.patch(n, theme.AMBER)))
        self.go(Emerge(crop, photo.cell(n)), FadeIn(name), *write(known_))
        self.go(Emerge(lines[0][1], crop), *write(lines[0][0], *lines[0][2], lines[0][3]), FadeIn(brackets))
        self.step(FadeIn(plus), *write(lines[1][0], *lines[1][2], lines[1][3]), FadeIn(lines[1][1], shift=0.3 * LEFT))
        self.step(FadeIn(rule), FadeIn(equals), FadeIn(lines[2][0]))
        self.merge([line[2][0] for line in lines[:2]], lines[2][2][0])
        self.merge([line[2][1] for line in lines[:2]], lines[2][2][1])
        self.merge([line[1] for line in lines[:2]], lines[2][1], lines[2][3])
        self.step(*self.whole())

    def whole(self):
        """The same sum for every patch: C + P = E as three images."""
        m, e, p = self.model, self.matrix("e"), self.matrix("p")
        tables = (None, None, None) if e is None else (e[1:] - p[1:], p[1:], e[1:])
        y, parts = STAGE.bottom + 0.62, Group()
        label = column(words("All patch rows:", theme.LABEL, bold=True), words("repeat for every\nimage patch", theme.SMALL, theme.GREY), gap=0.02,
                       align=LEFT).move_to([STAGE.left, y, 0], aligned_edge=LEFT)
        x = STAGE.left + 2.6
        for letter, values, color, sign in zip("CPE", tables, (theme.BLUE, theme.AMBER, theme.BLUE), ("+", "=", "")):
            table = TokenMatrix(values, (m.patches, m.width), 1.2, 1.1, color, labels=False).move_to([x + 0.6, y, 0])
            text = column(words(letter, theme.CAPTION, color, bold=True), words(f"({times(m.patches, m.width)})", theme.SMALL, theme.GREY), gap=0.02,
                          align=LEFT).next_to(table, RIGHT, buff=0.16)
            parts.add(table, text)
            if sign:
                parts.add(words(sign, theme.TITLE, theme.GREY, bold=True).move_to([x + 3.2, y, 0]))
            x += 3.75
        return write(label, parts)


class LossTeachesTable(RowsPage):
    route = "reference/s03/5"

    def title(self):
        return "The image loss teaches the position table"

    def caption(self):
        return ("No one labels positions: the class loss sends gradients to the table as to all other parameters. Training changes it, inference only reads "
                "it. "
                "A sinusoidal code would come from a formula instead.")

    def notes(self):
        return ("Is there a target for a position coordinate somewhere? No. Follow the row forward through the sum into the loss, then the dashed arrow back. "
                "The step on the left is made up, to show one entry move by learning rate times gradient. On the right, the other common choice: "
                "sines and cosines, which need no training at all.")

    def build(self):
        n, m, step = self.number, self.model, head.EXAMPLE_STEP
        patch = self.dog.patches[self.nose]
        y = STAGE.top - 1.0
        start = lead("Start with small random values; *train* with the class loss.")
        p = self.term(f"$p_{n}$: {m.width} entries", patch.p, theme.AMBER, STAGE.left + 1.65, y)
        c = self.term(f"$c_{n}$ from pixels", patch.c, theme.BLUE, STAGE.left + 1.65, y - 1.15)
        plus = joint("+").move_to([STAGE.left + 3.55, y - 0.55, 0])
        e = self.term(f"$e_{n} = c_{n} + p_{n}$", patch.e, theme.BLUE, STAGE.left + 5.65, y - 0.55)
        model = Box("Transformer blocks", "+ classifier", width=2.7, height=1.1).move_to([STAGE.left + 8.9, y - 0.55, 0])
        loss = Box(words("class loss $L$", theme.BODY, theme.RED, bold=True), color=theme.RED, width=1.9, height=1.1).move_to([STAGE.right - 0.95, y - 0.55, 0])
        learn = flame(0.44).next_to(p[0], RIGHT, buff=0.12)
        ways = [arrow(p[1].get_right(), plus.get_center() + 0.27 * UP + 0.1 * LEFT, theme.AMBER),
                arrow(c[1].get_right(), plus.get_center() + 0.27 * DOWN + 0.1 * LEFT, theme.BLUE),
                arrow([plus.get_right()[0], y - 0.55, 0], [e[1].get_left()[0], y - 0.55, 0], gap=0.08),
                arrow([e[1].get_right()[0], y - 0.55, 0], model.get_left()), arrow(model, loss)]
        low = y - 1.95
        back = backward(loss.get_bottom() + 0.06 * DOWN, [loss.get_x(), low, 0], [STAGE.left, low, 0], [STAGE.left, y, 0], p[1].get_left() + 0.06 * LEFT)
        says = words("Backpropagation: gradients reach every trainable position row.", theme.LABEL, LEARNS,
                     bold=True).move_to([STAGE.left + 5.9, low + 0.24, 0])
        left, right = Area(STAGE.left, STAGE.bottom, STAGE.right, low - 0.2).columns(1.15, 1, gap=0.35)
        sgd = self.card(left, "Illustrative SGD update of one entry", LEARNS)
        numbers = [num(step.old), short(step.rate), num(step.gradient, 2), num(step.new)]
        formula = row(math(f"p_({n},1)" + ":", theme.BODY + 2, theme.AMBER), *(words(t, theme.CAPTION, bold=b) for t, b in
                      ((numbers[0], True), (MINUS, False), (numbers[1], True), ("×", False), (numbers[2], True), ("=", False), (numbers[3], True))), gap=0.18)
        formula.move_to([left.center[0], sgd.get_y() - 0.05, 0])
        under = row(words(f"old value {MINUS} learning rate × gradient", theme.SMALL, theme.GREY)).move_to([left.center[0], left.bottom + 0.28, 0])
        other = self.card(right, "Alternative: fixed sinusoidal", theme.BLUE)
        waves = TokenMatrix(head.sinusoidal(m.patches, m.width), (m.patches, m.width), 2.3, 0.98, theme.BLUE, labels=False, scale=1.0)
        waves.move_to([right.left + 1.4, right.bottom + 0.62, 0])
        text = column(math('"sin/cos(position, coordinate)"', theme.LABEL - 2, theme.INK), words("No learned table entries.", theme.SMALL, theme.GREY), gap=0.1,
                      align=LEFT).next_to(waves, RIGHT, buff=0.22)
        self.step(FadeIn(start), FadeIn(p), FadeIn(learn))
        self.step(FadeIn(c), FadeIn(plus), *draw(*ways[:2]))
        self.go(*draw(ways[2]), FadeIn(e))
        self.go(*draw(ways[3]), FadeIn(model))
        self.go(*draw(ways[4]), FadeIn(loss))
        self.step(*draw(back), FadeIn(says))
        self.step(FadeIn(sgd), *write(*formula), FadeIn(under))
        self.step(FadeIn(other), FadeIn(waves), *write(*text))

    def term(self, symbol, vector, color, x, y):
        strip = Strip(vector or Vector.unknown(self.model.width), color, 2.3, 0.36).move_to([x, y, 0])
        return Group(words(symbol, theme.LABEL, color, bold=True).next_to(strip, UP, buff=0.08), strip)

    def card(self, area, text, color):
        frame = panel(area.width, area.height, theme.tint(color, 0.35), theme.tint(color, 0.05)).move_to(area.center)
        return Group(frame, words(text, theme.SMALL + 1, color, bold=True).move_to([area.left + 0.22, area.top - 0.25, 0], aligned_edge=LEFT))


class WhyCls(RowsPage):
    route = "reference/s03/6"

    def title(self):
        return "Why add CLS? Give the classifier one image summary"

    def caption(self):
        m = self.model
        return (f"{m.patches} rows, but one label: something has to bring the patch information together. One more row, CLS, reads the patches in every block, "
                "and its final state goes to the classifier.")

    def notes(self):
        m = self.model
        return (f"{m.patches} rows stand here and one label is wanted: which row should the classifier read? Wait for answers. Then let the amber row join "
                "before the blocks; it has no pixels. "
                "In the blocks it reads the patches. Only its end state goes on. Say that this is a choice: a model trained to average its last patch rows "
                "classifies too.")

    def build(self):
        m = self.model
        photo = Photograph(self.run, side=1.9).move_to([STAGE.left + 0.95, STAGE.center[1] - 0.4, 0])
        told = words(f"The whole dog {self.word}", theme.SMALL, theme.GREY).next_to(photo, DOWN, buff=0.1)
        names = [rows.name(i) for i in sorted({1, self.number, m.patches})]
        x, top = STAGE.left + 3.9, STAGE.top - 1.75
        strips, labels = Group(), Group()
        for i, name in enumerate(names):
            strips.add(Strip(self.content_of(name), width=1.75, height=0.36).move_to([x, top - 0.95 * i, 0]))
            labels.add(words(f"{name} features", theme.SMALL, bold=True).next_to(strips[i], UP, buff=0.05))
        dots = words("⋮", theme.LABEL, theme.GREY, bold=True).move_to([x, (strips[-2].get_bottom()[1] + labels[-1].get_top()[1]) / 2, 0])
        below = words(f"{m.patches} patch rows", theme.SMALL, theme.GREY).next_to(strips, DOWN, buff=0.12)
        cls = Strip(self.dog.cls.s, theme.AMBER, 1.75, 0.36).move_to([x, STAGE.top - 0.62, 0])
        cls_label = words("CLS · learned start", theme.SMALL, theme.AMBER, bold=True).next_to(cls, UP, buff=0.05)
        plus = words("+", theme.CAPTION, theme.GREY, bold=True).move_to([x, (cls.get_bottom()[1] + labels[0].get_top()[1]) / 2, 0])
        frame = panel(2.7, cls.get_top()[1] - strips[-1].get_bottom()[1] + 0.5, theme.tint(theme.BLUE, 0.5), theme.tint(theme.BLUE, 0.05))
        frame.move_to([STAGE.left + 6.85, (cls.get_top()[1] + strips[-1].get_bottom()[1]) / 2, 0])
        inside = Group(Cells([0.8, 0.35, 0.6, 0.45], theme.AMBER, 0.24).move_to([frame.get_x() - 0.45, cls.get_y(), 0]),
                       *(Cells(s, theme.BLUE, 0.24).move_to([frame.get_x() - 0.45, strip.get_y(), 0]) for s,
                         strip in zip(((0.3, 0.8, 0.2, 0.6), (0.7, 0.3, 0.5, 0.9), (0.2, 0.5, 0.8, 0.3)), strips)))
        reads = Group(*(elbow(c.get_right() + 0.06 * RIGHT, [frame.get_x() + 0.3 + 0.22 * i, c.get_y(), 0],
                              [frame.get_x() + 0.3 + 0.22 * i, inside[0].get_y() - 0.04 * 0, 0],
                              inside[0].get_right() + 0.06 * RIGHT, color=theme.TEAL, width=3) for i, c in enumerate(inside[1:])))
        title = words("Transformer blocks", theme.LABEL, theme.BLUE, bold=True).next_to(frame, UP, buff=0.08)
        all_rows = words(f"all {m.tokens} rows", theme.SMALL, theme.GREY).next_to(frame, DOWN, buff=0.08)
        note = words("CLS reads\npatch features", theme.SMALL, theme.TEAL, bold=True)
        final = Strip(self.dog.h, width=2.2, height=0.36).move_to([STAGE.left + 9.75, cls.get_y(), 0])
        final.border.set_stroke(theme.AMBER, 4)
        final_label = words("Final CLS", theme.LABEL, theme.AMBER, bold=True).next_to(final, UP, buff=0.05)
        final_note = words("image summary", theme.SMALL, theme.GREY).next_to(final, DOWN, buff=0.08)
        classifier = Box("Classifier", width=2.2, height=0.8).move_to([final.get_x(), STAGE.center[1] - 0.05, 0])
        label = Box("One image label", width=2.6, height=0.8).move_to([final.get_x(), STAGE.bottom + 0.78, 0])
        question = words("Which representation\nshould it read?", theme.SMALL + 1, theme.GREY).next_to(classifier, RIGHT, buff=0.2)
        tops = words("A SHORT DETOUR · WHY ADD CLS?", theme.SMALLEST_PX + 1, theme.AMBER, bold=True).move_to(at(1844, 54), aligned_edge=RIGHT)
        other = words("Averaging final patch rows is another readout option.", theme.LABEL, theme.GREY,
                      italic=True).move_to([STAGE.left, STAGE.bottom + 0.1, 0], aligned_edge=LEFT)
        note.next_to(inside[0], DOWN, buff=0.1)
        into = [arrow([strips[i].get_right()[0], s.get_y(), 0], [frame.get_left()[0], s.get_y(), 0], theme.BLUE, gap=0.08) for i, s in enumerate(strips)]
        cut = arrow(photo, [labels.get_left()[0] - 0.4, photo.get_y(), 0], theme.BLUE)
        self.step(FadeIn(tops), photo, FadeIn(told))
        self.go(*draw(cut), *(Emerge(s, photo) for s in strips), FadeIn(labels), FadeIn(dots), FadeIn(below))
        self.step(FadeIn(label), FadeIn(classifier), *draw(arrow(classifier, label, side=DOWN, gap=0.06)), *write(question))
        self.step(FadeIn(cls, shift=0.3 * DOWN), FadeIn(cls_label), FadeIn(plus))
        self.step(FadeIn(frame), FadeIn(title), *draw(*into, arrow(cls.get_right(), [frame.get_left()[0], cls.get_y(), 0], theme.AMBER, gap=0.08)),
                  FadeIn(all_rows))
        self.go(FadeIn(inside), *draw(*reads), FadeIn(note))
        self.go(*(pulse(r, "#FFFFFF", 5) for r in reads))
        self.step(*draw(arrow([frame.get_right()[0], cls.get_y(), 0], final.get_left(), theme.AMBER)), FadeIn(final), FadeIn(final_label), FadeIn(final_note))
        self.go(*draw(arrow(final_note, classifier, theme.AMBER, side=DOWN, gap=0.06)))
        self.step(*write(other))


class AddSummaryRow(RowsPage):
    route = "reference/s03/7"

    def title(self):
        return "Add a summary row beside the dog’s patch rows"

    def caption(self):
        m = self.model
        return (f"Pixels make a patch row; the CLS row is stored with the model’s parameters. The {self.word} is not cut once more. "
                f"With {m.width} coordinates, CLS is as wide as every patch row.")

    def notes(self):
        m = self.model
        return (f"Where are the pixels of CLS? There are none, and that is worth a pause. Above, a crop of {m.patch_values} values goes through the shared "
                f"layer. Below, {m.width} numbers are simply stored; training moves them. "
                "Two origins, one width: so both can stand in the same table.")

    def build(self):
        n, m = self.number, self.model
        photo = Photograph(self.run, side=2.2, grid=True).move_to([STAGE.left + 1.1, STAGE.top - 1.45, 0])
        same = words(f"The same dog {self.word}", theme.SMALL, theme.GREY).next_to(photo, DOWN, buff=0.08)
        head_ = lead(f"The {self.word} still has exactly {m.patches} patches.")
        y, low = photo.get_y() + 0.1, STAGE.bottom + 1.5
        crop = photo.crop(n, 1.35, theme.BLUE).move_to([STAGE.left + 3.75, y, 0])
        crop_note = Group(words(self.nose, theme.LABEL, bold=True).next_to(crop, UP, buff=0.06),
                          words(f"{m.patch_values} pixel values", theme.SMALL, theme.GREY).next_to(crop, DOWN, buff=0.08))
        layer = Box(f"Linear({m.patch_values}, {m.width})", width=2.75, height=1.0).move_to([STAGE.left + 6.65, y, 0])
        content = self.out(words(f"Patch content $c_{n}$", theme.LABEL, theme.BLUE, bold=True), self.content_of(self.nose), theme.BLUE, y)
        create = Box("Create a parameter", words(f"{m.width} trainable numbers", theme.SMALL, theme.AMBER), color=theme.AMBER, width=3.1,
                     height=1.0).move_to([layer.get_x(), low, 0])
        learn = flame(0.5).next_to(create, LEFT, buff=0.2)
        no_pixels = words("no pixels", theme.LABEL, theme.GREY, italic=True).next_to(learn, LEFT, buff=0.3)
        cls = self.out(words("CLS row", theme.LABEL, theme.AMBER, bold=True), self.dog.cls.s, theme.AMBER, low)
        total = sum_line(words(f"*{m.patches}* image rows", theme.BODY, theme.BLUE), "+", words("*1* summary row", theme.BODY, theme.AMBER), "=",
                         words(f"{m.tokens} rows", theme.BODY, bold=True), size=theme.BODY)
        total.move_to([STAGE.center[0], STAGE.bottom + 0.14, 0])
        self.step(photo, FadeIn(head_), FadeIn(same), FadeIn(photo.patch(n, theme.BLUE)))
        self.step(Emerge(crop, photo.cell(n)), FadeIn(crop_note))
        self.go(*draw(arrow(crop, layer)), FadeIn(layer))
        self.go(*draw(arrow(layer.get_right(), content[1].get_left())), Emerge(content[1], layer), FadeIn(content[0]), FadeIn(content[2]))
        self.step(FadeIn(create), FadeIn(learn), *write(no_pixels))
        self.go(*draw(arrow(create.get_right(), cls[1].get_left(), theme.AMBER)), Emerge(cls[1], create), FadeIn(cls[0]), FadeIn(cls[2]))
        self.step(*write(*total), lag_ratio=0.2)

    def out(self, label, vector, color, y):
        strip = Strip(vector, color, 3.4, 0.46).move_to([STAGE.right - 1.7, y, 0])
        under = column(words(vec(vector), theme.LABEL), words(f"{self.model.width} features", theme.SMALL, theme.GREY), gap=0.02)
        return Group(label.next_to(strip, UP, buff=0.1), strip, under.next_to(strip, DOWN, buff=0.08))


class ExchangeInBlocks(RowsPage):
    route = "reference/s03/8"

    def title(self):
        return "What makes CLS an image summary?"

    def caption(self):
        return ("CLS reads patches, patches read CLS and one another, and a block’s reads all take the rows that entered it. "
                "Block 2 therefore reads what block 1 wrote, on both sides.")

    def notes(self):
        m = self.model
        return ("Do the patches read CLS too? Yes: follow the arrow down, then the one up. When does a patch see the new CLS? In the next block, because all "
                "queries, keys and values of a block "
                f"are made from the same incoming rows. After block {m.depth} the classifier reads CLS, so the loss makes this row useful.")

    def build(self):
        m = self.model
        ys = (STAGE.top - 0.95, STAGE.top - 2.75)
        photo = Photograph(self.run, side=1.75).move_to([STAGE.left + 0.875, ys[1] + 0.1, 0])
        told = words(f"Same {self.word}", theme.SMALL, theme.GREY).next_to(photo, DOWN, buff=0.08)
        xs = [STAGE.left + d for d in (3.6, 7.25, 10.9)]
        texts = (("Input", "Shared CLS start", f"{m.patches} patch rows"), ("After block 1", "Updated CLS", "Updated patch rows"),
                 ("After block 2", "Updated CLS", "Updated patch rows"))
        shades = ((0.75, 0.3, 0.55, 0.4), (0.45, 0.6, 0.35, 0.7), (0.3, 0.85, 0.5, 0.9))
        stages = []
        for x, (head_, cls, patch), shade in zip(xs, texts, shades):
            top = Group(Cells(shade, theme.AMBER, 0.32), words(cls, theme.LABEL, theme.AMBER, bold=True)).arrange(DOWN, buff=0.1)
            low = Group(Group(*(Cells(np.roll(shade, k), theme.BLUE, 0.28) for k in (1, 2, 3))).arrange(DOWN, buff=0.06),
                        words(patch, theme.LABEL, theme.BLUE, bold=True)).arrange(DOWN, buff=0.1)
            top.move_to([x, ys[0], 0])
            low.move_to([x, ys[1], 0])
            stages.append(Group(words(head_, theme.LABEL, theme.GREY, bold=True).move_to([x, STAGE.top - 0.12, 0]), top, low))
        Group(photo, told).shift((stages[0][2][0].get_y() - photo.get_y()) * UP)
        blocks, ways = [], []
        for i, (a, b) in enumerate(zip(stages, stages[1:]), 1):
            ends = [(a[1][0].get_right(), b[1][0].get_left()), (a[2][0].get_right(), b[2][0].get_left())]
            straight = [arrow(*ends[0], theme.AMBER, gap=0.15), arrow(*ends[1], theme.BLUE, gap=0.15)]
            up = arrow(ends[1][0] + 0.15 * UP, ends[0][1] + 0.15 * DOWN, theme.TEAL, gap=0.2, width=4)
            down = arrow(ends[0][0] + 0.15 * DOWN, ends[1][1] + 0.15 * UP, theme.TEAL, gap=0.2, width=4)
            ways.append((straight, up, down))
            middle = (xs[i - 1] + xs[i]) / 2
            blocks.append(words(f"Block {i}", theme.LABEL, bold=True).move_to([middle, STAGE.top - 0.12, 0]))
        says = words("CLS and patch rows read one another’s current features.", theme.LABEL, theme.TEAL, bold=True)
        shape = words(f"*{times(m.tokens, m.width)}* at each stage. Every update of a block uses that block’s input rows.", theme.LABEL)
        more = words(f"Continue through block {m.depth}. The classifier then reads final CLS; the class loss trains it to carry useful image information.",
                     theme.LABEL, theme.GREY, width=STAGE.width)
        says.move_to([xs[0], ys[1] - 0.98, 0]).align_to([STAGE.left + 2.4, 0, 0], LEFT)
        shape.move_to([STAGE.left, STAGE.bottom + 0.6, 0], aligned_edge=LEFT)
        more.move_to([STAGE.left, STAGE.bottom + 0.12, 0], aligned_edge=LEFT)
        go_on = Group(*(arrow(stages[2][k][0].get_right(), [STAGE.right - 0.1, stages[2][k][0].get_y(), 0], c, gap=0.15) for k,
                        c in ((1, theme.AMBER), (2, theme.BLUE))))
        self.step(photo, FadeIn(told), FadeIn(stages[0]), *draw(arrow(photo.get_right(), stages[0][2][0].get_left(), theme.BLUE)))
        for i in (0, 1):
            straight, up, down = ways[i]
            self.step(FadeIn(blocks[i]), *draw(*straight), *([FadeIn(says)] if i == 0 else []))
            self.go(*draw(up), run_time=0.7)
            self.go(*draw(down), run_time=0.7)
            self.go(pulse(up, "#FFFFFF", 5), pulse(down, "#FFFFFF", 5), FadeIn(stages[i + 1]))
            if i == 0:
                self.step(*write(shape))
        self.step(*draw(*go_on), *write(more))


class SameStart(RowsPage):
    route = "reference/s03/9"

    def title(self):
        words_ = {figures.picture_word(self.run, s) for s in ("dog", "cat")}
        return f"The same CLS start reads two different {words_.pop() + 's' if len(words_) == 1 else 'pictures'}"

    def caption(self):
        return ("One stored CLS, one set of parameters, two pictures: what differs is the patch rows, and so the updates. "
                "Right: CLS measured after the first attention update and its residual addition.")

    def notes(self):
        return (f"The dog’s CLS starts at {vec(self.dog.cls.e)}, and so does the cat’s. Ask how the two can ever become different. The query is the same; keys "
                "and values come from "
                f"the patches, so other weights and another message. After one attention update the first number is {num(self.dog.block1.u[1])} here and "
                f"{num(self.cat.block1.u[1])} there.")

    def build(self):
        m, s = self.model, self.dog.cls.s
        top = row(words("Shared learned CLS", theme.LABEL, theme.AMBER, bold=True), math("s", theme.BODY, theme.AMBER), words(f"= {vec(s)}", theme.LABEL),
                  gap=0.16).move_to([STAGE.left, STAGE.top - 0.1, 0], aligned_edge=LEFT)
        strip = Strip(s, theme.AMBER, 2.9, 0.36).next_to(top, RIGHT, buff=0.4)
        rule = words("Add the same position vector before either image enters attention.", theme.SMALL, theme.GREY)
        rule.next_to(top, DOWN, buff=0.06).align_to(top, LEFT)
        ys = (STAGE.top - 1.95, STAGE.top - 3.75)
        xs = {"start": STAGE.left + 4.0, "box": STAGE.left + 7.35, "out": STAGE.right - 1.65}
        heads = Group(row(words("Starting CLS input", theme.SMALL, theme.GREY, bold=True), math("e_0", theme.LABEL, theme.AMBER),
                          gap=0.12).move_to([xs["start"], STAGE.top - 1.02, 0]),
                      words("After attention + residual", theme.SMALL, theme.GREY, bold=True).move_to([xs["out"], STAGE.top - 1.02, 0]))
        lanes = []
        for name, subject, y in (("Dog", self.dog, ys[0]), ("Cat", self.cat, ys[1])):
            photo = Photograph(self.run, name.lower(), side=1.45).move_to([STAGE.left + 0.725, y, 0])
            label = words(name, theme.LABEL, bold=True).next_to(photo, RIGHT, buff=0.14).align_to(photo, UP)
            start = Group(Strip(subject.cls.e, theme.AMBER, 2.9, 0.36),
                          words(vec(subject.cls.e), theme.LABEL)).arrange(DOWN, buff=0.1).move_to([xs["start"], y + 0.22, 0])
            box = Box("Attention", words("same parameters", theme.SMALL, theme.BLUE), width=2.2, height=1.0).move_to([xs["box"], start[0].get_y(), 0])
            out = Group(Strip(subject.block1.u, theme.AMBER, 2.9, 0.36),
                        words(vec(subject.block1.u), theme.LABEL, bold=True)).arrange(DOWN, buff=0.1).move_to([xs["out"], y + 0.22, 0])
            low = y - 0.56
            text = words(f"{m.patches} {name.lower()} patch rows", theme.SMALL, theme.BLUE, bold=True).move_to([xs["start"], low, 0])
            path = elbow([photo.get_right()[0] + 0.08, low, 0], [text.get_left()[0] - 0.1, low, 0], color=theme.BLUE, tip=False)
            path2 = elbow([text.get_right()[0] + 0.1, low, 0], [xs["box"], low, 0], box.get_bottom() + 0.02 * DOWN, color=theme.BLUE)
            lanes.append((photo, label, start, box, out, text, path, path2))
        foot = words(f"First {len(s.first[:3])} of {m.width} coordinates shown; both CLS rows stay {m.width} numbers wide.", theme.SMALL,
                     theme.GREY).move_to([STAGE.left, STAGE.bottom + 0.02, 0], aligned_edge=LEFT)
        self.step(FadeIn(top), FadeIn(strip))
        self.step(*write(rule), FadeIn(heads[0]), *(FadeIn(x) for lane in lanes for x in lane[:2]))
        self.go(*(Emerge(lane[2][0], strip) for lane in lanes), *(FadeIn(lane[2][1]) for lane in lanes))
        self.step(*(FadeIn(lane[3]) for lane in lanes), *draw(*(arrow(lane[2][0].get_right(), lane[3].get_left(), theme.AMBER) for lane in lanes)),
                  *(FadeIn(lane[5]) for lane in lanes), *draw(*(p for lane in lanes for p in lane[6:])))
        self.step(FadeIn(heads[1]), *draw(*(arrow(lane[3].get_right(), lane[4][0].get_left(), theme.AMBER) for lane in lanes)),
                  *(FadeIn(lane[4][0]) for lane in lanes))
        self.go(*write(*(lane[4][1] for lane in lanes)))
        self.step(*write(foot))


class StackInput(RowsPage):
    route = "reference/s03/10"

    def title(self):
        m = self.model
        return f"Add the summary row: {m.patches} + 1 = {m.tokens}"

    def caption(self):
        m = self.model
        return (f"Patches keep their content-plus-position rows; CLS has a learned position too. Stacked, they are E: {m.tokens} rows of {m.width} features "
                "(batch size one left out).")

    def notes(self):
        m = self.model
        return (f"Why {m.tokens} rows and still {m.width} columns? One row came on top; every sum on the left goes coordinate by coordinate. Watch the rows "
                "fly to their places. "
                "The small number at a symbol says whose row it is; it does not say how wide the row is.")

    def build(self):
        m, _n = self.model, self.number
        names = token_names(self.run)
        head_ = lead("The full sequence entering block 1")
        table = TokenMatrix(self.matrix("e"), (m.tokens, m.width), 3.1, 3.5, theme.BLUE, down=names, wide=0.3, size=theme.LABEL)
        table.shift([STAGE.right - 1.6, STAGE.bottom + 2.35, 0] - table.image.get_center())
        title = words("E", theme.TITLE, theme.BLUE, bold=True).next_to(table.border, UP, buff=0.1)
        ys = [STAGE.top - d for d in (0.75, 1.75, 2.75, 3.75)]
        lines = [self.line(name, i, y) for (name, i), y in zip(names.items(), ys)]
        dots = Group(*(words("⋮", theme.BODY, theme.GREY, bold=True).move_to([STAGE.left + 0.2, (ys[i] + ys[i + 1]) / 2 - 0.14, 0])
                       for i in range(1, len(lines) - 1)))
        foot = row(words("Stack:", theme.BODY, theme.GREY), math(f"[e_0; e_1; dots.h; e_{m.patches}]", theme.CAPTION),
                   words(f"→ E has shape *{times(m.tokens, m.width)}*", theme.BODY), gap=0.2)
        foot.move_to([STAGE.left, STAGE.bottom + 0.12, 0], aligned_edge=LEFT)
        self.step(FadeIn(head_), *(FadeIn(x) for x in lines[0]))
        self.step(*(FadeIn(x) for line in lines[1:] for x in line), FadeIn(dots), lag_ratio=0.05)
        self.step(FadeIn(table.border), FadeIn(title), FadeIn(table.row_labels))
        flying = [line[4].copy() for line in lines]
        self.go(*(f.animate.stretch_to_fit_width(table.image.width).stretch_to_fit_height(0.3).move_to(table.row(name)) for f, name in zip(flying, names)),
                run_time=1.1)
        self.go(FadeIn(table.image), run_time=0.6)
        self.remove(*flying)
        self.step(*write(*foot))

    def line(self, name, i, y):
        """name: first strip + position strip = input strip."""
        cls = name == rows.CLS
        first = self.dog.cls.s if cls else self.difference(name)
        label = words(name, theme.BODY, theme.AMBER if cls else theme.INK, bold=True)
        parts, x = [label.move_to([STAGE.left, y - 0.14, 0], aligned_edge=LEFT)], STAGE.left + 1.95
        symbol = words("learned token", theme.SMALL, theme.AMBER, bold=True) if cls else math(f"c_{i}", theme.BODY, theme.BLUE)
        texts = (symbol, math(f"p_{i}", theme.BODY, theme.AMBER), math(f"e_{i}", theme.BODY, theme.BLUE))
        vectors = (first, self.row_of("p", name), self.dog.cls.e if cls else self.row_of("e", name))
        for k, (text, vector, color) in enumerate(zip(texts, vectors, (theme.AMBER if cls else theme.BLUE, theme.AMBER, theme.BLUE))):
            strip = Strip(vector, color, 1.75, 0.34).move_to([x, y - 0.14, 0])
            parts += [Group(text.next_to(strip, UP, buff=0.05))] if k < 2 else [Group(text.next_to(strip, UP, buff=0.05)), strip]
            if k < 2:
                parts[-1].add(strip, words("+" if k == 0 else "=", theme.CAPTION, theme.GREY, bold=True).move_to([x + 1.2, y - 0.14, 0]))
            else:
                parts.append(words(f"{times(1, self.model.width)}", theme.SMALL, theme.GREY).next_to(strip, RIGHT, buff=0.14))
            x += 2.4
        return parts

    def difference(self, name):
        e, p = self.matrix("e"), self.matrix("p")
        return Vector.of(e[rows.index(name)] - p[rows.index(name)]) if e is not None else self.content_of(name)


class OneBlock(RowsPage):
    route = "reference/s03/11"

    def title(self):
        return "Start with one Transformer block"

    def caption(self):
        m = self.model
        return (f"{m.patches} patch rows and CLS go in. Attention lets rows share what they know, the MLP works on each row by itself, "
                f"and {m.tokens} rows of {m.width} features come out.")

    def notes(self):
        m = self.model
        return (f"What goes into a block, what comes out? The shape does not change, {times(m.tokens, m.width)} on both sides; the numbers do, as the two "
                "pictures of the matrix show. "
                f"First rows exchange information, then each is worked on alone. The stack of {m.depth} blocks can wait until one is understood.")

    def build(self):
        m = self.model
        names = token_names(self.run)
        photo = Photograph(self.run, side=1.9).move_to([STAGE.left + 0.95, STAGE.center[1] + 0.25, 0])
        told = words(f"Our dog {self.word}", theme.SMALL, theme.GREY).next_to(photo, DOWN, buff=0.1)
        before, after = (TokenMatrix(self.matrix(k), (m.tokens, m.width), 1.75, 2.75, theme.BLUE, down=names, wide=0.24) for k in ("e", "out"))
        y = photo.get_y()
        before.shift([STAGE.left + 3.95, y, 0] - before.image.get_center())
        after.shift([STAGE.right - 0.9, y, 0] - after.image.get_center())
        titles = Group(*(column(words(t, theme.LABEL, theme.BLUE, bold=True), words(times(m.tokens, m.width), theme.SMALL, theme.GREY),
                                gap=0.02).next_to(b.border, UP, buff=0.12)
                         for t, b in (("Prepared rows", before), ("Updated rows", after))))
        frame = Frame(corner_radius=0.16, width=3.6, height=3.5, stroke_color=theme.BLUE, stroke_width=2.4, fill_color=theme.tint(theme.BLUE, 0.05),
                      fill_opacity=1).move_to([STAGE.left + 7.65, y, 0])
        head_ = words("Transformer block 1", theme.LABEL, theme.BLUE, bold=True).move_to(frame.get_top() + 0.32 * DOWN)
        attention = Box("Attention", words("share context", theme.LABEL, theme.TEAL), color=theme.TEAL, width=2.7,
                        height=1.0).move_to([frame.get_x(), y + 0.52, 0])
        mlp = Box("MLP", words("refine features", theme.LABEL, theme.BLUE), width=2.7, height=1.0).move_to([frame.get_x(), y - 1.08, 0])
        keep = words(f"Each row keeps {m.width} features; its numbers are updated.", theme.BODY).move_to([STAGE.center[0], STAGE.bottom + 0.5, 0])
        first = words("First, let’s follow this one block.", theme.LABEL, theme.GREY).next_to(keep, DOWN, buff=0.06)
        self.step(photo, FadeIn(told), *draw(arrow(photo.get_right(), [before.row_labels.get_left()[0], y, 0], theme.BLUE)), FadeIn(before), FadeIn(titles[0]))
        self.step(*draw(arrow([before.border.get_right()[0], y, 0], [frame.get_left()[0], y, 0], theme.BLUE)), FadeIn(frame), FadeIn(head_))
        self.go(FadeIn(attention))
        self.step(*draw(arrow(attention, mlp, side=DOWN, gap=0.05)), FadeIn(mlp))
        self.step(*draw(arrow([frame.get_right()[0], y, 0], [after.row_labels.get_left()[0], y, 0], theme.BLUE)), FadeIn(after), FadeIn(titles[1]))
        self.step(*write(keep, first))


class SharedInput(RowsPage):
    route = "reference/s03/12"

    def title(self):
        return "Self-attention: Q, K and V share the same input"

    def caption(self):
        return ("In self-attention one sequence asks and answers; in cross-attention one stream asks and another supplies keys and values. "
                "A ViT has one stream only.")

    def notes(self):
        return ("Does CLS put its questions to a separate image encoder? No, it is one row of the image sequence. On the left, from the translation lesson, "
                "queries came from one language, "
                "keys and values from another. On the right all three come from the same rows, after the same LayerNorm; that is why it is called "
                "self-attention.")

    def build(self):
        m = self.model
        left, right = STAGE.columns(1, 1, gap=0.5)
        frames = [panel(a.width, a.height - 0.5, theme.tint(c, 0.35), theme.tint(c, 0.05)).move_to(a.center + 0.25 * UP) for a,
                  c in ((left, theme.PURPLE), (right, theme.BLUE))]
        heads = [words(t, theme.LABEL, c, bold=True).move_to([f.get_left()[0] + 0.25, f.get_top()[1] - 0.32, 0], aligned_edge=LEFT)
                 for t, f, c in (("TRANSLATION · cross-attention", frames[0], theme.PURPLE), ("ViT · self-attention", frames[1], theme.BLUE))]
        top, low = frames[0].get_top()[1] - 1.45, frames[0].get_bottom()[1] + 1.05
        a = self.stream("Target-prefix states", theme.PURPLE, left.left + 1.5, top)
        b = self.stream("Encoded source states", theme.PURPLE, left.left + 1.5, low)
        one = self.attention(left.right - 1.35, (top + low) / 2, theme.PURPLE)
        q = words("Q", theme.CAPTION, theme.VIOLET, bold=True)
        kv = words("K, V", theme.CAPTION, theme.PURPLE, bold=True)
        way_q, way_kv = elbow(a[0].get_right() + 0.1 * RIGHT, [one.get_x(), a[0].get_y(), 0], one.get_top() + 0.03 * UP, color=theme.VIOLET), \
            elbow(b[0].get_right() + 0.1 * RIGHT, [one.get_x(), b[0].get_y(), 0], one.get_bottom() + 0.03 * DOWN, color=theme.PURPLE)
        q.move_to([(a[0].get_right()[0] + one.get_x()) / 2, a[0].get_y() + 0.26, 0])
        kv.move_to([(b[0].get_right()[0] + one.get_x()) / 2, b[0].get_y() + 0.26, 0])
        two = words("Two language streams meet at attention.", theme.SMALL, theme.GREY)
        two.move_to([left.left + 0.25, frames[0].get_bottom()[1] + 0.28, 0], aligned_edge=LEFT)

        middle = (top + low) / 2
        table = TokenMatrix(self.matrix("x"), (m.tokens, m.width), 1.3, 1.95, theme.BLUE, down=token_names(self.run), wide=0.17,
                            labels=False).move_to([right.left + 1.0, middle - 0.1, 0])
        text = column(words("Current CLS +\npatch states", theme.SMALL, theme.BLUE, bold=True, align="center"), gap=0).next_to(table, UP, buff=0.08)
        one_seq = words("one image sequence", theme.SMALL, theme.GREY).next_to(table, DOWN, buff=0.1)
        letters = Group(*(Box(words(t, theme.CAPTION, c, bold=True), color=c, width=0.75, height=0.62) for t,
                          c in (("Q", theme.VIOLET), ("K", theme.BLUE), ("V", theme.BLUE)))).arrange(DOWN, buff=0.3)
        letters.move_to([right.left + 3.0, middle, 0])
        ours = self.attention(right.right - 1.2, middle, theme.BLUE)
        fan = [arrow(table.get_right(), b_.get_left(), theme.BLUE) for b_ in letters]
        join = [arrow(b_.get_right(), [ours.get_left()[0], middle + d, 0], c) for b_, d,
                c in zip(letters, (0.25, 0, -0.25), (theme.VIOLET, theme.BLUE, theme.BLUE))]
        mix = words("Project the same rows into Q, K and V, then mix their information.", theme.SMALL,
                    theme.GREY).move_to([right.left + 0.25, frames[1].get_bottom()[1] + 0.28, 0], aligned_edge=LEFT)
        end = words("ViT has *one* stream. Translation had *two* streams.", theme.BODY).move_to([STAGE.center[0], STAGE.bottom + 0.14, 0])
        self.step(FadeIn(frames[0]), FadeIn(heads[0]), FadeIn(a), FadeIn(b))
        self.step(*draw(way_q), FadeIn(q), FadeIn(one))
        self.go(*draw(way_kv), FadeIn(kv), *write(two))
        self.step(FadeIn(frames[1]), FadeIn(heads[1]), FadeIn(table), FadeIn(text), FadeIn(one_seq))
        self.step(*draw(*fan), *(Emerge(b_, table) for b_ in letters))
        self.go(*draw(*join), FadeIn(ours), *write(mix))
        self.step(*write(end))

    def stream(self, name, color, x, y):
        cells = Group(*(Cells(s, color, 0.26) for s in ((0.3, 0.8, 0.2), (0.7, 0.3, 0.5), (0.2, 0.5, 0.8)))).arrange(DOWN, buff=0.06).move_to([x, y, 0])
        return Group(cells, words(name, theme.SMALL, color, bold=True).next_to(cells, UP, buff=0.1))

    def attention(self, x, y, color):
        return Box("Attention", color=color, width=2.0, height=0.85).move_to([x, y, 0])


