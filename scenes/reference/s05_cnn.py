"""Section 5 of the reference deck: local filters against global attention, and what each builds in.

The CNN's side is drawn as an illustration, because no CNN is measured here; the ViT's side shows this run's own attention.
"""

from manim import Circle, Dot, Line, Rectangle

from scenes.kit import *  # noqa: F403 - the kit is the vocabulary of a storyboard
from vit_data import figures, rows, stripe

LOCAL = "#B5477C"  # what belongs to the CNN; teal is attention
CNN, VIT = "CNN · local filters", "ViT · global attention"


class Compare(Slide):
    """Two columns, the CNN at the left and the ViT at the right, under one question."""

    def heads(self, left, right, y):
        return Group(words(CNN, theme.BODY, LOCAL, bold=True).move_to([left.center[0], y, 0]),
                     words(VIT, theme.BODY, theme.TEAL, bold=True).move_to([right.center[0], y, 0]))

    def question(self, text, y):
        return words(text, theme.BODY, bold=True).move_to([STAGE.left, y, 0], aligned_edge=UP + LEFT)

    def window(self, photo, patch, reach=1, color=LOCAL):
        """An outline round a patch and its neighbours."""
        m = photo.cell(patch)
        return outline(m, color, 4, pad=reach * m.width)


class CompareCard(SectionCard):
    route = "reference/s05/1"

    def name(self):
        return "CNNs, ViTs and inductive bias"

    def before(self):
        return "Attention lets patches exchange information."

    def question(self):
        return "How do they differ, and which should we try?"

    def topics(self):
        return ("Context", "Mixing", "Wider view", "Readout")

    def art(self):
        photo = Photograph(self.run, side=3.9, grid=True)
        query = self.dog.place("ear")
        return Group(photo, *_rays(photo, query, (self.dog.place("other_ear"), self.dog.place("chest"), self.dog.place("background"))),
                     _near(photo, self.dog.place("nose")), photo.patch(query))

    def caption(self):
        return ("Four design choices, one after the other: who meets whom, with which weights, how the view grows, how a label is read. Then what each "
                "builds in.")

    def notes(self):
        return ("So far every patch could ask every other one. Networks for pictures did without that for decades, so what did they do instead, and which "
                "should we try first? We keep our picture and our task and compare four choices, before we speak of inductive bias, of data and of time.")


def _rays(photo, query, sources):
    """Teal lines from far patches to the query."""
    goal = photo.cell(query).get_center()
    return [Connector(Line(photo.cell(s).get_center(), goal, color=theme.TEAL, stroke_width=3.5)) for s in sources if s != query]


def _near(photo, patch):
    cell = photo.cell(patch)
    return outline(cell, LOCAL, 4.5, pad=cell.width)


