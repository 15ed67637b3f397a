"""Main lecture, fifth question: predict a class, and ask what the prediction rests on."""

from manim import TransformFromCopy

from scenes.kit import *  # noqa: F403 - the kit is the vocabulary of a storyboard
from vit_data import figures, rows
from vit_data.run import Vector


class PredictPage(Talk):
    @property
    def word(self):
        return figures.picture_word(self.run, "dog")

    @property
    def h(self):
        return self.dog.h or Vector.unknown(self.model.width)

    @property
    def target(self):
        return self.dog.covers.target

    def covered(self, cover, side):
        """The picture with its grey rectangle, as a group of the two."""
        photo = Photograph(self.run, side=side)
        return Group(photo, photo.cover(cover, self.dog.covers.fill))

    def change(self, cover):
        """A change in points with its colour: red where the probability falls, blue where it rises."""
        return words(f"{points(cover.points)} points", theme.CAPTION, theme.RED if cover.points < 0 else theme.BLUE, bold=True)

    def moved(self, value):
        """How far the probability went, in words."""
        size = points(abs(value), sign=False)
        return f"lower by {size} points" if value < 0 else f"higher by {size} points"


class ReadFinalCls(PredictPage):
    route = "lecture/s06/1"

    def title(self):
        return "After the blocks, read the updated CLS embedding"

    def caption(self):
        return "Selecting the row changes nothing in it. The patch rows are still there; the class head does not use them."

    def says(self):
        m = self.model
        return [f"All {m.depth} blocks are done. We have {m.tokens} updated rows: CLS on top and {m.patches} patches under it.",
                f"The checkpoint was trained to read one of them. We take the CLS row, {m.width} numbers, and leave the rest where it is.",
                f"This row is the image embedding: what the model knows of our {self.word}, in {m.width} features. No row is averaged, none is thrown away; "
                "the others have done their part when CLS read them, block after block. What follows is small: one linear layer, the class head."]

    def build(self):
        m = self.model
        cls = Strip(self.h, width=5.0, height=0.75)
        lanes = Group(row(Box(words("CLS", theme.BODY, "#FFFFFF", bold=True), color=theme.BLUE, width=1.3, height=0.75, fill=1.0), cls, gap=0.2))
        photo = Photograph(self.run, side=1.0)
        for n in (1, None, m.patches):
            if n is None:
                lanes.add(words("⋮", theme.CAPTION, theme.GREY))
                continue
            final = self.dog.depth.norm.get(rows.name(n)) if self.dog.depth else None
            lanes.add(
                row(
                    words(rows.name(n), theme.BODY, theme.GREY),
                    photo.crop(n, 0.62, theme.BLUE),
                    Strip(final or Vector.unknown(m.width), width=5.0, height=0.42),
                    gap=0.2,
                )
            )
        lanes.arrange(DOWN, buff=0.32, aligned_edge=RIGHT)
        lanes[2].set_x(cls.get_x())
        lanes.move_to([STAGE.left + 3.4, STAGE.center[1] - 0.25, 0])
        head = words(f"after all {m.depth} blocks", theme.CAPTION, theme.GREY).next_to(lanes, UP, buff=0.16)
        embedding = Strip(self.h, width=3.4, height=0.85).move_to([STAGE.right - 1.7, lanes[0].get_y(), 0])
        name = column(words("one image embedding", 44, theme.BLUE, bold=True), words(f"{m.width} features", theme.CAPTION), gap=0.05).next_to(
            embedding, DOWN, buff=0.3
        )
        follow = Box(words("class head next", theme.CAPTION, theme.INK, bold=True), color=theme.INK, width=3.4, height=0.9, fill=0.03).move_to(
            [embedding.get_x(), STAGE.bottom + 0.75, 0]
        )
        self.step(*write(head, *lanes), lag_ratio=0.15)
        mark = outline(cls, theme.AMBER, 5, pad=0.06)
        way = arrow(cls.get_right() + 0.06 * RIGHT, embedding.get_left(), theme.BLUE, width=5)
        self.step(Create(mark), *draw(way))
        self.go(TransformFromCopy(cls, embedding), FadeIn(words("read final CLS", theme.BODY, theme.BLUE).next_to(way, UP, buff=0.12)))
        self.step(*write(*name), *draw(arrow(name, follow, theme.INK, side=DOWN)), FadeIn(follow))


