"""The opening page of the main lecture."""

from manim import Circle

from scenes.kit import *  # noqa: F403 - the kit is the vocabulary of a storyboard
from scenes.lecture.questions import QUESTIONS
from vit_data import figures


class VisionTransformer(Talk):
    route = "lecture/cover"
    bare = True

    def title(self):
        return "Vision Transformer"

    def says(self):
        word = figures.picture_word(self.run, "dog")
        return [
            f"This is the {word} that we stay with for the whole lecture. A model will look at it once and give us one word.",
            "Between the picture and that word lie five questions, and each of them brings in one part of the Vision Transformer: how to make tokens, how to keep "
            "their location, what to read out, how the tokens share information, and how a class comes out at the end.",
            f"And this is where we will arrive: the model’s own answer, {self.top.label}, with the probability that it gave.",
        ]

    @property
    def top(self):
        return self.dog.prediction.top[0]

    def build(self):
        photo = Photograph(self.run, side=4.9).move_to([STAGE.right - 2.45, 3.5 - 2.45, 0])
        head = column(words("Vision", 158, bold=True), words("Transformer", 158, bold=True), gap=-0.1, align=LEFT)
        under = words(f"from one {figures.picture_word(self.run, 'dog')} to one prediction", 52, theme.BLUE)
        title = column(head, under, gap=0.3, align=LEFT).move_to([STAGE.left + 0.42, photo.get_y(), 0], aligned_edge=LEFT)
        bar = panel(0.09, title.height, theme.BLUE, theme.BLUE).move_to([STAGE.left + 0.045, title.get_y(), 0])
        y = -2.45
        stops = Group(*(self.stop(i + 1, name, y) for i, (name, _) in enumerate(QUESTIONS)))
        answer = column(
            words(self.top.label, theme.CAPTION + 4, theme.BLUE, bold=True, width=2.6, align="center"),
            words(pct(self.top.probability), theme.BODY, theme.BLUE),
            gap=0.04,
        )
        xs = [STAGE.left + 1.15 + i * (STAGE.width - 5.4) / (len(stops) - 1) for i in range(len(stops))]
        for part, x in zip(stops, xs):
            part.shift(x * RIGHT)
        answer.move_to([STAGE.right, y, 0], aligned_edge=RIGHT)
        ways = [arrow(a[0], b[0], theme.SKIP, gap=0.14) for a, b in zip(stops, stops[1:])]
        last = arrow(stops[-1][0].get_right(), [answer.get_left()[0], y, 0], theme.SKIP, gap=0.14)
        self.step(photo, FadeIn(bar), *write(head))
        self.go(*write(under))
        self.step(
            LaggedStart(
                *(a for i, s in enumerate(stops) for a in (FadeIn(s, scale=0.7), *(draw(ways[i]) if i < len(ways) else []))), lag_ratio=0.35, run_time=2.6
            )
        )
        self.step(*draw(last), FadeIn(answer, shift=0.2 * RIGHT))

    def stop(self, number, name, y):
        disc = Circle(0.42, stroke_color=theme.BLUE, stroke_width=3, fill_color=theme.tint(theme.BLUE, 0.1), fill_opacity=1).move_to([0, y, 0])
        return Group(
            disc, words(str(number), theme.CAPTION + 6, theme.BLUE, bold=True).move_to(disc), words(name, theme.LABEL + 1).next_to(disc, DOWN, buff=0.16)
        )