class ContextAndMixing(Compare):
    route = "reference/s05/2"

    def title(self):
        return "Two ways to build an image representation"

    def caption(self):
        return ("A filter’s weights are learned once and stay put while a picture passes. A ViT’s projections stay put as well, but its attention weights "
                "are made anew from this query and these sources.")

    def notes(self):
        word = figures.picture_word(self.run, "dog")
        return ("First who can meet whom: the square of neighbours on the left, every patch on the right. Then where the weights come from. Give both "
                f"networks another {word}: what changes? The filter does not. The projections do not either; the shares that they lead to do. A head that "
                "hardly changes its map would still compute it anew.")

    def maps(self):
        query = self.dog.place("ear")
        found = []
        for name, subject in (("dog", self.dog), ("cat", self.cat)):
            one = next((m for m in subject.attention if (m.block, m.head, m.query) == (4, 1, query)), None)
            found.append((name, one))
        return found

    def build(self):
        left, right = STAGE.columns(1, 1, gap=0.9)
        side = 2.1
        query = self.dog.place("ear")
        ask = self.question("1 · Gather context: which inputs can interact in one layer?", STAGE.top)
        y = ask.get_bottom()[1] - 0.12 - side / 2
        near, far = Photograph(self.run, side=side, grid=True), Photograph(self.run, side=side, grid=True)
        near.move_to([left.left + side / 2, y, 0])
        far.move_to([right.left + side / 2, y, 0])
        room = left.width - side - 0.35
        says = [self.side(CNN, LOCAL, "One local neighbourhood feeds one output location.\nStart with nearby clues.", near, room),
                self.side(VIT, theme.TEAL, "One query can use every source patch.\nNear and far are available.", far, room)]
        window, spot = _near(near, self.dog.place("nose")), near.patch(self.dog.place("nose"), LOCAL, 3)
        sources = [n for n in (1, 7, 14, 62, 90, 126, 168, 188) if rows.name(n) != query]
        rays = _rays(far, query, [rows.name(n) for n in sources if n <= self.model.patches])
        target = far.patch(query)
        again = self.question("2 · Mix information: what determines each contribution?", y - side / 2 - 0.2)
        low = (again.get_bottom()[1] - 0.1 + STAGE.bottom) / 2
        filter_ = self.filter(min(1.5, again.get_bottom()[1] - STAGE.bottom - 0.3)).move_to([left.left, low, 0], aligned_edge=LEFT)
        fixed = self.text("Learned filter", LOCAL, "Reuse the same weights at every image location.",
                          left.right - filter_.get_right()[0] - 0.35)
        drawn = words("drawn as an illustration", theme.SMALL, theme.GREY, italic=True)
        fixed = column(fixed, drawn, gap=0.12, align=LEFT).next_to(filter_, RIGHT, buff=0.35)
        views = self.views(1.5).move_to([right.left, low, 0], aligned_edge=LEFT)
        computed = self.text("Query + keys", theme.TEAL, "Compute weights for this query + image.", right.right - views.get_right()[0] - 0.3)
        key = self.key()
        if key:
            computed = column(computed, key, gap=0.12, align=LEFT)
        computed.next_to(views, RIGHT, buff=0.3)
        self.step(FadeIn(ask), near, far)
        self.step(FadeIn(spot), FadeIn(window), FadeIn(says[0]))
        self.step(FadeIn(target), *draw(*rays), FadeIn(says[1]), lag_ratio=0.08)
        self.bring_to_front(target)
        self.step(FadeIn(again))
        self.go(Emerge(filter_, window), FadeIn(fixed))
        for cell in (rows.name(n) for n in (32, 116, 151)):
            self.go(window.animate.move_to(near.cell(cell)), spot.animate.move_to(near.cell(cell)), run_time=0.45)
        self.step(*(FadeIn(v) for v in views), FadeIn(computed))

    def key(self):
        """Which maps the two pictures show, and their common scale; None where the run has none."""
        found = [m for _, m in self.maps() if m and m.values]
        return words(f"block 4 · head 1\n0–{pct(figures.common_scale(found))}", theme.SMALL, theme.GREY) if found else None

    def side(self, head, color, text, photo, room):
        return self.text(head, color, text, room).next_to(photo, RIGHT, buff=0.35)

    def text(self, head, color, text, room):
        return column(words(head, theme.BODY, color, bold=True, width=room), words(text, theme.LABEL, width=room), gap=0.08, align=LEFT)

    def filter(self, side):
        """Three by three weights: a picture of a filter, not a measured one."""
        shades = ((0.9, 0.15, -0.6), (0.75, 0.1, -0.8), (0.6, 0.2, -0.7))
        cell = side / 3
        board = Group()
        for i, line in enumerate(shades):
            for j, v in enumerate(line):
                square = Rectangle(width=cell, height=cell, stroke_color=theme.PAPER, stroke_width=2,
                                   fill_color=theme.tint(LOCAL if v > 0 else theme.INK, abs(v)), fill_opacity=1)
                board.add(square.move_to([j * cell, -i * cell, 0]))
        return Group(board, outline(board, LOCAL, 2.5))

    def views(self, side):
        """The same query and head on both pictures, as measured; the pictures alone where the run has no maps."""
        found = self.maps()
        scale = max((m.largest or m.strongest_weight for _, m in found if m), default=1.0)
        cards = Group()
        for name, one in found:
            view = MapView(self.run, one.values[1:] if one and one.values else None, scale, (None, theme.TEAL), subject=name, side=side)
            cards.add(Group(view, view.photo.patch(self.dog.place("ear"), width=3)))
        return cards.arrange(RIGHT, buff=0.15)