class ScoreAllClasses(PredictPage):
    route = "lecture/s06/2"

    def title(self):
        return f"How do {self.model.width} features score {count(self.model.classes)} classes?"

    def caption(self):
        return "Attention’s softmax shares weight among source tokens; this one shares probability among classes."

    def says(self):
        m = self.model
        return [
            f"The image embedding has {m.width} features.",
            f"The class head is a linear layer: for each of {count(m.classes)} classes it holds {m.width} weights and a bias. Each class gets one weighted sum, its logit.",
            "Here are all of them, one thin column for each class. Logits can be negative, and they do not sum to anything.",
            "Softmax turns them into probabilities that sum to one. The largest logit becomes the largest probability; it only stands out more. That class is the prediction.",
        ]

    def build(self):
        m, p = self.model, self.dog.prediction
        y = STAGE.center[1] + 0.25
        h = Strip(self.h, width=3.2, height=0.5).rotate(1.5708).move_to([STAGE.left + 0.55, y, 0])
        name = column(words("$h_upright(\"CLS\")$", 44, theme.BLUE), words(f"{m.width}", theme.BODY, theme.GREY), gap=0.02).next_to(h, DOWN, buff=0.14)
        layer = Box(words(f"Linear({m.width}, {m.classes})", theme.CAPTION, theme.BLUE, bold=True), width=2.9, height=1.5).move_to([STAGE.left + 2.95, y, 0])
        soft = Box(words("softmax", theme.CAPTION, theme.BLUE, bold=True), words("across classes", theme.LABEL, theme.GREY), width=2.0, height=1.5).move_to(
            [STAGE.left + 8.8, y, 0]
        )
        logits, probabilities = (
            all_scores(p.logits, 2.2, 2.6).move_to([STAGE.left + 6.1, y, 0]),
            all_scores(p.probabilities, 2.2, 2.6).move_to([STAGE.right - 1.1, y, 0]),
        )
        labels = [
            words(t, theme.BODY, bold=True).next_to(part, DOWN, buff=0.14)
            for t, part in ((f"{count(m.classes)} logits", logits), (f"{count(m.classes)} probabilities", probabilities))
        ]
        self.step(FadeIn(h), *write(name))
        into = arrow(h, layer, gap=0.15)
        self.step(*draw(into), FadeIn(layer))
        self.step(pulse(into, theme.BLUE), *draw(arrow(layer, logits)), Emerge(logits, layer), FadeIn(labels[0]))
        self.step(*draw(arrow(logits, soft)), FadeIn(soft))
        self.go(
            *draw(arrow(soft, probabilities)),
            Emerge(probabilities, soft),
            FadeIn(labels[1].align_to([STAGE.right, 0, 0], RIGHT) if labels[1].get_right()[0] > STAGE.right else labels[1]),
        )


class OurPrediction(PredictPage):
    route = "lecture/s06/3"

    def title(self):
        return f"What does the model predict for our {self.word}?"

    def caption(self):
        rest = self.dog.prediction.rest
        others = f"; all other classes together get {pct(rest)}" if rest is not None else ""
        return f"Measured in this run{others}. One probability is not an accuracy."

    def says(self):
        first, second, third = self.dog.prediction.top[:3]
        outcome = {
            True: "The breed of this animal is known, and the model is right.",
            False: "The breed of this animal is known, and the model is wrong.",
            None: "We do not know the true breed here.",
        }[self.dog.prediction.correct]
        return [
            f"So, what did it say? The first place: {first.label}, with {pct(first.probability)}. {outcome}",
            f"Second comes {second.label}, with {pct(second.probability)}.",
            f"And third, {third.label}, with {pct(third.probability)}. What remains is spread over the other {count(self.model.classes - 3)} classes. "
            "Be careful with such a number. It says how the model divides one unit of belief for one picture. It does not say how often the model is right.",
        ]

    def build(self):
        photo = STAGE.place(Photograph(self.run, side=4.7), LEFT)
        top = self.dog.prediction.top[:3]
        bars = Bars(top, width=4.1, height=0.62, size=44, gap=0.62, above=max(len(s.label) for s in top) > 16)
        right = Area(photo.get_right()[0] + 0.6, STAGE.bottom, STAGE.right, STAGE.top)
        right.place(bars)
        self.step(photo)
        self.go(*bars.grow(0), run_time=1.0)
        self.step(*bars.grow(1), run_time=0.9)
        self.step(*bars.grow(2), run_time=0.9)


