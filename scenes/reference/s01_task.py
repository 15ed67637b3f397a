"""Section 1 of the reference deck: encoders, the pets, and the task (pages 1 to 8)."""

import numpy as np
from manim import GrowFromEdge, Rectangle, Square, TransformFromCopy

from scenes import decks
from scenes.kit import *  # noqa: F403 - the kit is the vocabulary of a storyboard
from vit_data import figures, rows
from vit_data.run import Vector

TEXT = "Raghav goes to school".split()


class OpenTheBoxes(Slide):
    route = "reference/s01/1"

    def title(self):
        return "Optional labs, worked examples and reference diagrams"

    def caption(self):
        pages = sum(s.pages for s in decks.DECKS["lecture"] if s.key != "cover")
        return f"All {pages} slides of the main lecture make sense without a single page from this deck."

    def notes(self):
        sections = self.sections()
        return (
            f"Tell the audience that nothing here is required. The {figures.number_word(len(sections))} boxes are the sections of this deck; each can be opened by itself, "
            "when a question from the main lecture asks for a worked number, a diagram in full or some code to run. We go through them in order."
        )

    def sections(self):
        return [s for s in decks.DECKS["reference"] if s.key != "cover"]

    def build(self):
        sections, columns, gap = self.sections(), 4, 0.22
        lines = -(-(len(sections) + 1) // columns)
        w, h = (STAGE.width - gap * (columns - 1)) / columns, (STAGE.height - gap * (lines - 1)) / lines
        places = [
            np.array([STAGE.left + w / 2 + (w + gap) * (i % columns), STAGE.top - h / 2 - (h + gap) * (i // columns), 0]) for i in range(len(sections) + 1)
        ]
        sign = Group(
            panel(w, h, theme.BLUE, theme.BLUE),
            column(
                words("OPTIONAL", theme.CAPTION, "#FFFFFF", bold=True),
                words("REFERENCE DECK", theme.BODY, "#FFFFFF", bold=True),
                words("Open a box whenever\nyou need its details.", theme.SMALL + 1, "#DCE7FB"),
                gap=0.1,
            ),
        ).move_to(places[0])
        lids, numbers, inside = Group(), Group(), Group()
        for place, section in zip(places[1:], sections):
            number, _, name = section.name.partition(" · ")
            lids.add(panel(w, h, theme.tint(theme.BLUE, 0.35), theme.tint(theme.BLUE, 0.2)).move_to(place))
            numbers.add(words(number, 64, theme.BLUE, bold=True).move_to(place))
            text = column(words(name, theme.LABEL, bold=True, width=w - 0.95), words(f"{section.pages} pages", theme.SMALL, theme.GREY), gap=0.08, align=LEFT)
            inside.add(text.move_to([place[0] - w / 2 + 0.78, place[1], 0], aligned_edge=LEFT))
        self.step(sign)
        self.step(*(FadeIn(Group(lid, number), shift=0.12 * UP) for lid, number in zip(lids, numbers)), lag_ratio=0.08, run_time=1.2)
        self.step(
            LaggedStart(
                *(
                    AnimationGroup(
                        lid.animate.set_fill(theme.tint(theme.BLUE, 0.04)), number.animate.scale(0.72).move_to(lid.get_left() + 0.42 * RIGHT), FadeIn(text)
                    )
                    for lid, number, text in zip(lids, numbers, inside)
                ),
                lag_ratio=0.18,
                run_time=2.0,
            )
        )


class ThreeFamilies(FamiliesPage):
    route = "reference/s01/2"

    def title(self):
        return "We already know how an encoder builds context"

    def caption(self):
        return ("Of the three we reuse the encoder at the left: patches of a picture take the place of words, and the vector that it ends with "
                "predicts one label.")

    def notes(self):
        return ("Ask which of the three reads a finished input and gives a vector back for every token. That is the encoder: its square of who reads whom is "
                "full. A decoder sees only what came before and repeats one prediction after the other; an encoder–decoder adds a second path, from the "
                "source into the target. Then swap the words of the left card for patches: that is a ViT.")


class EncoderOverPatches(Slide):
    route = "reference/s01/3"

    def title(self):
        return "A ViT is an encoder over image patches"

    def caption(self):
        return ("Words or patches: attention builds context over either row of tokens. What feeds the encoder, and what reads it out, "
                "is chosen for the task.")

    def notes(self):
        return ("Let the class compare the two lines column by column. What had to be exchanged is the start, words against patches, and the labels at the "
                "end. Attention, MLPs, skip paths and normalization stay what they were. Both classifiers read the final row of CLS, the token that "
                "belongs to no word and to no patch.")

    def build(self):
        y = (STAGE.top - 1.05, STAGE.top - 3.35)
        legend = row(
            *(
                row(Square(0.26, stroke_width=0, fill_color=c, fill_opacity=1), words(t, theme.LABEL, theme.GREY), gap=0.14)
                for c, t in ((theme.BLUE, "Blue: vision states"), (theme.PURPLE, "Purple: language states"), (theme.AMBER, "Amber: learned CLS / position"))
            ),
            gap=0.7,
        )
        legend.move_to([STAGE.center[0], STAGE.bottom + 0.18, 0])
        text, image = self.text_row(y[0]), self.image_row(y[1])
        photo = Photograph(self.run, side=1.5).move_to([STAGE.left + 0.75, y[1] - 0.14, 0])
        heads = Group(
            *(
                words(t, theme.BODY, c, bold=True).move_to([STAGE.left, h + 0.78, 0], aligned_edge=LEFT)
                for t, c, h in (("TEXT", theme.PURPLE, y[0]), ("IMAGE", theme.BLUE, y[1] + 0.05))
            )
        )
        tails = [self.tail(row_, h, c) for row_, h, c in ((text, y[0], theme.PURPLE), (image, y[1], theme.BLUE))]
        self.step(FadeIn(heads[0]), *write(*text), lag_ratio=0.12)
        self.run_through(text, *tails[0])
        self.step(FadeIn(heads[1]), FadeIn(photo))
        self.go(FadeIn(image[0]), *(Emerge(t, photo.cell(n)) if n else FadeIn(t) for t, n in zip(image[1:], (1, 2, None, self.model.patches))), lag_ratio=0.12)
        self.step(FadeIn(tails[1][0]), FadeIn(tails[1][1]))
        self.run_through(image, *tails[1])
        self.step(
            *write(
                words("One encoder idea, two kinds of tokens: the same blocks, different input.", theme.BODY, bold=True).move_to(
                    [STAGE.center[0], (y[0] + y[1]) / 2 + 0.1, 0]
                )
            ),
            FadeIn(legend),
        )

    def cls(self):
        return Box(words("CLS", theme.LABEL, "#FFFFFF", bold=True), color=theme.AMBER, width=0.84, height=0.84, fill=1.0)

    def text_row(self, y):
        tiles = Group(self.cls(), *(Box(w, color=theme.PURPLE, height=0.84, size=theme.BODY, pad=0.22, fill=0.14) for w in TEXT)).arrange(RIGHT, buff=0.2)
        return tiles.move_to([STAGE.left, y, 0], aligned_edge=LEFT)

    def image_row(self, y):
        photo, tiles = Photograph(self.run, side=1.0), Group(self.cls())
        for n in (1, 2, None, self.model.patches):
            if n is None:
                tiles.add(words("…", theme.CAPTION, theme.GREY, bold=True))
                continue
            crop = photo.crop(n, 0.84, theme.BLUE)
            crop.border.set_stroke(width=2.4)
            tiles.add(Group(crop, words(rows.name(n), theme.SMALL, theme.BLUE).next_to(crop, DOWN, buff=0.05)))
        tiles.arrange(RIGHT, buff=0.16, aligned_edge=UP)
        tiles[3].set_y(tiles[0].get_y())
        return tiles.move_to([STAGE.left + 1.75, y + 0.42, 0], aligned_edge=UP + LEFT)

    def tail(self, tiles, y, color):
        """Encoder, final CLS row and classifier behind a row of tokens."""
        encoder = Box("Encoder blocks", words("whole-input attention", theme.SMALL, theme.GREY), color=color, height=1.3).move_to([STAGE.left + 7.55, y, 0])
        final = Group(Box(words("Read final CLS", theme.LABEL, color, bold=True), color=color, height=0.84, fill=0.14)).next_to(encoder, RIGHT, buff=0.55)
        classifier = Box("classifier", color=theme.INK, height=0.84, fill=0.04, size=theme.LABEL)
        classifier.move_to([STAGE.right, y, 0], aligned_edge=RIGHT)
        for part in (final, classifier):
            part.set_y(y)
        return arrow([tiles.get_right()[0], y, 0], encoder.get_left(), color), encoder, final, classifier

    def run_through(self, tiles, into, encoder, final, classifier):
        color = encoder.border.get_stroke_color()
        if encoder not in self.mobjects:
            self.go(*draw(into), FadeIn(encoder))
        self.go(pulse(into, color))
        out = arrow(encoder, final, color, gap=0.08)
        self.go(*draw(out), FadeIn(final, shift=0.2 * RIGHT))
        self.go(*draw(arrow(final, classifier, theme.INK, gap=0.08)), FadeIn(classifier))


class LookUpOrCompute(Slide):
    route = "reference/s01/4"

    def title(self):
        return "Text looks up a row; an image patch computes one"

    def caption(self):
        return (f"A word fetches its row from a learned table; a patch has its pixels multiplied by weights that all patches share. "
                f"Either way D numbers come out; in our checkpoint D = {self.model.width}.")

    def notes(self):
        return ("Does a patch need an entry in a vocabulary? No: no two patches need ever be equal, and there is nothing to look up. Its pixel values go "
                "through one learned layer. Once the position is added, the encoder can't tell which way a row came. The shaded cells of the word's row "
                "are only a symbol.")

    def build(self):
        m, nose = self.model, self.dog.place("nose")
        h = (STAGE.height - 0.62 - 2 * 0.2) / 2
        top, low = STAGE.top - h / 2 - 0.05, STAGE.top - 3 * h / 2 - 0.25
        xs = [STAGE.left + d for d in (1.15, 4.2, 7.45)]
        end = STAGE.right - 1.55
        lanes = Group(
            *(
                panel(STAGE.width, h, theme.tint(c, 0.3), theme.tint(c, 0.05)).move_to([STAGE.center[0], y + 0.05, 0])
                for c, y in ((theme.PURPLE, top), (theme.BLUE, low))
            )
        )
        heads = Group(
            *(
                words(t, theme.LABEL, c, bold=True).move_to([STAGE.left + 0.25, lane.get_top()[1] - 0.25, 0], aligned_edge=LEFT)
                for t, c, lane in zip(("TEXT", "IMAGE"), (theme.PURPLE, theme.BLUE), lanes)
            )
        )

        word = Box("“bank”", color=theme.PURPLE, height=0.8, fill=0.14).move_to([xs[0], top, 0])
        ident = Box("token ID", color=theme.PURPLE, height=0.8, fill=0.02, size=theme.LABEL).move_to([xs[1], top, 0])
        shades = np.random.default_rng(3).random((5, 7))  # a table as a symbol: nothing here is measured
        table = VGroup(*(Cells(0.15 + 0.6 * s, theme.PURPLE, 0.19, 0.03) for s in shades)).arrange(DOWN, buff=0.05).move_to([xs[2] - 0.62, top, 0])
        name = column(
            words("Embedding table", theme.LABEL, theme.PURPLE, bold=True), words("look up a\nlearned row", theme.SMALL, theme.GREY), gap=0.06, align=LEFT
        ).next_to(table, RIGHT, buff=0.25)
        found = outline(table[2], theme.AMBER, 4, pad=0.05)
        word_row = Cells(0.15 + 0.6 * shades[2], theme.PURPLE, 0.36, 0.05).move_to([end, top, 0])
        word_name = self.row_name("token content row", word_row)

        photo = Photograph(self.run, side=1.0)
        crop = photo.crop(nose, 0.95, theme.BLUE).move_to([xs[0], low, 0])
        size = self.under(crop, f"RGB patch: {times(m.patch, m.patch, m.channels)}")
        values = self.flat(nose, 2.3).move_to([xs[1], low, 0])
        flat = self.under(values, f"flatten → {m.patch_values} values")
        layer = Box(f"Shared Linear({m.patch_values}, D)", words("compute a learned projection", theme.SMALL, theme.GREY), height=1.0).move_to(
            [xs[2] + 0.15, low, 0]
        )
        patch_row = Strip(self.dog.patches[nose].c, width=word_row.width, height=0.36).move_to([end, low, 0])
        patch_name = self.row_name("patch content row", patch_row)

        bar = panel(STAGE.width, 0.62, theme.AMBER, theme.tint(theme.AMBER, 0.1)).move_to([STAGE.center[0], STAGE.bottom + 0.31, 0])
        joined = words("Add a learned *position*, then send the rows of either kind into the *encoder* →", theme.LABEL).move_to(bar)

        self.step(FadeIn(lanes[0]), FadeIn(heads[0]), FadeIn(word))
        self.go(*draw(arrow(word, ident, theme.PURPLE)), FadeIn(ident))
        self.go(*draw(arrow(ident, found, theme.PURPLE)), FadeIn(table), FadeIn(name))
        self.step(Create(found), run_time=0.5)
        self.go(*draw(arrow(name, word_row, theme.PURPLE)), TransformFromCopy(table[2], word_row), FadeIn(word_name))
        self.step(FadeIn(lanes[1]), FadeIn(heads[1]), FadeIn(crop), FadeIn(size))
        self.go(*draw(arrow(crop, values)), Emerge(values, crop), FadeIn(flat))
        self.go(*draw(arrow(values, layer)), FadeIn(layer))
        self.step(*draw(arrow(layer, patch_row)), Emerge(patch_row, layer), FadeIn(patch_name))
        self.step(FadeIn(bar), *write(joined))

    def flat(self, nose, width):
        x = self.dog.patches[nose].x
        return Strip(pixel_row(x) if x else Vector.unknown(self.model.patch_values), width=width, height=0.36)

    def under(self, mobject, text):
        return words(text, theme.SMALL, theme.GREY).next_to(mobject, DOWN, buff=0.12)

    def row_name(self, text, row_):
        return column(
            words(text, theme.LABEL, row_.hue if isinstance(row_, Cells) else theme.BLUE, bold=True), words("D features", theme.SMALL, theme.GREY), gap=0.02
        ).next_to(row_, DOWN, buff=0.08)


class ImageTask(SectionCard):
    route = "reference/s01/5"

    def name(self):
        return "The image classification task"

    def before(self):
        return "So far, our encoder built context from tokens of text."

    def question(self):
        return f"Given a {figures.picture_word(self.run, 'dog')}, what should a model predict?"

    def topics(self):
        return ("Labeled photos" if self.dog.photo.kind == "photograph" else "Labeled pictures", "The image task", "Useful clues")

    def art(self):
        return Photograph(self.run, side=4.3)

    def caption(self):
        return f"First some pictures with their labels, then the answer that we ask for, then the parts of one {figures.picture_word(self.run, 'dog')} that point to it."

    def notes(self):
        return (
            f"Leave the question standing for a moment: a {figures.picture_word(self.run, 'dog')} has no next word. We first look at pictures with their labels, then fix what "
            "the model should answer for one of them, and last ask which parts of it help us decide. That last question leads to attention."
        )


class SixAnimals(Slide):
    route = "reference/s01/6"

    def title(self):
        return "What does our animal dataset look like?"

    def drawn(self):
        return any(entry.kind == "drawing" for entry in self.run.gallery)

    def caption(self):
        n = figures.number_word(len(self.run.gallery))
        if self.drawn():
            return f"{n.capitalize()} drawings in place of the Oxford-IIIT Pet photographs. Each one carries two labels: which animal, and which breed."
        return f"{n.capitalize()} photographs from Oxford-IIIT Pet. Every picture of the data set carries two labels: which animal, and which breed."

    def notes(self):
        kinds = len({entry.species for entry in self.run.gallery})
        return (
            f"Before the labels appear, let the class name the animals. Then read the animal, and the breed beneath it. There are {figures.number_word(kinds)} kinds of animal here, yet "
            "no two pictures of a kind share their pose, coat or background. A classifier has to give all of them the same answer."
        )

    def build(self):
        cards = [self.card(entry) for entry in self.run.gallery]
        if not cards:
            self.step(STAGE.place(panel(6, 3)))
            return
        across = -(-len(cards) // 2)
        areas = [a for line in STAGE.rows(1, 1, gap=0.3) for a in line.columns(*[1] * across, gap=0.35)]
        for card, area in zip(cards, areas):
            area.place(card, LEFT)
        self.step(*(FadeIn(card[0], shift=0.12 * UP) for card in cards), lag_ratio=0.15, run_time=1.2)
        self.step(*write(*(card[1][0] for card in cards)), lag_ratio=0.1)
        self.step(*write(*(card[1][1] for card in cards)), lag_ratio=0.1)

    def card(self, entry):
        shown = pixels(self.run.file(entry.file))
        side = 2.28
        image = picture(shown, side, side, smooth=True) if shown is not None else panel(side, side)
        frame = Group(image, outline(image, theme.INK, 1.2).set_stroke(opacity=0.55))
        species = words(entry.species, theme.TITLE - 10, bold=True).next_to(frame, RIGHT, buff=0.28).shift(0.3 * UP)
        breed = words(entry.breed, theme.BODY, theme.GREY, width=1.62).next_to(species, DOWN, buff=0.06, aligned_edge=LEFT)
        return Group(frame, Group(species, breed))


class WhatDoYouSee(Slide):
    route = "reference/s01/7"
    clues = {"face": 5, "ear": 3, "chest": 3}  # patches along the side of the square about each part

    def title(self):
        return "What animal do you see?"

    def caption(self):
        return f"You have an answer already. Say which parts of the {figures.picture_word(self.run, 'dog')} led you there."

    def notes(self):
        return (
            f"Give the class three seconds, then ask for the animal and at once for the reason. Point at the face, at the coat, at the outline against the background, while "
            "the enlarged parts appear. Nobody needed every pixel equally; keep that for when we speak of attention. No architecture yet."
        )

    def build(self):
        photo = STAGE.place(Photograph(self.run, side=4.9), LEFT)
        right = Area(photo.get_right()[0] + 0.8, STAGE.bottom, STAGE.right, STAGE.top)
        one = column(words(f"One {figures.picture_word(self.run, 'dog')}.", 56, bold=True), words("One image label.", 56, bold=True), gap=0.04, align=LEFT)
        slot = Group(panel(2.2, 0.9, theme.INK, theme.PAPER), words("?", 56, theme.BLUE, bold=True))
        head = right.place(row(one, slot, gap=0.6), UP + LEFT)
        ask = words("What clues gave it away?", 44, theme.BLUE, bold=True)
        side = (right.width - 0.6) / 3
        crops = row(*(self.part(photo, clue, side) for clue in self.clues), gap=0.3).move_to([right.left, right.bottom, 0], aligned_edge=DOWN + LEFT)
        ask.next_to(crops, UP, buff=0.3).align_to(crops, LEFT)
        self.step(photo)
        self.step(*write(one[0]))
        self.go(*write(one[1]), *draw(arrow(one, slot, theme.INK, gap=0.1)) if slot.get_left()[0] - head[0].get_right()[0] > 0.5 else [], FadeIn(slot))
        self.step(*write(ask))
        self.go(
            *(FadeIn(m) for m in (self.mark(photo, c) for c in self.clues)),
            *(Emerge(c, self.mark(photo, name)) for c, name in zip(crops, self.clues)),
            lag_ratio=0.15,
        )

    def span(self, clue):
        """First row, first column and side of a square of patches about a part, zero-based, kept on the picture."""
        (r, c), size = rows.grid_place(self.dog.photo.places[clue], self.model.grid), self.clues[clue]
        low = [min(max(v - 1 - size // 2, 0), self.model.grid - size) for v in (r, c)]
        return *low, size

    def mark(self, photo, clue):
        r, c, size = self.span(clue)
        n = self.model.grid
        box = Group(photo.cell(r * n + c + 1), photo.cell((r + size - 1) * n + c + size))
        return VGroup(outline(box, theme.INK, 5), outline(box, "#FFFFFF", 3))

    def part(self, photo, clue, side):
        if photo.missing:
            return panel(side, side)
        (r, c, size), p = self.span(clue), self.model.patch
        block = photo.array[r * p : (r + size) * p, c * p : (c + size) * p]
        image = picture(block, side, side, smooth=True)
        return Group(image, outline(image, theme.INK, 1.6))


class ClassifyWholeImage(Slide):
    route = "reference/s01/8"

    def title(self):
        return "Our task today: classify the whole image"

    def caption(self):
        return f"From here to the end, the model gets to see all of the {figures.picture_word(self.run, 'dog')} and answers with one class label for it."

    def notes(self):
        return ("Nothing is hidden and nothing is generated: no missing patch has to be guessed and no next token. Follow the whole picture into one "
                "summary row, and that row into one score a class. We draw two classes because two are easy to see; the checkpoint has "
                f"{count(self.model.classes)}. The bars are left empty on purpose: the measured scores come later.")

    def build(self):
        photo = STAGE.place(Photograph(self.run, side=4.4), LEFT)
        h = self.dog.h or Vector.unknown(self.model.width)
        strip = Strip(h, width=3.3, height=0.5).rotate(np.pi / 2)
        x = photo.get_right()[0] + 1.75
        strip.move_to([x, photo.get_y(), 0])
        name = words("image summary", theme.BODY, theme.BLUE, bold=True).next_to(strip, UP, buff=0.2)
        layer = Layer(["dog", "cat"], radius=0.62, gap=1.0, size=theme.CAPTION).move_to([x + 2.75, photo.get_y(), 0])
        lines = VGroup(
            *(
                link(strip.get_right() + f * 1.5 * UP, unit[0].get_left(), theme.tint(theme.BLUE, 0.5), 1.8)
                for unit in layer.units
                for f in np.linspace(-1, 1, 7)
            )
        )
        tracks = Group(
            *(
                Rectangle(width=2.5, height=0.46, stroke_width=2, stroke_color=theme.tint(theme.BLUE, 0.5), fill_color=theme.PANEL, fill_opacity=1).next_to(
                    u, RIGHT, buff=0.3
                )
                for u in layer.units
            )
        )
        scores = words("class scores", theme.BODY, theme.BLUE, bold=True)
        scores.move_to([tracks.get_x() - 0.2, name.get_y(), 0])
        rule = words("the larger score\nnames the image", theme.LABEL, theme.GREY, align="center").move_to([tracks.get_x(), photo.get_y(), 0])
        self.step(photo)
        whole = outline(photo, theme.BLUE, 6)
        self.go(Create(whole))
        into = arrow(photo, strip)
        self.step(*draw(into), Emerge(strip, photo), FadeIn(name))
        self.step(*draw(*lines), FadeIn(layer))
        self.go(*(GrowFromEdge(t, LEFT) for t in tracks), FadeIn(scores))
        self.step(*write(rule))