class WiderView(Compare):
    route = "reference/s05/3"

    def title(self):
        return "A wider view, then one image label"

    def caption(self):
        measured = self.dog.attention_distance
        if measured is None:
            return ("Layer by layer a CNN sees more; one attention layer already spans the picture. Both end in one vector: often a spatial average there, "
                    "the final CLS row here.")
        first = measured[0]
        low, high = min(first), max(first)
        return (f"One attention layer already spans the picture: the heads of block 1 read {num(low, 0)} to {num(high, 0)} pixels away on average. Both "
                "models end in one vector: often a spatial average there, the final CLS row here.")

    def notes(self):
        return ("Can a CNN use clues that lie far apart? Yes, a few layers later, because each layer looks at places that have looked around themselves. "
                "Does every ViT need CLS? No; an average over its patch rows is a sound readout as well, as we said before. The small plot is measured on "
                "this picture; the line in it is what equal weights on all patches would give.")

    def build(self):
        left, right = STAGE.columns(1, 1, gap=0.5)
        ask = self.question("3 · Build a wider view: how do distant clues meet?", STAGE.top)
        heads = self.heads(left, right, ask.get_bottom()[1] - 0.24)
        tower = self.tower().move_to([left.center[0], heads.get_bottom()[1] - 0.06, 0], aligned_edge=UP)
        wide = self.wide(right)
        wide.move_to([right.center[0], heads.get_bottom()[1] - 0.06, 0], aligned_edge=UP)
        again = self.question("4 · Read out a label: turn many locations into one vector.", min(tower.get_bottom()[1], wide.get_bottom()[1]) - 0.2)
        y = (again.get_bottom()[1] + STAGE.bottom + 0.36) / 2
        pooled, token = self.readout(left, y, True), self.readout(right, y, False)
        foot = words("Both produce an image-level summary. Pooling is also a valid ViT readout.", theme.LABEL, theme.GREY)
        foot.move_to([STAGE.center[0], STAGE.bottom + 0.08, 0])
        self.step(FadeIn(ask), FadeIn(heads[0]), FadeIn(tower[0]))
        self.go(*(FadeIn(x) for x in tower[1:]), lag_ratio=0.4)
        self.step(FadeIn(heads[1]), *(FadeIn(x) for x in wide), lag_ratio=0.2)
        self.step(FadeIn(again), *(FadeIn(x) for x in pooled), lag_ratio=0.3)
        self.step(*(FadeIn(x) for x in token), lag_ratio=0.3)
        self.step(*write(foot))

    def tower(self):
        """One, then three, then five cells a side: how the view of one output grows with every local layer."""
        stages = Group()
        for reach, name in ((0, "Local features"), (1, "Combine them"), (2, "Wider context")):
            n, cell = 7, 0.18
            board = Group(*(Rectangle(width=cell, height=cell, stroke_color=theme.LINE, stroke_width=1.2, fill_opacity=1,
                                      fill_color=theme.tint(LOCAL, 0.75 if max(abs(i - 3), abs(j - 3)) == 0 else 0.32)
                                      if max(abs(i - 3), abs(j - 3)) <= reach + 1 else theme.PAPER)
                            .move_to([j * cell, -i * cell, 0]) for i in range(n) for j in range(n)))
            stages.add(column(board, words(name, theme.SMALL, bold=True), gap=0.1))
        stages.arrange(RIGHT, buff=0.75)
        arrows = [arrow([a[0].get_right()[0], a[0].get_center()[1], 0], [b[0].get_left()[0], b[0].get_center()[1], 0], LOCAL)
                  for a, b in zip(stages, stages[1:])]
        note = words("Successive layers connect larger regions (illustration).", theme.SMALL, theme.GREY).next_to(stages, DOWN, buff=0.06)
        return Group(stages[0], Group(arrows[0], stages[1]), Group(arrows[1], stages[2]), note)

    def wide(self, area):
        """Near and far sources on the picture, and how far each head of each block reads where that is measured."""
        photo = Photograph(self.run, side=1.35, grid=True)
        query = self.dog.place("ear")
        reach = Group(photo, *_rays(photo, query, [rows.name(n) for n in (1, 14, 90, 188, 168) if n <= self.model.patches]), photo.patch(query, width=3))
        near = column(reach, words("Near + far patches", theme.SMALL, bold=True), gap=0.08)
        plot = self.plot(2.9, 0.85)
        note = column(words("One global attention layer.", theme.SMALL, theme.GREY),
                      words("Later blocks refine those relationships.", theme.SMALL, theme.GREY), gap=0.0)
        if plot is None:
            return row(near, note, gap=0.5)
        return row(near, column(plot, words("One global attention layer;\nlater blocks refine those relationships.", theme.SMALLEST_PX, theme.GREY),
                                gap=0.02), gap=0.4)

    def plot(self, width, height):
        """Mean attention distance, one dot a head, block by block."""
        measured = self.dog.attention_distance
        if measured is None:
            return None
        m = self.model
        top = 0.75 * m.image
        frame = Group(Line([0, 0, 0], [width, 0, 0], stroke_width=2, color=theme.GREY), Line([0, 0, 0], [0, height, 0], stroke_width=2, color=theme.GREY))
        dots = Group(*(Dot([(b + 0.5) / m.depth * width, height * v / top, 0], radius=0.05, color=theme.HEADS[h % len(theme.HEADS)])
                       for b, line in enumerate(measured) for h, v in enumerate(line)))
        even = figures.even_distance(m.grid, m.patch)
        level = Line([0, height * even / top, 0], [width, height * even / top, 0], stroke_width=1.6, color=theme.AMBER)
        label = words("mean attention distance, pixels", theme.SMALLEST_PX, theme.GREY).next_to(frame, UP, buff=0.02).align_to(frame, LEFT)
        value = words(f"equal: {num(even, 0)}", theme.SMALLEST_PX, theme.AMBER, bold=True).next_to(level, RIGHT, buff=0.08)
        ends = Group(*(words(t, theme.SMALLEST_PX, theme.GREY).move_to([x, -0.16, 0])
                       for t, x in (("block 1", 0.3), (str(m.depth), width * (m.depth - 0.5) / m.depth))))
        return Group(frame, level, dots, label, value, ends)

    def readout(self, area, y, pooled):
        if pooled:
            cell = 0.18
            start = Group(*(Rectangle(width=cell, height=cell, stroke_color=theme.PAPER, stroke_width=1,
                                      fill_color=theme.tint(LOCAL, 0.3 + 0.5 * ((i * 7 + j * 5) % 4) / 4), fill_opacity=1).move_to([j * cell, -i * cell, 0])
                            for i in range(5) for j in range(5)))
            verb = "Spatial\naverage"
            color = LOCAL
        else:
            start = Group(*(Box(t, color=c, size=theme.SMALL, width=1.0, height=0.36)
                            for t, c in ((rows.CLS, theme.AMBER), ("P1", theme.BLUE)))).arrange(DOWN, buff=0.06)
            start.add(words("…", theme.SMALL, theme.GREY).next_to(start, DOWN, buff=-0.05))
            start.add(Box(rows.name(self.model.patches), size=theme.SMALL, width=1.0, height=0.36).next_to(start, DOWN, buff=0.04))
            verb, color = "Read final\nCLS", theme.AMBER
        vector = Cells((0.3, 0.8, 0.45, 0.7, 0.2), color, 0.24)
        note = words("one feature vector", theme.SMALLEST_PX, theme.GREY)
        head = Box("Class head", size=theme.SMALL, height=0.62, pad=0.14)
        scores = words("image\nscores", theme.SMALL, bold=True)
        gaps = row(start, vector, gap=1.2)
        rest = row(head, scores, gap=0.42).next_to(gaps, RIGHT, buff=0.5)
        whole = Group(gaps, rest)
        whole.move_to([area.center[0], y, 0])
        first = arrow([start.get_right()[0], y, 0], [vector.get_left()[0], y, 0], color)
        name = words(verb, theme.SMALL, color, bold=True).next_to(first, UP, buff=0.04)
        note.next_to(vector, DOWN, buff=0.06)
        ways = [arrow([a.get_right()[0], y, 0], [b.get_left()[0], y, 0], gap=0.07) for a, b in ((vector, head), (head, scores))]
        return Group(start, Group(first, name), Group(vector, note), Group(ways[0], head), Group(ways[1], scores))


