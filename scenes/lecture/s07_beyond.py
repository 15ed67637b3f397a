"""Main lecture, end: other ways to gather context, what detail costs, the whole model again, and where classes come from."""

import numpy as np
from manim import DashedVMobject, Dot, Line, Rectangle, RoundedRectangle, Square, TransformFromCopy

from scenes.kit import *  # noqa: F403 - the kit is the vocabulary of a storyboard
from vit_data import figures, lab_source, rows
from vit_data.cost import Cost
from vit_data.run import ClassRow, Vector

CNN, VIT = theme.ORANGE, theme.TEAL  # the two families on the pages that compare them
HEAD = 48  # headlines inside a page, pixels


class Beyond(Talk):
    """What these pages share: cards, and drawings of what reaches what on the picture."""

    @property
    def word(self):
        return figures.picture_word(self.run, "dog")

    def near(self, photo, patch, reach=1, color=CNN, width=4.5):
        """An outline round a patch and its neighbours up to ``reach`` away."""
        cell = photo.cell(patch)
        return outline(cell, color, width, pad=reach * cell.width)

    def ray(self, photo, source, query, width=4.0):
        """A teal line from a far patch to the query."""
        start, goal = photo.cell(source).get_center(), photo.cell(query)
        way = (start - goal.get_center()) / np.linalg.norm(start - goal.get_center())
        return Connector(Line(start, goal.get_center() + 0.55 * goal.width * way / np.abs(way).max(), color=VIT, stroke_width=width))

    def far(self, *numbers):
        return [rows.name(n) for n in numbers if n <= self.model.patches]

    def card(self, area, color=theme.BLUE):
        return panel(area.width, area.height, theme.tint(color, 0.4), theme.tint(color, 0.03)).move_to(area.center)


class TwoWaysToGather(Beyond):
    route = "lecture/s07/1"

    def title(self):
        return "Two ways to gather image context"

    def caption(self):
        return "Drawn, not measured: what one layer can reach, and what several can."

    def says(self):
        return ["Networks for pictures existed long before attention. A convolutional network, a CNN, lets every place look only at its neighbours: here "
                "three by three patches.",
                "The next layer looks at neighbours that have looked around themselves. So the view widens, layer after layer, until it covers the whole "
                "picture.",
                "Our ViT goes another way. One query may read every patch at once, the next one or the one in the far corner, in the very first block.",
                "Both arrive at the whole image in the end. Which of them does a task better cannot be read off a drawing; that takes data."]

    def build(self):
        side, gap = 4.5, 0.35
        left, right = STAGE.columns(1, 1, gap=0.3)
        query, nose = self.dog.place("ear"), self.dog.place("nose")
        photos = [Photograph(self.run, side=side, grid=True).move_to([a.left + side / 2, STAGE.center[1], 0]) for a in (left, right)]
        x = [p.get_right()[0] + gap for p in photos]
        heads = [words(name, 68, color, bold=True).move_to([at_, photos[0].get_top()[1] - 0.4, 0], aligned_edge=LEFT)
                 for name, color, at_ in zip(("CNN", "ViT"), (CNN, VIT), x)]
        near, wide = words("nearby\nfirst", 46), Group(words("↓", 56, theme.GREY), words("wider\ncontext", 46)).arrange(DOWN, buff=0.12, aligned_edge=LEFT)
        near.next_to(heads[0], DOWN, buff=0.35, aligned_edge=LEFT)
        wide.next_to(near, DOWN, buff=0.12, aligned_edge=LEFT)
        direct = words("direct\naccess to\ndistant\npatches", 46).next_to(heads[1], DOWN, buff=0.35, aligned_edge=LEFT)
        spot, view = photos[0].patch(nose, CNN, 3), self.near(photos[0], nose)
        self.step(photos[0], FadeIn(heads[0]))
        self.go(FadeIn(spot), FadeIn(view), *write(near))
        rings = [self.near(photos[0], nose, reach, CNN, 3.5) for reach in (2, 3, 4)]
        self.step(TransformFromCopy(view, rings[0]), run_time=0.7)
        for a, b in zip(rings, rings[1:]):
            self.go(TransformFromCopy(a, b), run_time=0.7)
        self.go(*write(wide), run_time=0.4)
        rays = [self.ray(photos[1], s, query) for s in self.far(1, 14, 47, 69, 90, 126, 147, 172, 183, 196) if s != query]
        target = photos[1].patch(query)
        self.step(photos[1], FadeIn(heads[1]), FadeIn(target))
        self.go(*draw(*rays), lag_ratio=0.12, run_time=1.3)
        self.bring_to_front(target)
        self.go(*write(direct))
        whole = [outline(p, c, 7, pad=0.03) for p, c in zip(photos, (CNN, VIT))]
        self.step(TransformFromCopy(rings[-1], whole[0]), FadeIn(whole[1]))


def weights(side):
    """Three by three weights of a filter: a drawing, not a measured one."""
    shades = (0.9, 0.15, -0.6, 0.75, 0.1, -0.8, 0.6, 0.2, -0.7)
    return Group(*(Rectangle(width=side / 3, height=side / 3, stroke_color=theme.PAPER, stroke_width=1.6,
                             fill_color=theme.tint(CNN if v > 0 else theme.INK, abs(v)), fill_opacity=1)
                   for v in shades)).arrange_in_grid(3, 3, buff=0)


