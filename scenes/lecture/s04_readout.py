"""Main lecture, third question: choose a readout."""

from manim import TransformFromCopy

from scenes.kit import *  # noqa: F403 - the kit is the vocabulary of a storyboard
from scenes.lecture.questions import Progress
from vit_data import figures, rows
from vit_data.run import Vector

SENTENCE = "Raghav goes to school".split()


def cls_tile(side=0.95, color=theme.AMBER, text="CLS", size=theme.BODY):
    """The CLS token as a tile: amber while it is the learned start, in the input's colour once it has read it."""
    return Box(words(text, size, "#FFFFFF", bold=True), color=color, width=side, height=side, fill=1.0)


class ReadoutPage(Talk):
    def blank(self):
        return Vector.unknown(self.model.width)

    def summary(self, subject):
        """The picture's final CLS row."""
        return getattr(self.run, subject).h or self.blank()


class OneLabelFromMany(ReadoutPage):
    route = "lecture/s04/1"

    def title(self):
        return "Many patch representations, one image label"

    def caption(self):
        return "Mean pooling is another valid readout; this checkpoint uses CLS."

    def says(self):
        m = self.model
        return [f"At the end of the encoder there will be one row for each patch, {m.patches} of them.",
                "But the task asks for one label for the whole image. A patch of background and a patch of fur can hardly both decide alone.",
                "One could take the mean of all rows, and models that were trained that way do well. Our checkpoint was trained another way: "
                "it carries one extra row from the start whose only task is to collect what the label needs. It is called CLS, and this is what we follow."]

    def build(self):
        m = self.model
        photo = Photograph(self.run, side=2.8).move_to([STAGE.left + 1.4, STAGE.center[1], 0])
        lanes = Group()
        for n in (1, self.dog.photo.places["nose"], None, m.patches):
            if n is None:
                lanes.add(words("⋮", theme.CAPTION, theme.GREY))
                continue
            lanes.add(
                row(photo.crop(n, 0.8, theme.BLUE), Strip(self.dog.patches[rows.name(n)].c, width=2.1, height=0.55), words(f"patch {n}", theme.BODY), gap=0.25)
            )
        lanes.arrange(DOWN, buff=0.3, aligned_edge=LEFT).move_to([photo.get_right()[0] + 0.45, STAGE.center[1], 0], aligned_edge=LEFT)
        lanes[2].set_x(lanes[0][1].get_x())
        readout = Box(
            words("which", 44, theme.AMBER, bold=True), words("readout?", 44, theme.AMBER, bold=True), color=theme.AMBER, width=2.0, height=1.6
        ).move_to([STAGE.right - 3.6, STAGE.center[1], 0])
        label = words("one image\nlabel", 44, theme.BLUE, bold=True).move_to([STAGE.right - 0.95, STAGE.center[1], 0])
        self.step(photo, *(Emerge(lane, photo) for lane in lanes if isinstance(lane, Group) and len(lane) == 3), FadeIn(lanes[2]))
        fan = [
            arrow([lanes.get_right()[0], lane.get_y(), 0], readout.get_left() + dy * UP, theme.BLUE, gap=0.1)
            for lane, dy in ((lanes[0], 0.25), (lanes[1], 0.08), (lanes[3], -0.25))
        ]
        self.step(*draw(*fan), FadeIn(readout))
        self.step(*draw(arrow(readout, label, gap=0.15)), FadeIn(label, shift=0.2 * RIGHT))


class SameClsIdea(ReadoutPage):
    route = "lecture/s04/2"

    def title(self):
        return "Same CLS idea, different input tokens"

    def caption(self):
        return "CLS starts as learned numbers, in amber. What it ends as depends on the input."

    def says(self):
        return [
            "You know this from text. In front of the words stands an extra token, CLS. It goes through the encoder with them, and its final row is what the classifier reads.",
            "For an image nothing changes but the tokens: CLS in front, and patches where the words were.",
            "Amber means learned, the same for every input. After the encoder the row takes the colour of what it has read: "
            "purple for the sentence, blue for the image. So one token, which belongs to no word and to no patch, ends up with the summary of them all.",
        ]

    def build(self):
        photo = Photograph(self.run, side=1.0)
        ys = [STAGE.top - 1.35, STAGE.bottom + 1.35]
        text = Group(*(Box(w, color=theme.PURPLE, height=0.95, size=theme.BODY, pad=0.2, fill=0.14) for w in SENTENCE))
        image = Group(
            *(photo.crop(n, 0.95, theme.BLUE) for n in (1, self.dog.photo.places["nose"])),
            words("…", 44, theme.GREY),
            photo.crop(self.model.patches, 0.95, theme.BLUE),
        )
        for y, name, color, tokens in zip(ys, ("TEXT", "IMAGE"), (theme.PURPLE, theme.BLUE), (text, image)):
            head = words(name, theme.CAPTION, color, bold=True).move_to([STAGE.left, y + 0.95, 0], aligned_edge=LEFT)
            line = Group(cls_tile(), *tokens).arrange(RIGHT, buff=0.16).move_to([STAGE.left, y, 0], aligned_edge=LEFT)
            encoder = Box("encoder", color=color, width=2.1, height=1.3, size=theme.CAPTION).move_to([STAGE.left + 7.7, y, 0])
            final = cls_tile(1.35, color, "final CLS").move_to([STAGE.left + 10.5, y, 0])
            label = words("class", 44, bold=True).move_to([STAGE.right - 0.75, y, 0])
            into = arrow([line.get_right()[0], y, 0], encoder.get_left(), color)
            self.step(*write(head), *write(*line), lag_ratio=0.1)
            self.go(*draw(into), FadeIn(encoder))
            if name == "TEXT":
                self.finish(encoder, final, label, color)
            else:
                self.step(pulse(into, color))
                self.finish(encoder, final, label, color)

    def finish(self, encoder, final, label, color):
        self.go(*draw(arrow(encoder, final, color)), FadeIn(final))
        self.go(*draw(arrow(final, label)), FadeIn(label))


