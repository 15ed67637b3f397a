"""Section 8 of the reference deck: what the checkpoint says of the two pictures, and what that does not say."""

from scenes.kit import *  # noqa: F403
from vit_data import figures


class BackToThePictures(SectionCard):
    route = "reference/s08/1"

    def name(self):
        pictures = {s.photo.kind for s in (self.dog, self.cat)}
        return "Return to the real photographs" if pictures == {"photograph"} else "Return to the two pictures"

    def before(self):
        return "Training and inference have different jobs."

    def question(self):
        return f"What do the saved {'photo ' if self.dog.photo.kind == 'photograph' else ''}predictions establish?"

    def art(self):
        return Group(*(Photograph(self.run, subject, side=2.9) for subject in ("dog", "cat"))).arrange(DOWN + 0.45 * RIGHT, buff=-0.75)

    def caption(self):
        c = self.model.classes
        return f"Back to the dog and the cat. Their predictions come from the checkpoint’s own {count(c)} classes; no pet classifier was trained for them."

    def notes(self):
        return ("We have built the classifier and talked about training it. Now we look again at the two pictures of this run and at what the "
                "measured checkpoint made of them. Keep apart what one prediction shows and what it can’t show about a model.")


class WhatTheModelReceives(Slide):
    route = "reference/s08/2"

    def title(self):
        return "Which pixels are we giving the real model?"

    def caption(self):
        t = self.model.transform
        return (f"What enters the network is the square at the right: shorter side to {t.resize} pixels, the middle {times(t.crop, t.crop)} cut out, "
                "then every channel normalized.")

    def notes(self):
        photo, t = self.dog.photo, self.model.transform
        size = f" of {times(photo.width, photo.height)} pixels" if photo.width else ""
        return (
            f"The original{size} is not what the network sees. The checkpoint comes with its own evaluation transform: resize, cut the centre, normalize. "
            f"Find the parts of the picture that the crop loses. Normalizing with mean {num(t.mean[0], 1)} and deviation {num(t.std[0], 1)} changes the numbers, "
            "not what we recognise."
        )

    def build(self):
        t, photo = self.model.transform, self.dog.photo
        original = self.original(3.6, 4.9)
        crop = Photograph(self.run, side=3.3)
        left = column(original, words(f"original {figures.picture_word(self.run, 'dog')}", theme.BODY, bold=True),
                      words(times(photo.width, photo.height) + " pixels" if photo.width else " ", theme.LABEL, theme.GREY), gap=0.1)
        right = column(
            crop, words("supplied resize / crop", theme.BODY, bold=True), words(times(t.crop, t.crop, self.model.channels), theme.LABEL, theme.GREY), gap=0.1
        )
        normal = Box("normalize RGB", words(f"(value / 255 − {num(t.mean[0], 1)}) / {num(t.std[0], 1)}", theme.SMALL, theme.GREY))
        STAGE.place(row(left, right, normal, gap=0.95))
        normal.set_y(crop.get_y())
        original.set_y(crop.get_y())
        frame = self.window(original)
        self.step(original, *write(left[1], left[2]))
        self.step(FadeIn(frame))
        self.go(Emerge(crop, frame), *draw(arrow(original, crop)))
        self.go(*write(right[1], right[2]))
        self.step(*draw(arrow(crop, normal)), FadeIn(normal))

    def original(self, height, width):
        """The picture before the transform, a landscape panel where the run has none."""
        array = pixels(self.run.picture("dog", "original"))
        if array is None:
            return panel(height * 4 / 3, height * 0.92)
        return fit(picture(array, height * array.shape[1] / array.shape[0], height, smooth=True), width, height)

    def window(self, original):
        """Outline of the part that the centre crop keeps."""
        t = self.model.transform
        side = min(original.width, original.height) * t.crop / t.resize
        return outline(panel(side, side).move_to(original), theme.AMBER, 4)


class TopThree(Slide):
    """The three largest probabilities of one picture."""

    subject = "dog"

    def said(self):
        return getattr(self.run, self.subject)

    def bars(self):
        return Bars(self.said().prediction.top[:3], width=4.2, above=max(len(s.label) for s in self.said().prediction.top[:3]) > 18)

    def build(self):
        left, right = STAGE.columns(1, 1.75, gap=0.7)
        photo = Photograph(self.run, self.subject, side=4.1)
        left.place(photo, LEFT)
        bars = self.bars()
        heading = self.heading_words()
        right.place(column(heading, bars, gap=0.5, align=LEFT), LEFT)
        self.step(photo, *write(heading))
        for i in range(len(bars.rows)):
            self.step(*bars.grow(i), run_time=0.9)