class MovedStripe(Compare):
    route = "reference/s05/4"

    def title(self):
        return "Inductive bias: a useful starting assumption"

    def caption(self):
        found = self.run.stripe
        if found is None:
            return ("A CNN starts from local reuse: one learned detector serves every place. A ViT has structure too, patches and shared projections, but "
                    "leaves relations in space to learning.")
        same = "exactly" if found.content_difference == 0 else f"within {tiny(found.content_difference)}"
        return (f"Measured here: the shared patch projection, itself a convolution, gives the moved stripe {same} the same features. Attention may read it "
                "differently at the new place, because positions were added.")

    def notes(self):
        found = self.run.stripe
        told = "" if found is None else (f" In this run the stripe’s middle patch keeps {pct(found.before.on_stripe)} of its attention on the stripe at the "
                                         f"first place and {pct(found.after.on_stripe)} at the second "
                                         "(block 1, head 1).")
        return ("Does inductive bias mean that somebody wrote the edge detector by hand? No. The architecture says which connections exist and which weights "
                f"are shared; training finds the values. The stripe is drawn, no photo and no prediction.{told} Both architectures learn from data.")

    def build(self):
        found = self.run.stripe
        idea = row(words("*Inductive bias* = assumptions built into how the model learns.", theme.BODY), gap=0).move_to([STAGE.left, STAGE.top, 0],
                                                                                                              aligned_edge=UP + LEFT)
        side = 1.85
        example = words("Example: move the same stripe. (drawn)", theme.LABEL, theme.GREY)
        photos = [Photograph(self.run, side=side, image=stripe.picture(p, self.model.grid, self.model.patch)) for p in (stripe.BEFORE, stripe.AFTER)]
        pair = Group(*photos).arrange(DOWN, buff=0.4)
        left = Area(STAGE.left, STAGE.bottom, STAGE.left + 2.9, idea.get_bottom()[1] - 0.16)
        block = column(example, pair, gap=0.12, align=LEFT)
        left.place(block, UP + LEFT, shrink=False)
        names = [self.name("Same local pattern", photos[0]), self.name("new location", photos[1])]
        marks = [p.patch(stripe.middle(place, self.model.grid), LOCAL, 3) for p, place in zip(photos, (stripe.BEFORE, stripe.AFTER))]
        xs = (STAGE.left + 4.15, STAGE.left + 6.15, STAGE.left + 9.75)
        wide = (1.85, 3.3, STAGE.right - xs[2])
        top = idea.get_bottom()[1] - 0.18
        heads = Group(*(words(t, theme.BODY, c, bold=True).move_to([x, top, 0], aligned_edge=UP + LEFT)
                        for t, c, x in (("CNN", LOCAL, xs[1]), (VIT, theme.TEAL, xs[2]))))
        ask = words("What is built in?", theme.LABEL, theme.GREY, bold=True).move_to([xs[0], top - 0.02, 0], aligned_edge=UP + LEFT)
        lines, y = Group(), heads.get_bottom()[1] - 0.18
        cells = [("Spatial structure", "Local filters, reused across the image", "Patches + position; flexible global mixing"),
                 ("The shifted stripe", "The same filter can detect it elsewhere", "Position can change the attention pattern"),
                 ("Learned from data", "Which local filters help", "Which patch relations help")]
        rules, extras = Group(), Group()
        air = 0.14 if found else 0.42
        for i, texts in enumerate(cells):
            rules.add(Line([xs[0], y, 0], [STAGE.right, y, 0], stroke_width=1.6, color=theme.LINE))
            line = Group(*(words(t, theme.LABEL, theme.GREY if j == 0 else theme.INK, bold=j == 0, width=w).move_to([x, y - air, 0], aligned_edge=UP + LEFT)
                           for j, (t, x, w) in enumerate(zip(texts, xs, wide))))
            y = line.get_bottom()[1] - air
            if i == 1 and found is not None:
                extras.add(self.features_(found, xs[1], y, wide[1]), self.attention(found, xs[2], y))
                y = min(e.get_bottom()[1] for e in extras) - 0.12
            lines.add(line)
        self.step(FadeIn(idea))
        self.step(FadeIn(example), photos[0], FadeIn(names[0]))
        self.go(*draw(arrow(photos[0], photos[1], LOCAL, side=DOWN, gap=0.04)), Emerge(photos[1], photos[0]), FadeIn(names[1]))
        self.step(FadeIn(ask), FadeIn(heads), FadeIn(rules[0]), *write(*lines[0]))
        self.step(FadeIn(rules[1]), *write(*lines[1]), *(FadeIn(m) for m in marks))
        self.go(*(FadeIn(e) for e in extras))
        self.step(FadeIn(rules[2]), *write(*lines[2]))

    def name(self, text, photo):
        return words(text, theme.SMALL, bold=True, width=1.5).next_to(photo, RIGHT, buff=0.18)

    def features_(self, found, x, y, width):
        """The patch projection's features of the stripe's middle patch at both places."""
        lines = Group()
        for view in (found.before, found.after):
            name = words(view.attention.query, theme.SMALL, bold=True)
            lines.add(Group(name, Strip(view.content, width=width - 0.95, height=0.24).next_to(name, RIGHT, buff=0.12)))
        for line in lines:
            line[1].align_to([x + 0.8, 0, 0], LEFT)
            line[0].align_to([x, 0, 0], LEFT)
        lines.arrange(DOWN, buff=0.1, aligned_edge=LEFT)
        first, then = vec(found.before.content), vec(found.after.content)
        text = f"first three: {first}" if first == then else f"{first} and {then}"
        note = words(text, theme.SMALLEST_PX, theme.GREY, width=width)
        return Group(lines, note.next_to(lines, DOWN, buff=0.06).align_to(lines, LEFT)).move_to([x, y, 0], aligned_edge=UP + LEFT)

    def attention(self, found, x, y):
        """What the middle patch reads at both places, on one scale."""
        scale = max(v.attention.largest for v in (found.before, found.after))
        cards = Group()
        for view, place in ((found.before, stripe.BEFORE), (found.after, stripe.AFTER)):
            photo = Photograph(self.run, side=1.4, image=stripe.picture(place, self.model.grid, self.model.patch))
            cards.add(Group(photo, photo.veil(0.55), photo.heat(view.attention.values[1:], scale, theme.TEAL), photo.patch(view.attention.query, width=2.5)))
        cards.arrange(RIGHT, buff=0.2)
        note = words(f"block 1 · head 1 · 0–{pct(scale)}", theme.SMALLEST_PX, theme.GREY).next_to(cards, DOWN, buff=0.05).align_to(cards, LEFT)
        return Group(cards, note).move_to([x, y, 0], aligned_edge=UP + LEFT)