class BuiltInAssumptions(Beyond):
    route = "lecture/s07/2"

    def title(self):
        return "Which assumptions are built into the architecture?"

    def caption(self):
        return "Both build something in. Data, training and starting weights decide the rest."

    def says(self):
        return ["What does each architecture decide before it has seen a single picture? First the basic unit: a CNN works on pixels and feature maps, a "
                "ViT on patch tokens.",
                "Then the rule for mixing. A filter is learned once and used everywhere; attention computes its weights from the content that is there.",
                "Locality: in a CNN neighbours come first, by construction. In a ViT every token may read every other one.",
                "And position: a feature map keeps its grid. Our rows would forget theirs, so we add a vector for each place. A ViT is not free of "
                "assumptions; patches and shared projections are some."]

    def build(self):
        label, first, second = 2.15, 5.35, 5.35
        xs = (STAGE.left, STAGE.left + label + 0.1, STAGE.left + label + 0.1 + first + 0.15)
        heads = [words(name, HEAD, color, bold=True).move_to([x + first / 2, STAGE.top - 0.26, 0])
                 for name, color, x in zip(("CNN", "ViT"), (CNN, VIT), xs[1:])]
        lines = (("basic units", "pixels, feature maps", self.lattice(), "patch tokens", self.tokens()),
                 ("mixing rule", "learned filter,\nthe same everywhere", self.filter(), "attention weights\nfrom the content", self.fan()),
                 ("locality", "neighbors first", self.window(), "all tokens at once", self.all()),
                 ("position", "kept by the grid", self.place_in_grid(), "added to each token", self.added()))
        high, gap = 0.98, 0.1
        for i, (name, cnn, a, vit, b) in enumerate(lines):
            y = STAGE.top - 0.56 - high / 2 - i * (high + gap)
            title = words(name, 36, theme.GREY, bold=True).move_to([xs[0], y, 0], aligned_edge=LEFT)
            cells = []
            for x, w, color, text, art in ((xs[1], first, CNN, cnn, a), (xs[2], second, VIT, vit, b)):
                border = panel(w, high, theme.tint(color, 0.35), theme.tint(color, 0.05)).move_to([x + w / 2, y, 0])
                art.move_to([x + 0.95, y, 0])
                cells.append(Group(border, art, words(text, 39).move_to([x + 1.8, y, 0], aligned_edge=LEFT)))
            self.step(*((FadeIn(h) for h in heads) if i == 0 else ()), FadeIn(title), FadeIn(cells[0], shift=0.12 * UP))
            self.go(FadeIn(cells[1], shift=0.12 * UP), run_time=0.6)

    def lattice(self, n=4, side=0.19, color=CNN):
        """A small grid of cells."""
        shades = [0.5 + 0.45 * np.sin(1.9 * i + 2.3 * j) for i in range(n) for j in range(n)]
        return Group(*(Rectangle(width=side, height=side, stroke_color=theme.tint(color, 0.7), stroke_width=1.4,
                                 fill_color=theme.tint(color, 0.08 + 0.55 * s), fill_opacity=1)
                       for s in shades)).arrange_in_grid(n, n, buff=0.02)

    def tokens(self):
        return Group(*(Cells([0.5 + 0.45 * np.sin(2.1 * i + 1.3 * j) for j in range(5)], theme.BLUE, 0.19, 0.03) for i in range(3))).arrange(DOWN, buff=0.08)

    def filter(self):
        board = weights(0.8)
        return Group(board, outline(board, CNN, 3))

    def points(self, n, color):
        return Group(*(Dot(radius=0.075, color=color) for _ in range(n))).arrange(RIGHT, buff=0.14)

    def fan(self):
        """One receiver and sources that count more or less."""
        low, top = self.points(5, theme.BLUE).shift(0.32 * DOWN), Dot(0.32 * UP, radius=0.09, color=theme.VIOLET)
        lines = [link(d.get_center(), top.get_center(), theme.tint(VIT, 0.25 + 0.75 * s), 1.5 + 5 * s) for d, s in zip(low, (0.1, 0.9, 0.35, 0.05, 0.6))]
        return Group(*lines, low, top)

    def window(self):
        board = self.lattice(5, 0.15, theme.GREY)
        return Group(board, outline(Group(*(board[5 * i + j] for i in (1, 2, 3) for j in (1, 2, 3))), CNN, 4, pad=0.02))

    def all(self):
        """Every token joined with every other one."""
        dots = [Dot(0.37 * np.array([np.sin(a), np.cos(a), 0]), radius=0.07, color=theme.BLUE) for a in np.arange(6) * np.pi / 3]
        return Group(*(link(a.get_center(), b.get_center(), theme.tint(VIT, 0.7), 1.8) for i, a in enumerate(dots) for b in dots[:i]), *dots)

    def place_in_grid(self):
        board = self.lattice(4, 0.19, theme.GREY)
        return Group(board, outline(board[6], CNN, 4))

    def added(self):
        side = 0.17
        return row(Cells([0.7, 0.3, 0.9], theme.BLUE, side, 0.03), words("+", 34, bold=True), Cells([0.2, 0.8, 0.5], theme.AMBER, side, 0.03), gap=0.08)


