"""Main lecture, opening: the encoder that we bring along, the prediction that we want, and five questions."""

from scenes.kit import *  # noqa: F403 - the kit is the vocabulary of a storyboard
from scenes.lecture.questions import QUESTIONS
from vit_data import figures


class WhatWeKnow(Talk, FamiliesPage):
    route = "lecture/s01/1"

    def title(self):
        return "We already know how an encoder builds context"

    def caption(self):
        return "The encoder reads its whole input at once. What would it need, to read a picture?"

    def says(self):
        return [
            "Three families from the last lecture. The first is the encoder: every token may read every other one, and one vector comes back for each token.",
            "The decoder reads only what came before. It predicts the next token, appends it, and starts again.",
            "The encoder-decoder keeps a second stack, and its keys and values come from the source.",
            "Today we stay with the encoder, because our input is complete from the start. All that changes is what goes in: pieces of a picture in the place of words.",
        ]


class WhatToPredict(Talk):
    route = "lecture/s01/2"

    def title(self):
        return f"What should the model predict for this {figures.picture_word(self.run, 'dog')}?"

    def caption(self):
        return "One forward pass, one answer. How did these numbers come out of those pixels?"

    def says(self):
        top, m = self.dog.prediction.top[0], self.model
        right = {True: " The breed is known, and the answer is right.", False: " The breed is known, and the answer is wrong.", None: ""}[
            self.dog.prediction.correct
        ]
        return [
            f"Here is our {figures.picture_word(self.run, 'dog')}. Say for yourself what it shows before the model does.",
            f"The model is a small Vision Transformer, ViT-Tiny. Its weights are {figures.weights_word(self.run)}, they stay as they are today, and it can only answer with one of {count(m.classes)} labels that ImageNet fixed for it.",
            f"We ran it once, and its answer was {top.label}, with a probability of {pct(top.probability)}.{right} Every number that you will see from here on comes from this one run. "
            "The rest of the lecture explains how it was made.",
        ]

    def build(self):
        top, m = self.dog.prediction.top[0], self.model
        photo = STAGE.place(Photograph(self.run, side=4.8), LEFT)
        box = Box(
            words("ViT-Tiny", 48, theme.BLUE, bold=True),
            words(figures.weights_word(self.run), theme.BODY, theme.GREY),
            words(f"ImageNet-1k: {count(m.classes)} classes", theme.BODY, theme.GREY),
            width=3.7,
            height=2.3,
        ).move_to([photo.get_right()[0] + 2.75, photo.get_y(), 0])
        answer = column(words(top.label, 48, bold=True, width=2.75, align="center"), words(pct(top.probability), 80, theme.BLUE, bold=True), gap=0.12)
        answer.move_to([STAGE.right, photo.get_y(), 0], aligned_edge=RIGHT)
        once = words("one measured forward pass", theme.BODY, theme.GREY).next_to(box, DOWN, buff=0.35)
        self.step(photo)
        into, out = arrow(photo, box), arrow(box, answer, gap=0.15)
        self.step(*draw(into), FadeIn(box))
        self.step(pulse(into, theme.BLUE), *write(once))
        self.go(*draw(out), FadeIn(answer, shift=0.25 * RIGHT))


class HowToSupplyVectors(Talk):
    route = "lecture/s01/3"

    def title(self):
        return "An encoder expects vectors. How can an image supply them?"

    def caption(self):
        return "The first job is to turn a grid of pixels into rows of features."

    def says(self):
        m = self.model
        return [
            f"The model receives a grid of colours: {count(m.image)} rows and {count(m.image)} columns of pixels, three values in each of them.",
            "The encoder knows nothing of grids. It takes a list of vectors, all of the same width, and lets them read each other. For a sentence every word supplied one.",
            "So what stands in the box with the question mark? Think of a way before we go on. Queries, keys and values come later; first of all we need rows of numbers.",
        ]

    def build(self):
        photo = STAGE.place(Photograph(self.run, side=4.6), LEFT)
        what = Box(words("?", 120, theme.AMBER, bold=True), color=theme.AMBER, width=2.1, height=2.1).move_to([photo.get_right()[0] + 1.95, photo.get_y(), 0])
        lanes = Group()
        for name, shades in (("vector 1", (0.5, 0.1, 0.9, 0.3, 0.7, 0.2)), ("vector 2", (0.2, 0.8, 0.4, 0.6, 0.1, 0.9)), ("⋮", ()), ("vector *N*", (0.7, 0.5, 0.2, 0.9, 0.3, 0.6))):
            label = words(name, theme.CAPTION, theme.BLUE if shades else theme.GREY)
            lanes.add(row(label, Cells(shades, theme.BLUE, 0.46), gap=0.35) if shades else Group(label))
        lanes.arrange(DOWN, buff=0.42, aligned_edge=RIGHT).move_to([STAGE.right, photo.get_y(), 0], aligned_edge=RIGHT)
        lanes[2].set_x(lanes[0][1].get_x())
        rows_ = [lane for lane in lanes if len(lane) > 1]
        self.step(photo)
        self.step(*write(*(lane for lane in lanes)), lag_ratio=0.2)
        fan = [arrow(what.get_right(), [rows_[0].get_left()[0] - 0.1, lane.get_y(), 0], theme.BLUE, gap=0.12) for lane in rows_]
        self.step(*draw(arrow(photo, what)), FadeIn(what, scale=0.7))
        self.go(*draw(*fan), lag_ratio=0.2)


class FiveQuestions(Talk):
    route = "lecture/s01/4"

    def title(self):
        return "Five questions build the architecture"

    def caption(self):
        return "Each question comes first, then the part of the model that answers it."

    def says(self):
        return ["We go through the model as five questions. The first: how do pixels become vectors, so that there are tokens at all?",
                "Second: once a patch is a row of numbers, who remembers where it was?",
                "Third: many rows go through the encoder, but we want one label. Which row do we read?",
                "Fourth: how do rows share what they know? That is attention, which you have met before.",
                "And fifth: how does one row become a class? Every part of the architecture answers one of these; keep the list in mind, it is our map."]

    def build(self):
        gap = 0.26
        w = (STAGE.width - 4 * gap) / 5
        icons = route_icons(self.run, 1.75)
        chosen = [icons[i] for i in (Route.PATCHES, Route.PREPARE, Route.SUMMARY, Route.ATTENTION, Route.SCORES)]
        for i, ((name, what), icon) in enumerate(zip(QUESTIONS, chosen)):
            border = panel(w, 4.55, theme.BLUE, theme.tint(theme.BLUE, 0.04)).move_to([STAGE.left + w / 2 + i * (w + gap), STAGE.center[1], 0])
            number = words(str(i + 1), 72, theme.BLUE, bold=True).move_to(border.get_top() + 0.62 * DOWN)
            icon.move_to(border.get_center() + 0.12 * UP)
            text = column(words(name, theme.BODY, bold=True), words(what, theme.SMALL + 2, theme.GREY), gap=0.06).move_to(border.get_bottom() + 0.68 * UP)
            self.step(FadeIn(Group(border, number), shift=0.15 * UP), *write(text))
            self.go(FadeIn(icon, scale=0.8))