class SameStart(ReadoutPage):
    route = "lecture/s04/3"

    def title(self):
        return "Every image starts with the same learned CLS vector"

    def caption(self):
        return f"{self.model.width} stored numbers, learned in training, copied in front of every image."

    def says(self):
        words_ = {figures.picture_word(self.run, s) for s in ("dog", "cat")}
        both = f"Both {words_.pop()}s" if len(words_) == 1 else "Both pictures"
        return [
            f"Here is that starting row: {self.model.width} numbers that are stored in the checkpoint. They were learned, and since then they do not change.",
            "For the dog a copy of it is put in front of the patch rows.",
            f"For the cat, exactly the same copy. {both} begin with the same CLS, the same table of positions and the same weights. The only thing that differs is the pixels. "
            "Keep that in mind, because at the other end the two rows will not be the same any more.",
        ]

    def build(self):
        start = self.dog.cls.s if self.dog.cls else self.blank()
        strip = Strip(start, theme.AMBER, 5.4, 0.85).move_to([STAGE.center[0], STAGE.top - 1.1, 0])
        head = words("one learned CLS start", 44, theme.AMBER, bold=True).next_to(strip, UP, buff=0.14)
        note = words(f"{self.model.width} stored numbers", theme.BODY, theme.GREY).next_to(strip, RIGHT, buff=0.35)
        self.step(FadeIn(strip), *write(head, note))
        for subject, x, inner in (("dog", STAGE.left + 1.9, RIGHT), ("cat", STAGE.right - 1.9, LEFT)):
            photo = Photograph(self.run, subject, side=2.55).move_to([x, STAGE.bottom + 1.3, 0])
            copy = Strip(start, theme.AMBER, 2.0, 0.5).next_to(photo, inner, buff=0.4)
            name = words(f"CLS + {subject}", theme.BODY).next_to(copy, DOWN, buff=0.12)
            way = arrow(strip.get_bottom() + 0.5 * (LEFT if subject == "dog" else RIGHT), copy.get_top(), theme.AMBER, gap=0.12)
            self.step(photo, *draw(way), TransformFromCopy(strip, copy), FadeIn(name))


class DependsOnTheImage(ReadoutPage):
    route = "lecture/s04/4"

    def title(self):
        return "After the encoder, CLS depends on the image"

    def caption(self):
        return "Same start, same encoder, other patch rows: two different summaries."

    def says(self):
        return [
            "Two copies of the same model, if you like. On the left stand the same CLS start and the rows of the two pictures.",
            "Both go through the same encoder, with the same weights.",
            f"And here is what comes out in the place of CLS: two rows of {self.model.width} features, measured from this run. Compare their stripes; "
            "they began as one and the same row, and now they differ, because CLS has read different patches on its way. Each is the model’s summary of its image.",
        ]

    def build(self):
        encoder = Box(
            words("same encoder", theme.CAPTION + 4, theme.BLUE, bold=True), words(f"{self.model.depth} blocks", theme.BODY, theme.GREY), width=3.0, height=4.5
        ).move_to([STAGE.center[0] + 0.75, STAGE.center[1], 0])
        start = self.dog.cls.s if self.dog.cls else self.blank()
        lanes = []
        for subject, y in (("dog", STAGE.top - 1.25), ("cat", STAGE.bottom + 1.25)):
            photo = Photograph(self.run, subject, side=2.2).move_to([STAGE.left + 3.5, y, 0])
            cls = Strip(start, theme.AMBER, 1.7, 0.5).move_to([STAGE.left + 0.95, y + 0.15, 0])
            same = words("same CLS start", theme.LABEL, theme.AMBER).next_to(cls, DOWN, buff=0.1)
            out = Strip(self.summary(subject), width=3.2, height=0.85).move_to([STAGE.right - 1.6, y, 0])
            name = words(f"{subject} image summary", theme.BODY, theme.BLUE, bold=True).next_to(out, UP, buff=0.12)
            lanes.append(
                (
                    photo,
                    cls,
                    same,
                    out,
                    name,
                    arrow([photo.get_right()[0], y, 0], [encoder.get_left()[0], y, 0], theme.BLUE),
                    arrow([encoder.get_right()[0], y, 0], out.get_left(), theme.BLUE),
                )
            )
        plus = [words("+", 48, theme.GREY).move_to([STAGE.left + 2.08, lane[1].get_y(), 0]) for lane in lanes]
        self.step(*(FadeIn(m) for lane in lanes for m in lane[:3]), *(FadeIn(p) for p in plus))
        self.step(FadeIn(encoder), *draw(*(lane[5] for lane in lanes)))
        self.step(*(pulse(lane[5], theme.BLUE) for lane in lanes))
        self.go(*(a for lane in lanes for a in (*draw(lane[6]), Emerge(lane[3], encoder), *write(lane[4]))))