class HideOneQuarter(PredictPage):
    route = "lecture/s06/4"

    def title(self):
        return "What happens if we hide one quarter of the image?"

    def caption(self):
        return f"A test from outside: we change pixels and watch the probability of {self.target.label}."

    def says(self):
        cover = self.dog.covers.quadrants[0]
        return [
            f"A prediction does not say what it rests on. So let us do an experiment. The uncovered picture gave {pct(self.target.probability)} for {self.target.label}.",
            f"Now we cover the {cover.name} quarter with gray, {cover.height} by {cover.width} pixels, and leave the rest as it is.",
            "The same model, the same weights, only other pixels. Decide before we look: will the label stay? Will the probability fall, stay, or perhaps rise? "
            "This is another kind of question than attention maps answer: they show what happens inside, a cover tests what comes out.",
        ]

    def build(self):
        cover = self.dog.covers.quadrants[0]
        original, hidden = Photograph(self.run, side=3.6), self.covered(cover, 3.6)
        cards = row(
            column(original, words(pct(self.target.probability), 64, bold=True), gap=0.16),
            column(hidden, words("?", 64, theme.AMBER, bold=True), gap=0.16),
            gap=1.5,
        )
        ask = column(words("same label?", 48, theme.BLUE, bold=True), words("same probability?", 48, theme.BLUE, bold=True), gap=0.3, align=LEFT)
        STAGE.place(row(cards, ask, gap=0.9))
        self.step(original, *write(cards[0][1]))
        way = arrow(original, hidden)
        self.step(*draw(way), Emerge(hidden[0], original))
        self.go(FadeIn(hidden[1], scale=0.7))
        self.step(*write(cards[1][1], *ask), lag_ratio=0.2)


class RunItAgain(PredictPage):
    route = "lecture/s06/5"

    def title(self):
        return "Change the pixels, then run the model again"

    def caption(self):
        cover = self.dog.covers.quadrants[0]
        label = f"still {self.target.label}" if cover.keeps else f"now {cover.label.label}"
        return f"The answer is {label}, and the probability of {self.target.label} is {self.moved(cover.points)}."

    def says(self):
        cover, t = self.dog.covers.quadrants[0], self.model.transform
        return [
            f"The whole experiment is six lines. Copy the input, write zeros into the first {cover.height} rows and columns, and ask again for the probability of {self.target.label}.",
            f"Zero is gray here, not black, because the input was normalized with mean {num(t.mean[0], 1)}. Above, the original: {pct(self.target.probability)}.",
            f"Below, the covered copy through the same model: {pct(cover.probability)}. Nothing was trained in between. All {self.model.patches} patches went in both times; "
            "some of them are merely gray.",
        ]

    def program(self):
        """What the page shows, and what a test runs: ``model`` and ``x`` are given."""
        cover, index = self.dog.covers.quadrants[0], self.target.index
        return ("covered = x.clone()\n"
                f"covered[:, :, :{cover.height}, :{cover.width}] = 0\n"
                "with torch.inference_mode():\n"
                "    before, after = model(x), model(covered)\n"
                f"p_before = before.softmax(-1)[0, {index}]\n"
                f"p_after = after.softmax(-1)[0, {index}]")

    def build(self):
        cover = self.dog.covers.quadrants[0]
        listing = Code(self.program(), 34, width=8.2)
        listing.move_to([STAGE.left + 4.1, STAGE.center[1], 0])
        lanes = []
        for hidden, y, p in ((None, STAGE.top - 1.15, self.target.probability), (cover, STAGE.bottom + 1.15, cover.probability)):
            shown = self.covered(hidden, 1.9) if hidden else Group(Photograph(self.run, side=1.9))
            shown.move_to([STAGE.left + 9.6, y, 0])
            vit = Box("ViT", width=1.05, height=0.9, size=theme.CAPTION).move_to([STAGE.left + 12.1, y + 0.45, 0])
            value = words(pct(p), 44, bold=True).move_to([vit.get_x(), y - 0.68, 0])
            lanes.append(
                (
                    shown,
                    vit,
                    value,
                    arrow([shown.get_right()[0], vit.get_y(), 0], vit.get_left(), gap=0.08),
                    arrow(vit.get_bottom(), [vit.get_x(), value.get_top()[1], 0], gap=0.06),
                )
            )
        self.step(FadeIn(listing))
        self.go(FadeIn(listing.mark(1)))
        for shown, vit, value, a, b in lanes:
            self.step(FadeIn(shown), *draw(a), FadeIn(vit))
            self.go(*draw(b), FadeIn(value, shift=0.15 * DOWN))