class DogTopThree(TopThree):
    route = "reference/s08/3"

    def title(self):
        return "What did the model call our dog?"

    def heading_words(self):
        return words(f"Top 3 of {count(self.model.classes)} labels", theme.BODY, theme.GREY)

    def caption(self):
        best = self.dog.prediction.top[0]
        return f"The model’s own output for this {figures.picture_word(self.run, 'dog')}: {pct(best.probability)} for {best.label}, the rest spread over {count(self.model.classes - 1)} other labels."

    def notes(self):
        top, known = self.dog.prediction.top, self.dog.photo.known_label
        truth = (
            "" if known is None else f" The picture is known to show a {known}, so the first answer is {'right' if self.dog.prediction.correct else 'wrong'}."
        )
        return (f"Remember what the audience answered at the start. The first label is {top[0].label}, then {top[1].label} with {pct(top[1].probability)} and "
                f"{top[2].label} with {pct(top[2].probability)}.{truth} These are shares of one softmax over all {count(self.model.classes)} classes.")


class OnePictureIsNoAccuracy(Slide):
    route = "reference/s08/4"

    def title(self):
        word = figures.picture_word(self.run, "dog")
        answer = {True: "one correct", False: "one wrong", None: "one"}[self.dog.prediction.correct]
        return f"Does {answer} {word} tell us the accuracy?"

    def caption(self):
        return "Accuracy is a share of pictures: predict a whole test set that training never saw, and count how many labels are right."

    def notes(self):
        shown = self.score()
        return (f"A probability of {pct(shown.probability, 1)} belongs to one picture and one label. Accuracy belongs to a model and a set of pictures. "
                "A model can be sure and wrong, or unsure and right. To estimate how often it is right, count over many new pictures that were not "
                "used for training.")

    def score(self):
        return self.dog.prediction.known or self.dog.prediction.top[0]

    def build(self):
        prediction = self.dog.prediction
        left, right = STAGE.columns(1, 1.5, gap=0.8)
        photo = Photograph(self.run, side=3.3)
        of = "probability of the known breed" if prediction.known else f"probability of {prediction.top[0].label}"
        verdict = {True: "one successful prediction", False: "one failed prediction", None: "one prediction, breed not known"}[prediction.correct]
        value = words(f"{of}: *{num(self.score().probability)}*", theme.LABEL)
        claim = words(verdict, theme.BODY, theme.BLUE, bold=True)
        left.place(column(photo, value, claim, gap=0.16))
        tiles = Group(*(panel(0.7, 0.7) for _ in range(32))).arrange_in_grid(4, 8, buff=0.18)
        marks = Group(*(words("?", theme.LABEL, theme.GREY).move_to(tile) for tile in tiles))
        question = words(f"How often does that happen on new {'photos' if self.dog.photo.kind == 'photograph' else 'pictures'}?", theme.CAPTION, bold=True)
        ratio = words("accuracy = correct predictions / test pictures", theme.BODY)
        right.place(column(question, Group(tiles, marks), ratio, gap=0.35))
        self.step(photo, *write(value))
        self.step(*write(claim))
        self.step(*write(question), LaggedStart(*(FadeIn(t) for t in tiles), lag_ratio=0.03, run_time=1.0))
        self.go(FadeIn(marks))
        self.step(*write(ratio))


class CatTopThree(TopThree):
    route = "reference/s08/5"
    subject = "cat"

    def title(self):
        return "What happens when we give it the cat?"

    def heading_words(self):
        word = figures.picture_word(self.run, "cat")
        return words(f"Same checkpoint. Another {word}.", theme.BODY, theme.GREY)

    def caption(self):
        return f"Model and preprocessing stay as they are; only the {figures.picture_word(self.run, 'cat')} is another one. The answer now: {self.cat.prediction.top[0].label}."

    def notes(self):
        top = self.cat.prediction.top
        return (
            f"No weight changes when another picture arrives: inference only reads them. For the cat the three largest of {count(self.model.classes)} probabilities are "
            f"{top[0].label}, {top[1].label} and {top[2].label}. Look at the third: labels of very different things compete in the same softmax."
        )