class HowTheyHelp(Beyond):
    route = "lecture/s07/3"

    def title(self):
        return "How can these built-in assumptions help?"

    def caption(self):
        return "Drawn, not measured. No family wins everywhere: compare on your own data and budget."

    def says(self):
        return ["How does such an assumption help? Take a CNN. One local detector is learned once, say for an edge.",
                "The same filter is used here, and here, and here. What it finds in one corner it also finds in another, without a new example; with little "
                "data that is worth a lot.",
                "A ViT chooses its context from content. This query reads a few places, some more than others.",
                "Another query of the same picture, with the same projections, reads other places. The freedom pays when there is much data or a pretrained "
                "start. Neither family always wins."]

    def build(self):
        left, right = STAGE.columns(1, 1, gap=0.7)
        side = 3.45
        y = STAGE.top - 0.66 - side / 2
        photos = [Photograph(self.run, side=side, grid=True).move_to([a.right - side / 2 if a is left else a.center[0], y, 0]) for a in (left, right)]
        heads = [words(text, 44, color, bold=True).move_to([a.center[0], STAGE.top - 0.26, 0])
                 for text, color, a in zip(("CNN reuses a local detector", "ViT chooses context from content"), (CNN, VIT), (left, right))]
        feet = [words(text, 42, width=a.width, align="center").move_to([a.center[0], (photo.get_bottom()[1] + STAGE.bottom) / 2, 0])
                for text, a, photo in zip(("same filter, different locations", "different weights for each query"), (left, right), photos)]
        board = self.filter(1.5).move_to([left.left + 0.95, y, 0])
        places = [rows.name(n) for n in (32, 95, 144)]
        windows = [self.near(photos[0], p) for p in places]
        wires = [link(board.get_right() + 0.06 * RIGHT, w.get_left(), CNN, 2.4) for w in windows]
        self.step(photos[0], FadeIn(heads[0]), FadeIn(board))
        moving = windows[0].copy()
        self.step(*draw(wires[0]), Emerge(moving, board))
        for window, wire in zip(windows[1:], wires[1:]):
            self.go(TransformFromCopy(moving, window), *draw(wire), run_time=0.7)
        self.go(*write(feet[0]), run_time=0.5)
        queries = (self.dog.place("ear"), self.dog.place("chest"))
        picks = (((69, 11.0), (34, 6.0), (14, 2.5), (103, 4.0)), ((178, 9.0), (183, 3.0), (96, 6.0), (194, 2.5)))
        photo, fans = photos[1], []
        for query, chosen in zip(queries, picks):
            target = photo.patch(query)
            fans.append((target, [self.ray(photo, s, query, w) for (n, w) in chosen for s in self.far(n) if s != query]))
        self.step(photo, FadeIn(heads[1]), FadeIn(fans[0][0]))
        self.go(*draw(*fans[0][1]), lag_ratio=0.15)
        self.bring_to_front(fans[0][0])
        self.step(FadeIn(fans[1][0]))
        self.go(*draw(*fans[1][1]), lag_ratio=0.15)
        self.bring_to_front(fans[1][0])
        self.go(*write(feet[1]), run_time=0.5)

    def filter(self, side):
        board = weights(side)
        frame = outline(board, CNN, 4)
        return Group(board, frame, words("one filter", 38, CNN).next_to(frame, DOWN, buff=0.12))