class EachQuarter(PredictPage):
    route = "lecture/s06/6"

    def title(self):
        return "Cover each quarter, then compare predictions"

    def caption(self):
        covers = self.dog.covers
        worst = covers.worst_quadrant
        kept = figures.how_many(covers.quadrants_keep, len(covers.quadrants))
        effect = (
            f"The {worst.name} costs most, {points(abs(worst.points), sign=False)} points"
            if worst.points < 0
            else f"No cover lowers the probability; the {worst.name} raises it least"
        )
        return f"{effect}; {kept} covered pictures {'keeps' if covers.quadrants_keep == 1 else 'keep'} the label."

    def says(self):
        covers = self.dog.covers
        worst = covers.worst_quadrant
        largest = (
            f"The largest fall of the four comes from the {worst.name}, {points(abs(worst.points), sign=False)} points."
            if worst.points < 0
            else "None of the four lowers the probability."
        )
        return [
            f"We do the same with each quarter in turn, always starting from the fresh original with {pct(self.target.probability)}.",
            f"The upper two: {pct(covers.quadrants[0].probability)} and {pct(covers.quadrants[1].probability)}.",
            f"The lower two: {pct(covers.quadrants[2].probability)} and {pct(covers.quadrants[3].probability)}. {largest}",
            "What may we conclude? That the answer is sensitive to these pixels being replaced by gray. Not that an ear or an eye is the reason; a gray square is also something that the model never saw.",
        ]

    def build(self):
        covers = self.dog.covers
        original = column(
            Photograph(self.run, side=2.9), words("original", theme.CAPTION, theme.GREY), words(pct(self.target.probability), 56, bold=True), gap=0.1
        )
        original.move_to([STAGE.left + 1.5, STAGE.center[1], 0])
        cards = []
        for cover in covers.quadrants:
            text = column(words(cover.name, theme.CAPTION, theme.GREY), words(pct(cover.probability), 50, bold=True), self.change(cover), gap=0.04, align=LEFT)
            cards.append(row(self.covered(cover, 2.25), text, gap=0.28))
        right = Area(original.get_right()[0] + 0.7, STAGE.bottom, STAGE.right, STAGE.top)
        right.place(grid([cards[:2], cards[2:]], gap=(0.45, 0.35)))
        self.step(original)
        for pair in (cards[:2], cards[2:]):
            self.step(*(FadeIn(c[0]) for c in pair), *write(*(t for c in pair for t in c[1])), lag_ratio=0.08)
        worst = next(i for i, c in enumerate(covers.quadrants) if c.name == covers.quadrant_largest)
        self.step(FadeIn(outline(cards[worst][0][0], theme.RED if covers.quadrants[worst].points < 0 else theme.BLUE, 6, pad=0.05)))


class SmallerCovers(PredictPage):
    route = "lecture/s06/7"

    def title(self):
        return "Would smaller covers tell us more?"

    def caption(self):
        worst = self.dog.covers.patches.largest
        effect = f"Largest local drop: {worst.name}" if worst.points < 0 else f"No patch lowers it; smallest rise: {worst.name}"
        return f"{effect}, {points(worst.points)} points. A map of changed probabilities, not of attention."

    def says(self):
        tests = self.dog.covers.patches
        worst = tests.largest
        effect = (
            f"costs most, {points(abs(worst.points), sign=False)} points"
            if worst.points < 0
            else f"raises the probability least, by {points(worst.points, sign=False)} points"
        )
        kept = (
            "the label never changes" if tests.keep == tests.count else f"{count(tests.count - tests.keep)} of the {count(tests.count)} covers change the label"
        )
        return [
            f"Now the cover is a single patch. Here it hides {worst.name}, and the probability goes from {pct(self.target.probability)} to {pct(worst.probability)}.",
            f"We can do this for every patch, {count(tests.count)} separate pictures and {count(tests.count)} separate answers. Red means the probability fell, blue that it rose.",
            f"Of all single patches this one {effect}, and {kept}. A pale square does not prove that its patch is useless: other patches may carry the same clue. "
            "And the changes do not add up to a whole.",
        ]

    def build(self):
        tests = self.dog.covers.patches
        worst = tests.largest
        falls = worst.points < 0
        hidden = self.covered(worst, 3.3)
        one = column(
            words(f"cover {worst.name}", 44, bold=True),
            hidden,
            words(f"{pct(self.target.probability)} → *{pct(worst.probability)}*", 44),
            self.change(worst),
            gap=0.12,
        )
        one.move_to([STAGE.left + 1.9, STAGE.center[1], 0])
        view = MapView(self.run, tests.points and [-p for p in tests.points], tests.scale, (theme.BLUE, theme.RED), side=4.4)
        head = words(f"{count(tests.count)} separate tests", 44, bold=True)
        column(head, view, gap=0.12).move_to([STAGE.left + 6.9, STAGE.center[1], 0])
        end = f"{tests.scale:g}"
        legend = column(
            words("red: falls", theme.CAPTION, theme.RED, bold=True),
            words("blue: rises", theme.CAPTION, theme.BLUE, bold=True),
            column(
                scale_bar(f"{MINUS}{end}", f"+{end}", (theme.RED, theme.BLUE), width=1.7, size=theme.LABEL), words("points", theme.LABEL, theme.GREY), gap=0.06
            ),
            gap=0.35,
        )
        fit(legend, 2.6, STAGE.height).move_to([STAGE.right - 1.35, STAGE.center[1], 0])
        mark = hidden[0].patch(worst.name, theme.RED if falls else theme.BLUE, 3)
        self.step(hidden[0], FadeIn(hidden[1], scale=2.5), FadeIn(mark), *write(one[0], *one[2:]))
        self.step(view.photo, *write(head))
        self.go(*view.reveal(), *write(*legend))
        self.step(FadeIn(view.photo.patch(worst.name, theme.INK, 4)))
