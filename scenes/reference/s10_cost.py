"""Section 10 of the reference deck: what smaller patches cost, the whole path once more, and where class vectors come from."""

import numpy as np
from manim import Arc, Circle, GrowFromEdge, Rectangle, Square, TransformFromCopy

from scenes.kit import *  # noqa: F403 - the kit is the vocabulary of a storyboard
from vit_data.cost import Cost
from vit_data.run import Vector

PATCHES = (32, 16, 8)  # patch sizes to compare, pixels
SIZES = (224, 384)     # picture sizes to compare, pixels


class CostPage(Slide):
    """What these pages share: counts by arithmetic, and a picture cut into any number of patches."""

    def cost(self, patch=None, image=None):
        return Cost(image or self.model.image, patch or self.model.patch)

    def cut(self, cost, side, subject="dog"):
        return Photograph(self.run, subject, side, grid=True, columns=cost.grid)


class SmallerPatches(SectionCard):
    route = "reference/s10/1"

    def name(self):
        return "The cost of smaller patches"

    def before(self):
        return "In attention, every query is compared with all source rows."

    def question(self):
        return "What happens to that work when we make the patches smaller?"

    def topics(self):
        return ("Count rows", "Square the count", "Whole path")

    def art(self):
        fine = Cost(self.model.image, self.model.patch // 2)
        return column(Photograph(self.run, side=2.4, grid=True), Photograph(self.run, side=2.4, grid=True, columns=fine.grid), gap=0.2)

    def caption(self):
        return "Before any number appears: patches half as wide and half as high, how much more is there to compare?"

    def notes(self):
        return ("Everything so far used one patch size. Now let the class guess before we count: half the width and half the height of a patch, on the same "
                "picture. Most people answer twice or four times. Write the guesses down; the next page settles them.")


class HalvePatch(CostPage):
    route = "reference/s10/2"

    def title(self):
        return "What changes when the patch size is halved?"

    def caption(self):
        rows_, work = (self.cost(PATCHES[2]).patches / self.cost(PATCHES[1]).patches, self.cost(PATCHES[2]).growth(self.cost(PATCHES[1])))
        return (f"The picture stays as large as it was. Each halving makes {num(rows_, 0)} times as many patches, and almost {num(work, 0)} times as many "
                "scores in every head.")

    def notes(self):
        return ("Count the rows first and say that CLS is one more. Then square. Four times the rows means four times the queries, and each of them looks at "
                "four times as many sources, so the number of scores grows roughly sixteenfold with every halving.")

    def build(self):
        side = 2.85
        gap = (STAGE.width - 3 * side) / 2
        for i, patch in enumerate(PATCHES):
            cost = self.cost(patch)
            x = STAGE.left + side / 2 + i * (side + gap)
            photo = Photograph(self.run, side=side, columns=cost.grid).move_to([x, STAGE.top - 0.55 - side / 2, 0])
            photo.lines.move_to(photo)
            head = words(f"{times(patch, patch)} patches", theme.BODY, bold=True).next_to(photo, UP, buff=0.14)
            rows_ = words(f"*{count(cost.patches)}* patches + CLS", theme.BODY).next_to(photo, DOWN, buff=0.16)
            square = words(f"{count(cost.tokens)}² =", theme.BODY, theme.GREY)
            scores = row(square, words(count(cost.scores), theme.CAPTION + 8, theme.TEAL, bold=True), gap=0.18)
            work = column(scores, words("scores / head", theme.LABEL, theme.GREY), gap=0.0).next_to(rows_, DOWN, buff=0.1)
            moves = [FadeIn(head)]
            if i:
                self.step(Emerge(photo, before), *moves)
                cost0 = self.cost(PATCHES[i - 1])
                tip = forward(np.array([before.get_right()[0], photo.get_y(), 0]), np.array([photo.get_left()[0], photo.get_y(), 0]), gap=0.25)
                more = words(f"≈{num(cost.growth(cost0), 0)}× scores", theme.LABEL, theme.TEAL, bold=True).next_to(tip, UP, buff=0.1)
            else:
                self.step(photo, *moves)
            self.go(*draw(*photo.lines), lag_ratio=0.02, run_time=1.0)
            self.go(*write(rows_), run_time=0.4)
            self.go(*write(work), *((*draw(tip), FadeIn(more)) if i else ()), run_time=0.6)
            before = photo


class MatchingInside(CostPage):
    route = "reference/s10/3"

    def title(self):
        return "How much matching happens inside the tiny real model?"

    def caption(self):
        m = self.model
        return (f"{m.grid} × {m.grid} patches look harmless. Squared, and repeated for each head of each block, they make {count(m.work.scores_total)} scores "
                "for a single picture.")

    def notes(self):
        m = self.model
        return (f"Build the number in three steps: pairs of rows, times {m.heads} heads, times {m.depth} blocks. It counts rows, not pixels; a head never "
                "compares two pixels. And this is the smallest model of its family, on one small picture.")

    def build(self):
        m = self.model
        y = 0.78
        photo = Photograph(self.run, side=2.3, grid=True).move_to([STAGE.left + 1.15, y, 0])
        text = column(words(f"{count(m.patches)} patch rows", theme.BODY, bold=True), words("+ CLS", theme.BODY, theme.AMBER, bold=True),
                      gap=0.02).next_to(photo, DOWN, buff=0.16)
        matrix = self.square(2.3).move_to([-1.65, y, 0])
        size = Group(words(f"{times(m.tokens, m.tokens)}", theme.BODY, theme.TEAL, bold=True),
                     words(f"= {count(m.work.scores_per_head)} scores per head", theme.BODY)).arrange(DOWN, buff=0.02).next_to(matrix, DOWN, buff=0.16)
        small, pitch = 0.34, 0.405
        wall = Group(*(Group(*(self.square(small, lines=False) for _ in range(m.depth))).arrange(RIGHT, buff=pitch - small)
                       for _ in range(m.heads))).arrange(DOWN, buff=pitch - small)
        wall.move_to([STAGE.right, y, 0], aligned_edge=RIGHT)
        sides = Group(words(f"{m.heads} heads", theme.LABEL, theme.GREY).next_to(wall, LEFT, buff=0.14),
                      words(f"{m.depth} blocks", theme.LABEL, theme.GREY).next_to(wall, UP, buff=0.12))
        factor = words(f"{m.heads} heads × {m.depth} blocks", theme.BODY, bold=True).move_to([wall.get_x(), text[0].get_y(), 0])
        total = sum_line(count(m.work.scores_per_head), "×", str(m.heads), "×", str(m.depth), "=", words(count(m.work.scores_total), 66, theme.TEAL, bold=True),
                         size=theme.CAPTION, gap=0.24)
        label = words("scores for one image", theme.BODY)
        frame = panel(STAGE.width, 1.0, theme.tint(theme.TEAL, 0.4), theme.tint(theme.TEAL, 0.06)).move_to([0, STAGE.bottom + 0.5, 0])
        row(total, label, gap=0.35).move_to(frame)
        self.step(photo, *write(text))
        self.step(*draw(forward(photo, matrix)), FadeIn(matrix), *write(size))
        self.step(*(TransformFromCopy(matrix[0], line[0][0]) for line in wall), FadeIn(sides[0]), run_time=0.9)
        self.go(*(FadeIn(Group(*(line[k] for line in wall)), shift=0.2 * RIGHT) for k in range(1, m.depth)), FadeIn(sides[1]), lag_ratio=0.12, run_time=1.3)
        self.go(*write(factor), run_time=0.4)
        self.step(FadeIn(frame), *write(*total, label), lag_ratio=0.15)

    def square(self, side, lines=True):
        """All pairs of rows: a teal square, with a first row and column in amber for CLS."""
        body = Square(side, stroke_color=theme.TEAL, stroke_width=2 if lines else 1.4, fill_color=theme.tint(theme.TEAL, 0.3), fill_opacity=1)
        if not lines:
            return Group(body)
        n = 14
        mesh = Group(*(link(body.get_corner(UP + LEFT) + k * side / n * d, body.get_corner(e) + k * side / n * d, theme.TEAL, 0.9, 0.5) for k in range(1, n)
                       for d, e in ((RIGHT, DOWN + LEFT), (DOWN, UP + RIGHT))))
        cls = [Rectangle(width=w, height=h, stroke_width=0, fill_color=theme.AMBER,
                         fill_opacity=0.55).move_to(body.get_corner(UP + LEFT), aligned_edge=UP + LEFT) for w, h in ((side, side / n), (side / n, side))]
        return Group(body, *cls, mesh)


class LargerImage(CostPage):
    route = "reference/s10/4"

    def title(self):
        return "What happens if we use a larger image?"

    def caption(self):
        small, large = self.cost(), self.cost(image=SIZES[1])
        return (f"Token count first, then its square: from {small.image} to {large.image} pixels the sequence grows from {count(small.tokens)} to "
                f"{count(large.tokens)} rows, and every head makes about {num(large.growth(small), 0)} times as many scores.")

    def notes(self):
        large = self.cost(image=SIZES[1])
        return (f"Ask for the token count at {large.image} pixels before you click: {large.image} divided by {large.patch}, squared, plus one. Then change the "
                "patch size as well. "
                "A larger picture with larger patches can be cheaper than the small one. The same weights would not simply fit; the position table has to grow "
                "with the grid.")

    def build(self):
        unit = 4.15 / SIZES[1]
        corner = np.array([STAGE.left + 0.05, STAGE.bottom + 0.05, 0])
        ask = words("First predict the token count.", theme.BODY, bold=True).move_to([STAGE.left, STAGE.top - 0.12, 0], aligned_edge=LEFT)
        left = STAGE.left + 5.0
        bars = {}
        groups = Group()
        for name, options, y in (("Image size", SIZES, STAGE.top - 0.62), ("Patch size", PATCHES, STAGE.top - 1.38)):
            label = words(name, theme.BODY, theme.GREY).move_to([left, y, 0], aligned_edge=LEFT)
            groups.add(label)
            for i, n in enumerate(options):
                chip = panel(1.15, 0.6, theme.LINE, theme.PANEL).move_to([left + 2.6 + 1.3 * i, y, 0])
                bars[name, n] = chip
                groups.add(Group(chip, words(count(n), theme.BODY).move_to(chip)))
        marks = {name: outline(bars[name, n], theme.BLUE, 4.5) for name, n in (("Image size", SIZES[0]), ("Patch size", PATCHES[1]))}
        states = [(SIZES[0], PATCHES[1]), (SIZES[1], PATCHES[1]), (SIZES[1], PATCHES[0]), (SIZES[1], PATCHES[2])]
        shown = None
        for k, (image, patch) in enumerate(states):
            cost = self.cost(patch, image)
            photo = self.cut(cost, image * unit).move_to(corner, aligned_edge=DOWN + LEFT)
            answer = self.answer(cost, left)
            bar = self.bars(states[: k + 1], left)
            if shown is None:
                self.step(photo, FadeIn(groups), *(FadeIn(m) for m in marks.values()))
                self.go(*write(ask), *write(*answer[:2]))
                self.step(*write(*answer[2:]), *(x for b in bar for x in b[1]))
            else:
                moved = [marks[name].animate.move_to(bars[name, n]) for name, n in (("Image size", image), ("Patch size", patch))]
                self.step(*moved, FadeOut(shown[1]), run_time=0.6)
                self.go(FadeOut(shown[0]), FadeIn(photo) if photo.side == shown[0].side else Emerge(photo, shown[0]), run_time=0.9)
                self.go(*write(*answer[:2]), run_time=0.5)
                self.go(*write(*answer[2:]), FadeOut(shown[2]), *(FadeIn(b[0]) for b in bar), run_time=0.8)
            shown = (photo, answer, Group(*(b[0] for b in bar)))

    def answer(self, cost, left):
        """The side, the tokens and the scores of one choice, in lines."""
        return Group(
            words(f"image width / height: {count(cost.image)} px", theme.LABEL, theme.GREY).move_to([left, 0.62, 0], aligned_edge=LEFT),
            words(f"patch width / height: {count(cost.patch)} px", theme.LABEL, theme.GREY).move_to([left + 4.4, 0.62, 0], aligned_edge=LEFT),
            row(words(f"({count(cost.image)} / {count(cost.patch)})² + 1 = {count(cost.grid)}² + 1 =", theme.CAPTION),
                words(f"{count(cost.tokens)} tokens", theme.CAPTION + 8, theme.BLUE, bold=True), gap=0.2).move_to([left, 0.12, 0], aligned_edge=LEFT),
            row(words(f"{count(cost.tokens)}² =", theme.CAPTION), words(f"{count(cost.scores)} scores / head", theme.CAPTION + 8, theme.TEAL, bold=True),
                gap=0.2).move_to([left, -0.42, 0], aligned_edge=LEFT))

    def bars(self, states, left):
        """Scores of the choices so far as bars on one scale."""
        costs = [self.cost(patch, image) for image, patch in states]
        limit, made = max(c.scores for c in costs), []
        width = STAGE.right - left - 3.5
        for i, c in enumerate(costs):
            y = -0.98 - 0.4 * i
            label = words(f"{count(c.image)} / {count(c.patch)}", theme.SMALL, theme.GREY).move_to([left + 1.2, y, 0], aligned_edge=RIGHT)
            bar = Rectangle(width=max(width * c.scores / limit, 0.02), height=0.26, stroke_width=0, fill_color=theme.TEAL,
                            fill_opacity=1).move_to([left + 1.4, y, 0], aligned_edge=LEFT)
            value = words(count(c.scores), theme.SMALL).next_to(bar, RIGHT, buff=0.15)
            made.append((Group(label, bar, value), [FadeIn(label), GrowFromEdge(bar, LEFT), FadeIn(value)]))
        return made


class WholeViT(CostPage):
    route = "reference/s10/5"

    def title(self):
        return "The whole ViT: pixels → context → one label"

    def caption(self):
        m = self.model
        return (f"Rows come from one shared layer, gain context in {m.depth} blocks, and one of them answers: the final CLS row becomes {count(m.classes)} "
                "scores.")

    def notes(self):
        m = self.model
        return (f"Let somebody else tell the upper line: patches, CLS and position, {m.depth} blocks, normalization, CLS, scores. Then open one block and ask "
                "for its two updates. The first mixes rows, the second works on each row alone; both are added to what was there.")

    def build(self):
        m, top = self.model, self.dog.prediction.top[0]
        y = 1.62
        photo = Photograph(self.run, side=1.3, grid=True)
        start = column(photo, words(f"{m.image} × {m.image} RGB", theme.SMALL), gap=0.08)
        stages = [start,
                  Box("Shared patch layer", words("+ CLS + position", theme.SMALL, theme.AMBER), words(f"{m.patches} patches + 1 CLS", theme.SMALL, theme.GREY),
                      size=theme.LABEL, height=1.25),
                  Box(f"{m.depth} Transformer blocks", words(times(m.tokens, m.width), theme.SMALL, theme.GREY),
                      words("All rows gain context", theme.SMALL, theme.GREY), size=theme.LABEL, height=1.25, fill=0.14),
                  Box("Final LN", words("read CLS", theme.SMALL, theme.AMBER), words(f"{m.width} features", theme.SMALL, theme.GREY), size=theme.LABEL,
                      height=1.25),
                  Box("Linear head", words(f"{count(m.classes)} scores", theme.SMALL, theme.GREY), words("softmax → label", theme.SMALL, theme.GREY),
                      size=theme.LABEL, height=1.25),
                  Box(words(top.label, theme.LABEL, theme.BLUE, bold=True, **({"width": 1.75, "align": "center"} if len(top.label) > 13 else {})), pad=0.16,
                      height=0.8, fill=0.16)]
        path = Pipeline(*stages, gap=0.48)
        path.scale(min(1, STAGE.width / path.width))
        path.move_to([0, y, 0])
        for part in (*path.stages[1:],):
            part.shift((photo.get_y() - part.get_y()) * UP)
        for a in path.arrows:
            a.set_y(photo.get_y())
        low, title, below = self.block()
        opened = path.stages[2]
        frame = around(low, theme.tint(theme.BLUE, 0.5), 0.18)
        self.step(FadeIn(start))
        for i, group in enumerate(((1,), (2,), (3, 4, 5))):
            moves = [x for k in group for x in (*draw(path.arrows[k - 1]), FadeIn(path.stages[k]))]
            self.go(*moves, lag_ratio=0.2, run_time=0.6 + 0.3 * len(group))
        self.step(opened[0].animate.set_stroke(theme.BLUE, 5), FadeIn(frame), *write(*title))
        self.go(*(FadeIn(p) for p in low[0]), lag_ratio=0.12, run_time=1.8)
        self.step(*(FadeIn(p) for p in low[1]), lag_ratio=0.12, run_time=1.4)
        self.step(*write(below))

    def block(self):
        """One block from left to right: LN, heads, join, plus; LN, MLP, plus; both skips below."""
        m = self.model
        y = -0.82
        def box(*lines, width, color=theme.BLUE, height=0.9):
            return Box(*lines, width=width, height=height, color=color, size=theme.SMALL)
        e, out = words("E", theme.CAPTION, theme.BLUE, bold=True), words("E′", theme.CAPTION, theme.BLUE, bold=True)
        ln1, ln2 = box("LN", width=0.8), box("LN", width=0.8)
        heads = Group(*(Box(f"Head {h}", color=theme.HEADS[(h - 1) % 3], width=1.35, height=0.52, size=theme.SMALL)
                        for h in range(1, m.heads + 1))).arrange(DOWN, buff=0.12)
        joined = box("Join + project", words(f"{m.width} features", theme.SMALL, theme.GREY), width=2.0)
        mlp = box("MLP", words(f"{m.width}→{m.hidden}→{m.width}", theme.SMALL, theme.GREY), width=2.15)
        p1, p2 = joint("+"), joint("+")
        xs = (-6.2, -5.3, -3.7, -1.45, 0.35, 1.45, 3.45, 5.05, 6.1)
        for part, x in zip((e, ln1, heads, joined, p1, ln2, mlp, p2, out), xs):
            part.move_to([x, y, 0])
        def go(a, b, gap=0.06):
            return arrow(a, b, gap=gap, width=2.6)
        fan = Group(*(arrow(ln1.get_right(), h.get_left(), gap=0.06, width=2.2) for h in heads),
                    *(arrow(h.get_right(), joined.get_left(), gap=0.06, width=2.2) for h in heads))
        s = y - 1.0
        skip1 = elbow(np.array([e.get_right()[0] + 0.17, y - 0.02, 0]), np.array([e.get_right()[0] + 0.17, s, 0]), np.array([p1.get_x(), s, 0]),
                      p1.get_bottom())
        skip2 = elbow(np.array([p1.get_right()[0] + 0.17, y - 0.02, 0]), np.array([p1.get_right()[0] + 0.17, s, 0]), np.array([p2.get_x(), s, 0]),
                      p2.get_bottom())
        first = Group(e, go(e, ln1), ln1, fan[: m.heads], heads, fan[m.heads:], joined, go(joined, p1), skip1, p1)
        second = Group(go(p1, ln2), ln2, go(ln2, mlp), mlp, go(mlp, p2), skip2, p2, go(p2, out), out)
        title = Group(words("INSIDE EACH BLOCK", theme.LABEL, theme.BLUE, bold=True), words("Own learned weights in each block", theme.LABEL, theme.GREY))
        row(*title, gap=0.5).move_to([STAGE.left + 0.2, y + 1.28, 0], aligned_edge=LEFT)
        below = row(words("Keep the row + add an update", theme.LABEL, theme.SKIP, bold=True),
                    words("Attention: mix across rows", theme.LABEL, theme.TEAL, bold=True), gap=1.2)
        below.move_to([0, STAGE.bottom + 0.16, 0])
        return Group(first, second), title, below


class FourIdeas(CostPage):
    route = "reference/s10/6"

    def title(self):
        return "Four ideas to carry forward"

    def caption(self):
        return "Pixels give content, the position table gives place, attention brings context, and the labels of the training set make CLS useful."

    def notes(self):
        return ("Ask four questions and let the cards answer: where does content come from, where location, where context, and who tells CLS what matters? "
                "Then the price: double the side of the picture at the same patch size, and the comparisons grow about sixteen times.")

    def build(self):
        m = self.model
        areas = [a for r in STAGE.rows(1, 1, gap=0.22) for a in r.columns(1, 1, gap=0.25)]
        small, large = self.cost(), self.cost(image=2 * m.image)
        growth = num(large.growth(small), 0)
        texts = (("1 · Content + location", "One shared projection, and for each slot a position."),
                 ("2 · Every row gains context", "First attention mixes, then the MLP transforms."),
                 ("3 · The task teaches the summary", "Train: loss, weights move. Infer: fixed weights."),
                 ("4 · More tokens cost more", f"{small.image} → {large.image}, patch = {m.patch}. Twice the side length: ≈{growth}× scores."))
        for area, (name, text), art in zip(areas, texts, (self.content(), self.context(), self.task(), self.tokens(small, large, growth))):
            card = panel(area.width, area.height, theme.tint(theme.BLUE, 0.35), theme.PAPER).move_to(area.center)
            head = words(name, theme.BODY, theme.BLUE, bold=True).move_to([area.left + 0.25, area.top - 0.32, 0], aligned_edge=LEFT)
            foot = words(text, theme.SMALL, theme.GREY).move_to([area.left + 0.25, area.bottom + 0.27, 0], aligned_edge=LEFT)
            art.move_to(area.center + 0.03 * DOWN)
            self.step(FadeIn(card), *write(head))
            self.go(*(FadeIn(p) for p in art), lag_ratio=0.15, run_time=0.9)
            self.go(*write(foot), run_time=0.4)

    def content(self):
        nose = self.dog.patches[self.dog.place("nose")]
        n = 14
        c, p = (Strip(Vector.of(v.values[:n]) if v.values else Vector(length=n, first=v.first), color, 2.1, 0.42) for v,
                color in ((nose.c, theme.BLUE), (nose.p, theme.AMBER)))
        crop = Photograph(self.run, side=1.0).crop(self.dog.place("nose"), 0.95, theme.BLUE)
        left = column(c, words("patch features", theme.SMALL, theme.BLUE), gap=0.06)
        right = column(p, words("position", theme.SMALL, theme.AMBER), gap=0.06)
        parts = row(crop, left, words("+", theme.CAPTION, bold=True), right, gap=0.25)
        parts[2].set_y(c.get_y())
        return parts

    def context(self):
        names = ("CLS", "P1", "P2")
        ys = (0.43, 0.0, -0.43)
        ins, outs = (Group(*(Box(words(n + end, theme.SMALL, theme.AMBER if n == "CLS" else theme.BLUE, bold=True), color=theme.AMBER
                                 if n == "CLS" else theme.BLUE, width=0.95, height=0.4).move_to([x, y, 0])
                             for n, y in zip(names, ys))) for x, end in ((-2.2, ""), (2.2, "′")))
        middle = Box("Attention + MLP", width=2.4, height=1.26, size=theme.LABEL, color=theme.TEAL)
        lines = Group(*(link(i.get_right(), np.array([middle.get_left()[0], i.get_y(), 0]), theme.TEAL, 2.4) for i in ins))
        tips = Group(*(arrow(np.array([middle.get_right()[0], o.get_y(), 0]), o.get_left(), theme.TEAL, gap=0.03, width=2.4) for o in outs))
        return Group(ins, lines, middle, tips, outs)

    def task(self):
        cls, head, loss = (Box(t, color=c, width=w, height=0.62, size=theme.SMALL) for t, c,
                           w in (("Final CLS", theme.AMBER, 1.4), ("Class head", theme.BLUE, 1.5), ("loss", theme.RED, 0.9)))
        label = Box("Label", color=theme.PURPLE, width=0.95, height=0.62, size=theme.SMALL)
        line = row(cls, head, loss, label, gap=0.42)
        low = line.get_y() - 0.55
        back = backward(loss.get_bottom(), np.array([loss.get_x(), low, 0]), np.array([cls.get_x(), low, 0]), cls.get_bottom() + 0.03 * DOWN, width=3)
        return Group(cls, arrow(cls, head, gap=0.05), head, arrow(head, loss, gap=0.05), loss, arrow(label.get_left(), loss.get_right(), gap=0.05), label, back)

    def tokens(self, small, large, growth):
        a, b = Square(0.29), Square(1.15)
        for square in (a, b):
            square.set_stroke(theme.TEAL, 2).set_fill(theme.tint(theme.TEAL, 0.3), 1)
        one = row(a, words(f"{count(small.tokens)}²", theme.CAPTION, theme.TEAL, bold=True), gap=0.15)
        two = row(b, words(f"{count(large.tokens)}²", theme.CAPTION, theme.TEAL, bold=True), gap=0.15)
        return row(one, arrow(np.zeros(3), 0.7 * RIGHT, gap=0), two, words(f"≈{growth}×", theme.TITLE, theme.TEAL, bold=True), gap=0.3)


class ClassVectors(CostPage):
    route = "reference/s10/7"

    def title(self):
        return "Our classifier stores a vector for each known label"

    def caption(self):
        m = self.model
        return (f"A score is a dot product of the image’s row with a label’s learned row, plus that label’s bias. There are {count(m.classes)} such rows and "
                "no way to ask for another label without training.")

    def notes(self):
        return (f"Ask where the vector for {self.labels()[0][0]} comes from. It is a row of the head’s weight matrix, found by training; the word itself is "
                "never read. That is why an unknown label has no score, and it leads to the next page.")

    def labels(self):
        """The dog’s label, and another that the run knows: label, class vector, logit or None."""
        top = self.dog.prediction.top
        other = self.cat.prediction.top[0]
        vector = self.cat.top_class
        if other.label == top[0].label:
            other, vector = top[1], None
        return [(top[0].label, self.dog.top_class), (other.label, vector)]

    def build(self):
        m = self.model
        y = 0.2
        h = Group(words("Final image CLS", theme.BODY, theme.AMBER, bold=True), Strip(self.dog.h, theme.AMBER, 3.0, 0.55),
                  words(f"$bold(h)$ · {m.width} features", theme.BODY)).arrange(DOWN, buff=0.14)
        photo = Photograph(self.run, side=1.7)
        left = column(photo, h, gap=0.3).move_to([STAGE.left, y, 0], aligned_edge=LEFT)
        left.move_to([STAGE.left + left.width / 2, STAGE.center[1] + 0.3, 0])
        ys = (1.55, 0.15, -1.25)
        entries, x = Group(), -1.7
        for (label, vector), yy in zip([*self.labels(), (None, None)], ys):
            name = words(label or f"… {count(m.classes - 2)} other labels", theme.BODY, theme.BLUE if label else theme.GREY, bold=bool(label))
            weights = vector.weights if vector else Vector.unknown(m.width)
            strip = Strip(weights, theme.BLUE, 2.7, 0.36) if label else self.pile()
            learned = words("learned class vector $bold(w)_k$", theme.SMALL, theme.GREY)
            body = column(name, strip, learned, gap=0.06, align=LEFT).move_to([x + 0.3, yy, 0], aligned_edge=LEFT)
            score = Box(words("$bold(h)^upright(T) bold(w)_k + b_k$", theme.CAPTION), width=2.6, height=0.8, color=theme.BLUE if label
                        else theme.GREY).move_to([STAGE.right - 1.3, yy, 0])
            card = panel(4.2, 1.25, theme.tint(theme.BLUE if label else theme.GREY, 0.4), theme.PAPER).move_to([x + 2.1, yy, 0])
            body.move_to(card)
            entries.add(Group(card, body, score))
        lines = [forward(np.array([h[1].get_right()[0], h[1].get_y(), 0]), e[0].get_left(), theme.AMBER, gap=0.1, width=2.6) for e in entries]
        foot = words("Per label, the head stores one learned vector and a bias.", theme.LABEL, theme.GREY).move_to([x, STAGE.bottom + 0.14, 0],
                                                                                                                    aligned_edge=LEFT)
        self.step(photo, FadeIn(h))
        for i, e in enumerate(entries):
            self.step(FadeIn(e[0]), *write(e[1]), *draw(lines[i]))
            self.go(*draw(forward(e[0], e[2])), FadeIn(e[2]), run_time=0.6)
        self.step(*write(foot))

    def pile(self):
        """Class vectors behind one another."""
        return Group(*(Rectangle(width=2.7, height=0.26, stroke_color=theme.tint(theme.GREY, 0.7), stroke_width=1.6, fill_color=theme.PANEL,
                                 fill_opacity=1).shift(i * np.array([0.07, -0.06, 0])) for i in range(3)))


class LanguageVectors(CostPage):
    route = "reference/s10/8"

    def title(self):
        return "What if a class vector could come from language?"

    def caption(self):
        return ("CLIP trains two encoders so that a picture and its description point the same way. Projected and set to length one, they can be compared, "
                "and a sentence can name a class.")

    def notes(self):
        return ("Ask whether we could put any text embedding in place of a row of our head. No: nothing has taught the two spaces to agree. CLIP trains the "
                "image encoder, the text encoder "
                "and both projections together on pairs, and learns a scale for the cosine as well. The angle drawn here is a picture, not a measurement.")

    def build(self):
        ys = (1.35, -1.05)
        rows_ = Group()
        photo = Photograph(self.run, side=1.55)
        text = Box(words("“a photo of a dog”", theme.LABEL, theme.PURPLE), color=theme.PURPLE, width=2.5, height=0.9)
        for start, name, symbol, weight, unit, color, y in ((photo, "Image encoder", "i", "W_i", "u", theme.BLUE, ys[0]),
                                                            (text, "Text encoder", "t", "W_t", "v", theme.PURPLE, ys[1])):
            encoder = Box(name, words(f"→ final readout $bold(h)_{symbol}$", theme.SMALL, theme.GREY), color=color, width=2.5, height=1.15, size=theme.LABEL)
            learned = Box(words(f"$bold(h)_{symbol} times bold({weight[0]})_{symbol}$", theme.BODY, color),
                          words("learned projection", theme.SMALL, theme.GREY), color=color, width=2.15, height=1.15)
            vector = Group(words(f"$bold({unit})$", theme.TITLE, color), words("unit length", theme.SMALL, theme.GREY)).arrange(DOWN, buff=0.0)
            line = Group(start, encoder, learned, vector)
            for part, x in zip(line, (STAGE.left + 1.25, -2.05, 0.95, 2.95)):
                part.move_to([x, y, 0])
            rows_.add(Group(line, Group(*(forward(a, b, color, gap=0.1) for a, b in zip(line, line[1:])))))
        center = np.array([5.05, 0.25, 0])
        ring = Circle(radius=1.3, stroke_color=theme.LINE, stroke_width=2.5).move_to(center)
        ends = [center + 1.3 * np.array([np.cos(a), np.sin(a), 0]) for a in (1.12, 0.5)]
        u, v = (arrow(center, end, c, gap=0, width=5) for end, c in zip(ends, (theme.BLUE, theme.PURPLE)))
        names = [words(f"$bold({n})$", theme.BODY, c).move_to(center + 1.56 * (end - center) / 1.3) for n, c,
                 end in zip("uv", (theme.BLUE, theme.PURPLE), ends)]
        angle = Arc(radius=0.5, start_angle=0.5, angle=0.62, arc_center=center, color=theme.GOLD, stroke_width=5)
        cosine = row(words("$bold(u) dot.op bold(v)$", theme.CAPTION + 6), words("cosine", theme.BODY, theme.GOLD, bold=True), gap=0.25).next_to(ring, DOWN,
                                                                                                                                                 buff=0.22)
        foot = words("Two separate encoders, aligned vectors, one shared space to compare in.", theme.BODY, bold=True).move_to(
            [STAGE.left, STAGE.bottom + 0.14, 0], aligned_edge=LEFT
        )
        for line, tips in rows_:
            self.step(FadeIn(line[0]))
            self.go(*(x for part, tip in zip(line[1:], tips) for x in (*draw(tip), FadeIn(part))), lag_ratio=0.3, run_time=1.5)
        self.step(FadeIn(ring), *draw(u), FadeIn(names[0]), run_time=0.7)
        self.go(*draw(v), FadeIn(names[1]), run_time=0.7)
        self.step(Create(angle), *write(cosine))
        self.step(*write(foot))