class ReadsAtEveryBlock(ReadoutPage):
    route = "lecture/s04/5"

    def title(self):
        return "CLS reads the current patch states at every block"

    def caption(self):
        return "In each block CLS reads the patches and the patches read CLS; arrows show what may be read."

    def says(self):
        m = self.model
        return [
            f"The row of CLS and the {m.patches} patch rows enter the first block together. Call that state zero.",
            "Inside the block everybody may read everybody. CLS reads the patches, and the patches read CLS too. All are updated at the same time, from state zero.",
            f"The second block works on the new states, and so on, {figures.number_word(m.depth)} times. So CLS does not collect once at the end; it reads again at every block, "
            "and each time the patches have become wiser as well.",
        ]

    def build(self):
        xs = [STAGE.left + 1.6, STAGE.center[0], STAGE.right - 1.6]
        tops, low = STAGE.top - 0.75, STAGE.bottom + 1.0
        photo = Photograph(self.run, side=1.0)
        columns = []
        for i, x in enumerate(xs):
            cls = cls_tile(1.25, theme.AMBER if i == 0 else theme.BLUE).move_to([x, tops, 0])
            tiles = Group(
                *(photo.crop(n, 0.72, theme.BLUE) for n in (1, self.dog.photo.places["nose"])),
                words("…", theme.CAPTION, theme.GREY),
                photo.crop(self.model.patches, 0.72, theme.BLUE),
            )
            tiles.arrange(RIGHT, buff=0.1).move_to([x, low, 0])
            names = Group(words(f"CLS state {i}", theme.BODY, theme.AMBER if i == 0 else theme.BLUE, bold=True).next_to(cls, DOWN, buff=0.1),
                          words(f"{self.model.patches} patch rows, state {i}", theme.LABEL, theme.BLUE, bold=True).next_to(tiles, DOWN, buff=0.12))
            columns.append(Group(cls, tiles, names))
        self.step(FadeIn(columns[0]))
        for (a, b), name in zip(zip(columns, columns[1:]), ("block", "next block")):
            x0, x1 = a[1].get_right()[0] + 0.15, b[1].get_left()[0] - 0.15
            ca, cb = [a[0].get_right()[0] + 0.15, tops, 0], [b[0].get_left()[0] - 0.15, tops, 0]
            straight = [arrow(ca, cb, theme.SKIP, gap=0, width=2.6), arrow([x0, low, 0], [x1, low, 0], theme.SKIP, gap=0, width=2.6)]
            cross = [
                arrow([x0 - 0.1, low + 0.42, 0], [cb[0], tops - 0.35, 0], theme.TEAL, gap=0, width=4),
                arrow([ca[0], tops - 0.35, 0], [x1 + 0.1, low + 0.42, 0], theme.TEAL, gap=0, width=4),
            ]
            label = words(name, theme.BODY, theme.TEAL, bold=True).move_to([(x0 + x1) / 2, tops + 0.35, 0])
            self.step(*write(label), *draw(*straight))
            self.go(*draw(*cross))
            self.go(TransformFromCopy(a[0], b[0]), TransformFromCopy(a[1], b[1]), FadeIn(b[2]))


class SequenceComplete(ReadoutPage):
    route = "lecture/s04/6"

    def title(self):
        return "We now have the token sequence the encoder needs"

    def caption(self):
        m = self.model
        return f"[CLS; P1; P2; …; {rows.name(m.patches)}] + position → {times(m.tokens, m.width)}"

    def says(self):
        m = self.model
        return [
            f"Back to our line. Patches and projection are behind us: {m.patches} rows of {m.width} features.",
            f"Now CLS is put in front, which makes {m.tokens} rows, and every row gets its position added, CLS too. The matrix is {m.tokens} by {m.width}, and this is the whole input of the encoder.",
            f"From here to the end of the {figures.number_word(m.depth)} blocks its shape does not change. What changes are the numbers in it. How they change is the fourth question, the heart of the matter: how do rows share information?",
        ]

    def build(self):
        line = Progress(self.run, 3).move_to(STAGE.center + 0.2 * DOWN)
        self.step(*write(*line.cards[:3]), *draw(*line.arrows[:2]), lag_ratio=0.15)
        self.step(*draw(line.arrows[2]), FadeIn(line.cards[3], scale=0.8))
        self.go(FadeIn(line.marker, shift=0.2 * UP))
        self.step(*(a for card, way in zip(line.cards[4:], line.arrows[3:]) for a in (*draw(way), FadeIn(card))), lag_ratio=0.15)