class HowMuchDetail(Beyond):
    route = "lecture/s07/4"

    def costs(self):
        """A coarser, the model's own and a finer grid."""
        p = self.model.patch
        return [Cost(self.model.image, size) for size in (2 * p, p, p // 2)]

    def title(self):
        return "How much detail should one token cover?"

    def caption(self):
        return f"One {self.word} under three grids. Our checkpoint takes {times(self.model.patch, self.model.patch)}; the others need weights of their own."

    def says(self):
        coarse, own, fine = self.costs()
        return [f"A token stands for a square of the picture, but how large a square? With {coarse.patch} pixels a side there are only {coarse.patches} "
                "tokens, and the amber one mixes many things into one row.",
                f"Our model uses {own.patch} pixels: {own.patches} tokens. The same place is now a quarter of the area.",
                f"With {fine.patch} pixels there are {fine.patches}, and small parts get a row of their own. CLS comes on top each time. "
                "It is one picture with three possible architectures; our checkpoint accepts only the middle one. Finer is better for detail, so why not "
                "always? Because of what comes next."]

    def build(self):
        side, nose = 3.4, self.dog.photo.places["nose"]
        gap = (STAGE.width - 3 * side) / 2
        r, c = rows.grid_place(nose, self.model.grid)
        before = None
        for i, cost in enumerate(self.costs()):
            photo = Photograph(self.run, side=side, grid=True, columns=cost.grid).move_to([STAGE.left + side / 2 + i * (side + gap), STAGE.center[1] + 0.12, 0])
            head = words(f"{times(cost.patch, cost.patch)} patches", 46).next_to(photo, UP, buff=0.14)
            foot = words(f"*{count(cost.patches)}* tokens", 64, theme.BLUE).next_to(photo, DOWN, buff=0.16)
            scale = self.model.patch / cost.patch
            at_ = (int((r - 0.5) * scale), int((c - 0.5) * scale))  # the cell that holds the middle of the nose patch
            spot = photo.patch(at_[0] * cost.grid + at_[1] + 1, theme.AMBER, 4)
            photo.remove(photo.lines)
            self.step(Emerge(photo, before) if before else FadeIn(photo), FadeIn(head))
            self.go(*draw(*photo.lines), lag_ratio=0.03, run_time=1.0)
            self.go(FadeIn(spot), *write(foot))
            before = photo


class FinerGridCost(Beyond):
    route = "lecture/s07/5"

    def costs(self):
        return Cost(self.model.image, self.model.patch), Cost(self.model.image, self.model.patch // 2)

    def title(self):
        return "What does a finer grid cost?"

    def caption(self):
        return "Squares drawn to scale: scores of one head, not the whole running time."

    def says(self):
        a, b = self.costs()
        return [f"{a.patches} patch tokens, and {a.tokens} with CLS. Each is compared with each, so one head makes {count(a.scores)} scores. The small "
                "square shows them.",
                f"Now half the patch side. Four times as many patches: {b.patches}, or {b.tokens} with CLS.",
                f"And the scores? {b.tokens} squared is {count(b.scores)}. Both squares have the same scale.",
                f"So four times the tokens means about {num(b.growth(a), 0)} times the scores, exactly {num((b.patches / a.patches) ** 2, 0)} if we leave "
                "CLS out. That is the attention matrix alone; other parts of the model grow more slowly."]

    def build(self):
        large, pic = 3.95, 1.82
        a, b = self.costs()
        unit, cards, squares = large / b.tokens, [], []
        for cost, y in zip((a, b), (STAGE.top - pic / 2, STAGE.top - large + pic / 2)):
            photo = Photograph(self.run, side=pic, grid=True, columns=cost.grid).move_to([STAGE.left + pic / 2, y, 0])
            photo.lines.set_stroke(width=0.9)
            text = column(words(times(cost.patch, cost.patch), 52, bold=True), words(f"*{count(cost.patches)}* patch tokens", 42),
                          words(f"*{count(cost.tokens)}* with CLS", 42, theme.AMBER), gap=0.04, align=LEFT)
            cards.append((photo, text.next_to(photo, RIGHT, buff=0.35)))
            squares.append(Square(unit * cost.tokens, stroke_color=theme.TEAL, stroke_width=2.5, fill_color=theme.tint(theme.TEAL, 0.3), fill_opacity=1))
        squares[1].move_to([STAGE.right, STAGE.top, 0], aligned_edge=UP + RIGHT)
        squares[0].move_to([(cards[1][1].get_right()[0] + squares[1].get_left()[0]) / 2 + 0.1, squares[1].get_bottom()[1], 0], aligned_edge=DOWN)
        scores = [column(words(count(c.scores), size, theme.TEAL, bold=True), words("scores per head", 36, theme.TEAL), gap=0.0)
                  for c, size in zip((a, b), (48, 76))]
        scores[0].next_to(squares[0], UP, buff=0.12)
        scores[1].move_to(squares[1])
        rule = row(words(f"patch tokens × {num(b.patches / a.patches, 0)}", 52, theme.BLUE, bold=True), words("→", 52),
                   words(f"scores ≈ × {num(b.growth(a), 0)}", 52, theme.TEAL, bold=True), gap=0.35)
        rule.move_to([STAGE.center[0], STAGE.bottom + 0.3, 0])
        self.step(cards[0][0], *write(cards[0][1]))
        self.go(Emerge(squares[0], cards[0][0]), FadeIn(scores[0]))
        self.step(Emerge(cards[1][0], cards[0][0]), *write(cards[1][1]))
        self.step(TransformFromCopy(squares[0], squares[1]), run_time=1.1)
        self.go(FadeIn(scores[1]))
        self.step(*write(*rule), lag_ratio=0.3)


class FamiliarEncoder(Beyond):
    route = "lecture/s07/6"

    def title(self):
        return "Once an image becomes tokens, the encoder is familiar"

    def caption(self):
        return "Only the first panel is about pictures. The encoder is the one we brought along."

    def says(self):
        m, top = self.model, self.dog.prediction.top[0]
        return [f"Three panels, as at the beginning. First, make tokens: {m.patches} patches through one shared projection, CLS in front, position added. "
                f"That gives {m.tokens} rows of {m.width} features.",
                f"Second, build context: {m.depth} encoder blocks, each with full attention and an MLP, each adding its updates to the rows. The shape stays.",
                f"Third, read CLS: one row of {m.width} features goes through a linear head and becomes {count(m.classes)} scores. For our {self.word} the "
                f"largest is {top.label}.",
                "Only the first panel knows that it was a picture. The middle is what you know from language."]

    def build(self):
        m, top = self.model, self.dog.prediction.top[0]
        areas = STAGE.columns(1, 1, 1, gap=0.55)
        cards = [self.card(a) for a in areas]
        heads = [words(f"{i}  {name}", 44, theme.BLUE, bold=True).move_to([a.center[0], STAGE.top - 0.42, 0])
                 for i, (name, a) in enumerate(zip(("make tokens", "build context", "read CLS"), areas), 1)]
        tips = [arrow([p.get_right()[0], STAGE.center[1], 0], [q.get_left()[0], STAGE.center[1], 0], gap=0.06, width=5) for p, q in zip(cards, cards[1:])]
        x = [a.center[0] for a in areas]
        ys = (STAGE.top - 1.42, STAGE.top - 2.78, STAGE.top - 3.62, STAGE.bottom + 0.42)

        photo = Photograph(self.run, side=1.3, grid=True)
        start = row(photo, words(f"{times(m.image, m.image)}\nRGB", 38), gap=0.3).move_to([x[0], ys[0], 0])
        shared = Box("shared projection", size=36, width=3.3, height=0.68).move_to([x[0], ys[1], 0])
        added = words("+ CLS + position", 38, theme.AMBER, bold=True).move_to([x[0], ys[2], 0])
        first = words(f"*{m.tokens}* rows × *{m.width}*", 40, theme.BLUE).move_to([x[0], ys[3], 0])
        one = [start, shared, added, first]

        back = [Frame(corner_radius=0.14, width=3.0, height=2.0, stroke_color=theme.tint(theme.BLUE, 0.5), stroke_width=2, fill_color=theme.PAPER,
                      fill_opacity=1).shift((k + 1) * np.array([0.09, 0.09, 0]))
                for k in (1, 0)]
        inside = column(Box("full attention", size=38, color=theme.TEAL, width=2.65, height=0.76), Box("MLP", size=38, width=2.65, height=0.76), gap=0.2)
        frame = Frame(corner_radius=0.14, width=3.0, height=2.0, stroke_color=theme.BLUE, stroke_width=2.6, fill_color=theme.tint(theme.BLUE, 0.06),
                      fill_opacity=1).move_to(inside)
        stack = Group(*(b.shift(inside.get_center()) for b in back), frame, inside)
        stack.move_to([x[1] - 0.02, STAGE.top - 2.75, 0])
        name = words(f"*{m.depth}* encoder blocks", 40).next_to(stack, UP, buff=0.12).set_x(x[1])
        second = words(f"*{m.tokens}* updated rows × *{m.width}*", 40, theme.BLUE).move_to([x[1], ys[3], 0])

        h = column(words(f"final CLS · *{m.width}*", 38, theme.BLUE), Strip(self.dog.h, theme.BLUE, 3.2, 0.5), gap=0.08).move_to([x[2], STAGE.top - 1.35, 0])
        linear = Box("linear class head", size=36, width=3.3, height=0.68).move_to([x[2], STAGE.top - 2.55, 0])
        scores = words(f"*{count(m.classes)}* class scores", 38).move_to([x[2], STAGE.top - 3.5, 0])
        label = words(top.label, 50, theme.BLUE, bold=True)
        fit(label, areas[2].width - 0.3, 1.0).move_to([x[2], ys[3], 0])
        three = [h, linear, scores, label]

        self.step(FadeIn(cards[0]), *write(heads[0]))
        self.down(one)
        self.step(*draw(tips[0]), FadeIn(cards[1]), *write(heads[1]))
        self.go(FadeIn(stack), *write(name))
        self.go(*draw(self.tip(stack, second)), *write(second))
        self.step(*draw(tips[1]), FadeIn(cards[2]), *write(heads[2]))
        self.down(three)
        self.step(cards[1].animate.set_stroke(theme.BLUE, 6))

    def tip(self, a, b):
        return arrow([b.get_x(), a.get_bottom()[1], 0], b.get_top(), gap=0.05, side=DOWN)

    def down(self, parts):
        """The parts of a panel from the top, an arrow before each."""
        self.go(FadeIn(parts[0]), run_time=0.5)
        for a, b in zip(parts, parts[1:]):
            self.go(*draw(self.tip(a, b)), FadeIn(b), run_time=0.5)


class ThroughTheShapes(Beyond):
    route = "lecture/s07/7"

    def title(self):
        return "Follow the whole model through its shapes"

    def caption(self):
        m = self.model
        return f"{m.depth} blocks in a row leave the shape as it is; every other stage changes it."

    def says(self):
        m = self.model
        return [f"Whenever you meet an architecture, follow its shapes. In go three planes of {m.image} by {m.image} pixels.",
                f"The patch projection makes {m.patches} rows and sets the width: {m.width}. CLS and position come next. One more row, {m.tokens}, same width.",
                f"Now {m.depth} encoder blocks, and the shape stays as it was. That is why blocks can be stacked at will.",
                f"After the last normalization we read one row, {m.width} numbers. The class head turns them into {count(m.classes)} logits. If you can say "
                "this line by heart, you can read the code on the next page."]

    def build(self):
        m = self.model
        unit = 1.52 / m.tokens

        def sheet(fill=0.3):
            return Rectangle(width=m.width * unit, height=m.patches * unit, stroke_color=theme.tint(theme.BLUE, 1 if fill else 0.55), stroke_width=2,
                             fill_color=theme.tint(theme.BLUE, fill), fill_opacity=1)

        def summary(color=theme.AMBER):
            return Rectangle(width=m.width * unit, height=0.14, stroke_color=color, stroke_width=2, fill_color=color, fill_opacity=1)
        side = 0.8 * m.image * unit
        planes = Group(*(Square(side, stroke_color=theme.RGB[k], stroke_width=2.5, fill_color=theme.tint(theme.RGB[k], 0.3),
                                fill_opacity=1).shift(i * np.array([0.13, -0.13, 0])) for i, k in enumerate("RGB")))
        with_cls = Group(summary(), sheet()).arrange(DOWN, buff=0.03)
        stack = Group(*(around(with_cls, theme.tint(theme.BLUE, 0.45), 0.0, theme.PAPER).shift(i * np.array([0.07, 0.07, 0])) for i in (3, 2, 1)),
                      with_cls.copy())
        scores = Group(*(Rectangle(width=w, height=0.14, stroke_width=0, fill_color=theme.tint(theme.BLUE, 1 if i == 1 else 0.45), fill_opacity=1)
                         for i, w in enumerate((0.4, 1.4, 0.25, 0.6, 0.35, 0.5, 0.2, 0.3)))).arrange(DOWN, buff=0.07, aligned_edge=LEFT)
        entries = (("pixels", times(m.channels, m.image, m.image), planes), ("patch\nprojection", times(m.patches, m.width), sheet()),
                   ("+ CLS\n+ position", times(m.tokens, m.width), with_cls), (f"{m.depth} encoder\nblocks", times(m.tokens, m.width), stack),
                   ("final LN,\nread CLS", count(m.width), summary()), ("class\nhead", f"{count(m.classes)}\nlogits", scores))
        n = len(entries)
        pitch = STAGE.width / n
        y = STAGE.center[1] - 0.05
        parts = []
        for i, (name, shape, art) in enumerate(entries):
            x = STAGE.left + pitch * (i + 0.5)
            art.move_to([x, y, 0])
            head = words(name, 42, theme.BLUE, bold=True, width=pitch, align="center").move_to([x, y + 1.2, 0], aligned_edge=DOWN)
            size = words(shape, 40, bold=True, width=pitch + 0.2, align="center").move_to([x, y - 1.15, 0], aligned_edge=UP)
            parts.append((art, head, size))
        tips = [arrow([STAGE.left + pitch * (i + 1) - 0.21, y, 0], [STAGE.left + pitch * (i + 1) + 0.21, y, 0], gap=0, width=4) for i in range(n - 1)]
        self.step(parts[0][0], *write(*parts[0][1:]))
        for group in ((1, 2), (3,), (4, 5)):
            for j, i in enumerate(group):
                (self.go if j else self.step)(*draw(tips[i - 1]), FadeIn(parts[i][1]))
                self.go(TransformFromCopy(parts[i - 1][0], parts[i][0]) if i == 3 else FadeIn(parts[i][0], shift=0.15 * RIGHT), *write(parts[i][2]))


class SixLines(Beyond):
    route = "lecture/s07/8"

    def title(self):
        return "The whole ViT in six lines"

    def caption(self):
        return "Executable and tested: with timm’s own parts it returns timm’s logits. *B* counts pictures."

    def says(self):
        m = self.model
        return [f"Here is everything, in six lines that run. Line one: patches are cut and projected; B pictures give B times {m.patches} rows.",
                "Line two: CLS is put in front of every picture’s rows, and the position table is added to all of them.",
                f"Lines three and four: {m.depth} blocks, one after the other. What is inside, attention and MLP, you have seen.",
                "Line five: normalize, then take row zero, which is CLS. Line six: the head gives one score for each class. There is no softmax here; a "
                "loss or a display adds it. That is a complete Vision Transformer."]

    def build(self):
        piece = lab_source.piece("classify")
        numbers = [words(str(i), 34, theme.GREY) for i in range(1, len(piece.lines))]
        listing = Listing(piece, self.run.lab, STAGE.width - 0.55, size=34, gap=0.42)
        listing.move_to(STAGE.center + 0.27 * RIGHT)
        for number, line in zip(numbers, listing.lines[1:]):
            number.move_to([STAGE.left + 0.2, line.get_y(), 0])
        over = words("shape", 32, theme.GREY).move_to([listing.frame.get_right()[0] - 0.24, listing.lines[0].get_y(), 0], aligned_edge=RIGHT)
        self.step(*listing.open(), *write(*numbers), FadeIn(over))
        self.go(*listing.read("x = patch_embed"))
        self.step(*listing.read("x = torch.cat"))
        self.step(*listing.read("for block", "x = block"))
        self.step(*listing.read("summary"))
        self.go(*listing.read("return"))


class MoreDetail(Beyond):
    route = "lecture/s07/9"

    def title(self):
        return "More detail, when you want it"

    def caption(self):
        return "The reference deck goes through the same model with every step and number on a page."

    def says(self):
        from scenes import decks

        pages = sum(s.pages for s in decks.DECKS["reference"])
        return [f"This lecture left out a lot, and the reference deck has it, on {pages} pages with the same picture and the same model. Section 6 is the "
                "implementation lab: Linear and Conv2d, and every line of code with its shape.",
                "Sections 7 to 9 extend it: how to adapt the classifier to a new task and evaluate it, what features resemble each other, what attention "
                "weighs, and what happens when pixels are covered. Those three are different questions.",
                "And if you want to check the arithmetic by hand, sections 2 and 3 open every box with real numbers."]

    def build(self):
        areas = STAGE.columns(1, 1, 1, gap=0.4)
        view = self.view()
        entries = (("6", "implementation lab", self.layers(), ("Linear and Conv2d", "shapes + code")),
                   ("7–9", "extensions", view, ("transfer · evaluation", "similarity · attention · occlusion")),
                   ("2–3", "open the boxes", self.numbers(areas[2].width - 0.5), ("patch arithmetic", "real attention numbers")))
        for area, (section, name, art, lines) in zip(areas, entries):
            card = self.card(area)
            head = column(words(name, 44, theme.BLUE, bold=True), words(f"section{'s' if '–' in section else ''} {section}", 32, theme.GREY),
                          gap=0.0).move_to([area.center[0], area.top - 0.62, 0])
            text = column(*(words(t, 34) for t in lines), gap=0.02)
            fit(text, area.width - 0.24, 2).move_to([area.center[0], area.bottom + 0.55, 0])
            art.move_to([area.center[0], (head.get_bottom()[1] + text.get_top()[1]) / 2, 0])
            self.step(FadeIn(card), *write(head))
            self.go(FadeIn(art), *write(text))

    def layers(self):
        """Two layers of the lab and the shape that both give."""
        both = row(*(Box(code(name, 38, theme.BLUE), width=1.75, height=0.85) for name in ("Linear", "Conv2d")), gap=0.25)
        shape = words(axes(gives(self.run.lab, lab_source.piece("project_with_linear"), "return")), 44, theme.BLUE, bold=True).next_to(both, DOWN, buff=0.75)
        return Group(both, shape, *(arrow(box.get_bottom(), [shape.get_x() + d, shape.get_top()[1], 0], gap=0.06) for box, d in zip(both, (-0.7, 0.7))))

    def view(self):
        """A patch and what it attends to, as measured; the picture alone where the run has no map."""
        one = next((m for m in self.dog.attention if m.query != rows.CLS), None)
        view = MapView(self.run, one.values[1:] if one and one.values else None, (figures.common_scale([one]) if one else None) or 1.0, (None, theme.TEAL),
                       side=2.45)
        return Group(view, *([view.photo.patch(one.query)] if one else []))

    def numbers(self, width):
        nose = self.dog.place("nose")
        crop = Photograph(self.run).crop(nose, 1.7)
        return column(crop, fit(words(f"$c_{self.dog.photo.places['nose']}$ = {vec(self.dog.patches[nose].c, 2)}", 36), width, 1), gap=0.25)


class VectorPerClass(Beyond):
    route = "lecture/s07/10"

    def title(self):
        return "The classifier stores a learned vector per known class"

    def caption(self):
        return "A class without such a vector cannot be an answer, whatever the picture shows."

    def says(self):
        m, rows_ = self.model, self.rows_()
        scored = [r for r in rows_ if r.logit is not None]
        numbers = f" For {scored[0].label} it is {num(scored[0].logit, 2)}." if scored else ""
        return [f"Look once more at the last layer. On the left the final CLS row of our {self.word}, {m.width} numbers.",
                f"The class head holds a learned vector of the same width for every class: one for {rows_[0].label}, one for {rows_[1].label}, one for "
                f"{rows_[2].label}, {count(m.classes)} in all.",
                f"A score is the dot product of the two, plus a bias.{numbers} The largest score wins; here that is {rows_[0].label}.",
                "So the classes are a fixed list. To ask for anything else, there would have to be another vector. Where could it come from?"]

    def rows_(self):
        """Three classes of the head; without their weights where the run has none."""
        return list(self.dog.class_rows) or [ClassRow(index=s.index, label=s.label, logit=s.logit) for s in self.dog.prediction.top]

    def build(self):
        m = self.model
        pitch, left = 0.98, STAGE.left + 4.5
        ys = [STAGE.top - 0.72 - pitch * i for i in range(4)]
        strip = Strip(self.dog.h, theme.BLUE, 2.9, 0.62)
        photo = Photograph(self.run, side=1.6)
        h = Group(words("$h_upright(\"CLS\")$", 56, theme.BLUE), strip, words(f"{m.width} features", 36, theme.GREY)).arrange(DOWN, buff=0.08)
        column(photo, h, gap=0.16).move_to([STAGE.left + 1.45, (STAGE.top + ys[3] - 0.3) / 2, 0])
        rows_, lanes, width = self.rows_(), [], 5.0
        scales = [float(np.nanquantile(np.abs(known(r.weights)), 0.98)) for r in rows_ if r.weights]
        limit = float(np.median(scales)) if scales else 1.0
        for r, y in zip(rows_, ys):
            s = Strip(r.weights or Vector.unknown(m.width), theme.BLUE, width, 0.4, limit=limit).move_to([left + width / 2, y, 0])
            letter, label = math("w", 46, theme.BLUE), words(r.label, 34, theme.BLUE)
            name = row(letter, label, gap=0.06)
            label.shift(0.09 * DOWN)
            name.next_to(s, UP, buff=0.04).align_to(s, LEFT)
            score = words(num(r.logit, 2), 52, bold=True) if r.logit is not None else words("score", 44, theme.GREY)
            score.move_to([STAGE.right, y, 0], aligned_edge=RIGHT)
            lanes.append((name, s, score, arrow(s.get_right(), [STAGE.right - 1.5, y, 0], gap=0.1),
                          link(strip.get_right() + 0.06 * RIGHT, s.get_left() + 0.08 * LEFT, theme.BLUE, 3)))
        more = words(f"… and {count(m.classes - len(rows_))} more", 38, theme.GREY).move_to([left, ys[3] + 0.2, 0], aligned_edge=LEFT)
        each = words("one class score each", 36, theme.GREY).move_to([STAGE.right, ys[3] + 0.2, 0], aligned_edge=RIGHT)
        rule = words("$s_c = h_upright(\"CLS\")^upright(T) w_c + b_c$", 72, theme.BLUE).move_to([STAGE.center[0], STAGE.bottom + 0.38, 0])
        self.step(photo)
        self.go(Emerge(h, photo))
        self.step(*(a for lane in lanes for a in (*draw(lane[4]), FadeIn(lane[0]), FadeIn(lane[1]))), lag_ratio=0.1)
        self.go(*write(more))
        self.step(*write(rule))
        for lane in lanes:
            self.go(pulse(lane[4], theme.BLUE, run_time=0.5))
            self.go(*draw(lane[3]), FadeIn(lane[2]), run_time=0.5)
        self.go(*write(each), run_time=0.4)
        fence = outline(Group(*(part for lane in lanes for part in lane[:2]), more), theme.BLUE, 5, pad=0.1)
        self.step(Create(fence), run_time=1.2)


class ClassesFromWords(Beyond):
    route = "lecture/s07/11"

    def title(self):
        return "What if our class vocabulary could come from words?"

    def caption(self):
        return "For any text, our checkpoint has no such vector. The next lecture learns to make one."

    def says(self):
        m, species = self.model, self.dog.photo.species
        return [f"This is where we stand: the image gives one row, and the head has {count(m.classes)} vectors to compare it with. A class is one of these "
                "vectors, and nothing else.",
                f"But a class can be described. Here is a description: a photo of a {species}. Anyone can write another one.",
                "Suppose that something could turn this text into a vector which fits beside the others. Then a new class would cost one sentence, with no "
                "new training.",
                "Our model has nothing in the place of that question mark. CLIP has: it learns pictures and texts together, so that they can be compared. "
                "That is the next lecture."]

    def build(self):
        m = self.model
        species = self.dog.photo.species
        top, low = STAGE.top - 1.38, STAGE.bottom + 1.5
        photo = Photograph(self.run, side=1.6)
        vit = Box("ViT", size=44, width=1.5, height=1.0)
        h = Group(words("$h_upright(\"CLS\")$", 46, theme.BLUE), Strip(self.dog.h, theme.BLUE, 2.2, 0.46)).arrange(DOWN, buff=0.06)
        for part, x in zip((photo, vit, h), (STAGE.left + 0.85, STAGE.left + 3.35, STAGE.left + 6.15)):
            part.move_to([x, top, 0])
        h.shift((top - h[1].get_y()) * UP)
        x = STAGE.right - 2.25
        bank = Group(*(Strip(r.weights or Vector.unknown(m.width), theme.BLUE, 2.7, 0.36) for r in self.class_rows()))
        bank.arrange(DOWN, buff=0.16).move_to([x, top, 0])
        names = words("$w_c$", 46, theme.BLUE).next_to(bank, RIGHT, buff=0.2)
        frame = panel(4.1, 2.3, theme.tint(theme.BLUE, 0.4), theme.PAPER).move_to([STAGE.right - 2.05, STAGE.top - 1.15, 0])
        text = words("class scores", 40, theme.BLUE, bold=True).move_to([frame.get_x(), frame.get_top()[1] - 0.34, 0])
        upper = [arrow(photo, vit), arrow(vit.get_right(), h[1].get_left()), arrow(h[1].get_right(), [frame.get_left()[0], top, 0])]
        words_ = Box(words(f"“a photo of a {species}”", 40, theme.PURPLE), color=theme.PURPLE, width=3.9, height=1.0).move_to([STAGE.left + 1.95, low, 0])
        ask = Box(words("?", 84, theme.AMBER, bold=True), color=theme.AMBER, width=1.5, height=1.5).move_to([STAGE.left + 6.15, low, 0])
        made = Cells((0.6, 0.2, 0.85, 0.4, 0.7, 0.15, 0.5, 0.3), theme.PURPLE, 0.27, 0.04).move_to([x, low, 0])
        slot = DashedVMobject(RoundedRectangle(corner_radius=0.1, width=2.7, height=0.62, stroke_color=theme.PURPLE, stroke_width=3.5),
                              num_dashes=44).move_to(made)
        name = words(f'$v_upright("{species}")$', 46, theme.PURPLE).next_to(slot, RIGHT, buff=0.14)
        lower = [arrow(words_, ask), arrow(ask, slot)]
        end = row(words("next lecture:", 44, theme.GREY), words("CLIP", 64, theme.PURPLE, bold=True),
                  gap=0.3).move_to([STAGE.center[0], STAGE.bottom + 0.33, 0])
        self.step(photo, FadeIn(vit), FadeIn(h), *draw(*upper[:2]))
        self.go(FadeIn(frame), *draw(upper[2]), FadeIn(text), FadeIn(bank), FadeIn(names))
        self.step(FadeIn(words_, shift=0.15 * RIGHT))
        self.step(*draw(lower[0]), FadeIn(ask, scale=0.7))
        self.go(*draw(lower[1]), FadeIn(slot))
        self.go(Emerge(made, ask), FadeIn(name))
        self.go(*draw(arrow(slot.get_top(), [x, frame.get_bottom()[1], 0], theme.PURPLE, gap=0.06)))
        self.step(*write(*end))

    def class_rows(self):
        return list(self.dog.class_rows) or [ClassRow(index=s.index, label=s.label) for s in self.dog.prediction.top]