class StartingPoint(Compare):
    route = "reference/s05/5"

    def title(self):
        return "Which is a sensible starting point?"

    def caption(self):
        return ("No ranking, only where to begin. On a small dataset good pretraining can count for more than the architecture’s name. Compare on one "
                "validation set; time and memory on your own device.")

    def notes(self):
        return ("Give the class our own case: few labelled pets, pretrained weights within reach. Which column? Either; take suitable checkpoints, adapt "
                "them, validate. Few labels do not rule out a pretrained ViT. For a phone, measure the delay and the memory before you believe that one of "
                "them is always faster.")

    def build(self):
        head = words("Practical starting points · validate on your task and hardware.", theme.LABEL, theme.GREY).move_to([STAGE.left, STAGE.top, 0],
                                                                                                              aligned_edge=UP + LEFT)
        xs = (STAGE.left, STAGE.left + 4.1, STAGE.left + 8.75)
        wide = (3.8, 4.35, STAGE.right - xs[2])
        y = head.get_bottom()[1] - 0.2
        heads = Group(*(words(t, theme.BODY, c, bold=True).move_to([x, y, 0], aligned_edge=UP + LEFT)
                        for t, c, x in (("Your situation", theme.GREY, xs[0]), ("CNN", LOCAL, xs[1]), (VIT, theme.TEAL, xs[2]))))
        cells = [("Few labels; train from scratch", "Useful baseline: built-in local reuse", "Pay close attention to the training recipe"),
                 ("Few labels; pretrained weights", "Fine-tune a suitable pretrained CNN", "Fine-tune a suitable pretrained ViT"),
                 ("Phone or tight latency budget", "Try a compact CNN; measure on the device", "Try an efficient ViT; measure on the device"),
                 ("Distant clues across the image", "Use enough depth for broad context", "Global attention links distant patches directly")]
        y = heads.get_bottom()[1] - 0.12
        foot = words("Compare validation accuracy, speed and memory under the same budget.", theme.BODY, bold=True)
        foot.move_to([STAGE.left, STAGE.bottom + 0.05, 0], aligned_edge=DOWN + LEFT)
        step = (y - foot.get_top()[1] - 0.15) / len(cells)
        lines = Group()
        for i, texts in enumerate(cells):
            top = y - i * step
            line = Group(Line([STAGE.left, top, 0], [STAGE.right, top, 0], stroke_width=1.6, color=theme.LINE))
            icon = self.icon(i).move_to([xs[0] + 0.35, top - step / 2, 0])
            line.add(icon)
            for j, (t, x, w) in enumerate(zip(texts, xs, wide)):
                text = words(t, theme.LABEL, bold=j == 0, width=w - (0.9 if j == 0 else 0))
                line.add(text.move_to([x + (0.9 if j == 0 else 0), top - step / 2, 0], aligned_edge=LEFT))
            lines.add(line)
        self.step(FadeIn(head), FadeIn(heads))
        for line in lines:
            self.step(FadeIn(line[0]), FadeIn(line[1]), *write(*line[2:]), lag_ratio=0.15)
        self.go(*write(foot))

    def icon(self, number):
        """Few pictures; a trained network; a phone; two places far apart."""
        if number == 0:
            return Group(*(panel(0.26, 0.26, theme.BLUE, theme.tint(theme.BLUE, 0.2)) for _ in range(2))).arrange(RIGHT, buff=0.08)
        if number == 1:
            return Net((2, 3, 2), True, width=0.6, radius=0.06, gap=0.06)
        if number == 2:
            body = panel(0.32, 0.56, theme.INK, theme.PAPER)
            return Group(body, Circle(radius=0.03, stroke_width=0, fill_color=theme.INK, fill_opacity=1).move_to(body.get_bottom() + 0.07 * UP))
        board = panel(0.6, 0.5, theme.GREY, theme.PAPER)
        ends = [board.get_corner(UP + LEFT) + 0.11 * (RIGHT + DOWN), board.get_corner(DOWN + RIGHT) + 0.11 * (LEFT + UP)]
        return Group(board, Line(*ends, color=theme.TEAL, stroke_width=2.5), *(Dot(e, radius=0.05, color=theme.TEAL) for e in ends))
