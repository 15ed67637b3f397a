"""Section 7 of the reference deck: other labels, other pictures, what learns, and how to test it."""

import numpy as np
from manim import GrowFromEdge, Rectangle, ReplacementTransform, TransformFromCopy

from scenes.kit import *  # noqa: F403 - the kit is the vocabulary of a storyboard
from vit_data import figures
from vit_data.cost import Head

LABELS = ("dog", "cat")


class AdaptPage(Slide):
    """What these pages share: the new head, what the pictures are called, a column of features."""

    @property
    def head(self) -> Head:
        return Head(self.model.width, len(LABELS))

    @property
    def trained(self):
        return self.run.provenance.checkpoint.source != "random"

    def kind(self, word="pictures"):
        """photographs, drawings, or pictures if the run mixes them."""
        kinds = {s.photo.kind for s in (self.dog, self.cat)}
        return f"{kinds.pop()}s" if len(kinds) == 1 else word

    def old_label(self, subject):
        return subject.photo.known_label or subject.prediction.top[0].label

    def features(self, radius=0.12, gap=0.11, color=theme.AMBER):
        """The final CLS row as a column of neurons."""
        return Layer(["", "", "", None, ""], radius=radius, gap=gap, color=color)

    def outputs(self, radius=0.34, gap=0.5, color=LEARNS):
        return Layer(list(LABELS), radius=radius, gap=gap, color=color, size=theme.LABEL)


class OptionalExtensions(AdaptPage):
    route = "reference/s07/1"

    def title(self):
        return "Optional extensions"

    def caption(self):
        return f"The story of the {count(self.model.classes)}-label classifier is complete. What follows builds on it and can be taken in any order."

    def notes(self):
        return ("Nothing on the next pages is needed to understand the classifier. They answer three questions that people ask afterwards: can I use it for my "
                "own labels, how do I know that it works, and what does it look at?")

    def build(self):
        gap = 0.35
        w, h = (STAGE.width - 2 * gap) / 3, 4.1
        head = words("OPTIONAL EXTENSIONS", theme.BODY, theme.BLUE, bold=True).move_to([STAGE.left, STAGE.top - 0.2, 0], aligned_edge=LEFT)
        cards = Group(*(panel(w, h, theme.tint(theme.BLUE, 0.35), theme.PAPER) for _ in range(3))).arrange(RIGHT,
                                                                                                           buff=gap).move_to([0, STAGE.bottom + h / 2, 0])
        self.step(*write(head), run_time=0.5)
        for card, art, name, text in zip(cards, (self.transfer(), self.evaluation(), self.interpretation()), ("Transfer", "Evaluation", "Interpretation"),
                                         ("new labels, new pictures", "held-out pictures, counted", "what the blocks computed")):
            art.move_to(card.get_center() + 0.62 * UP)
            label = column(words(name, theme.CAPTION + 4, bold=True), words(text, theme.LABEL, theme.GREY), gap=0.06).move_to(card.get_bottom() + 0.72 * UP)
            moves = [FadeIn(card), FadeIn(art, shift=0.12 * UP), *write(label)]
            self.step(*moves)

    def transfer(self):
        encoder = Learner("Encoder", learns=False, width=1.7, height=1.2, size=theme.LABEL)
        head = Learner("Head", learns=True, width=1.15, height=1.2, size=theme.LABEL).next_to(encoder, RIGHT, buff=0.6)
        return Group(encoder, head, forward(encoder.border, head.border))

    def evaluation(self):
        cells = Group()
        for i in range(4):
            good = i in (0, 3)
            color = theme.TEAL if good else theme.RED
            cell = panel(0.95, 0.95, theme.tint(color, 0.5), theme.tint(color, 0.16))
            cells.add(Group(cell, words("✓" if good else "×", theme.TITLE, color, bold=True).move_to(cell)))
        return grid([cells[:2], cells[2:]], gap=(0.14, 0.14))

    def interpretation(self):
        maps = self.dog.similarity
        return MapView(self.run, maps[0].values if maps else None, 1.0, (theme.BLUE, theme.GOLD), side=2.3)


class AdaptAndEvaluate(SectionCard):
    route = "reference/s07/2"

    def name(self):
        return "Adapt and evaluate the classifier"

    def before(self):
        return f"Our checkpoint predicts one of {count(self.model.classes)} ImageNet labels."

    def question(self):
        return "What do we do when the labels or the image domain change?"

    def topics(self):
        return ("What learns", "One batch", "Held-out test")

    def art(self):
        photo = Photograph(self.run, side=1.75)
        encoder, head = Learner("ViT encoder", learns=False, width=3.0, height=0.8), Learner("new head", learns=True, width=3.0, height=0.8)
        tower = column(head, encoder, photo, gap=0.5)
        return Group(tower, forward(photo, encoder.border, side=UP), forward(encoder.border, head.border, side=UP))

    def caption(self):
        return "Decide which numbers may change, follow one batch through a training step, then count on pictures kept aside. Nothing is trained here."

    def notes(self):
        return ("The classifier so far answers with a breed or another ImageNet name. Ask the room what should happen if a customer has other labels, or other "
                "kinds of pictures. We keep the same encoder and go through the procedure step by step; we don’t run a new experiment.")


class TrainedToPredict(AdaptPage):
    route = "reference/s07/3"

    def title(self):
        return "What was this model trained to predict?"

    def caption(self):
        first, then = figures.training(self.run)
        top = self.dog.prediction.top[0].label
        if not self.trained:
            return f"To predict nothing yet: these weights were drawn at random. The head has {count(self.model.classes)} outputs, and {top} happens to win."
        return f"{first}, {then}: that is where these weights come from. The head has {count(self.model.classes)} outputs, and {top} is one of them."

    def notes(self):
        return ("Ask whether we trained a pet classifier when we sent the dog through. We did not: the weights and the head came with the checkpoint, and we "
                "only computed an output. Keep the two parts apart, since the next pages exchange the second one.")

    def build(self):
        m, top = self.model, self.dog.prediction.top[0]
        stages = Pipeline(*(Box(words(t, theme.BODY), color=theme.BLUE, height=0.78, pad=0.3) for t in figures.training(self.run)), gap=0.9)
        source = row(words("Where the weights come from:", theme.LABEL, theme.GREY), stages, gap=0.35)
        source.move_to([STAGE.left, STAGE.top - 0.4, 0], aligned_edge=LEFT)
        y = 0.28
        photo = Photograph(self.run, side=2.1).move_to([STAGE.left + 1.05, y, 0])
        encoder = Box("ViT encoder", width=2.3, height=1.1).move_to([-2.35, y, 0])
        strip = Group(Strip(self.dog.h, theme.AMBER, 2.6, 0.5), words(f"{m.width} final CLS features", theme.LABEL)).arrange(DOWN, buff=0.12)
        strip.move_to([1.0, y - 0.2, 0])
        head = Box("Trained" if self.trained else "Random", f"{count(m.classes)}-class head", width=2.5, height=1.1).move_to([4.2 + 1.1, y, 0])
        task = column(words(f"Current task: choose among {count(m.classes)} labels", theme.BODY, bold=True),
                      words("animal breeds, objects and other categories", theme.LABEL, theme.GREY), gap=0.04, align=LEFT)
        answer = row(words("Top label:", theme.BODY, theme.GREY), Box(words(top.label, theme.CAPTION, theme.BLUE, bold=True), fill=0.12), gap=0.25)
        note = words("Both were already existing: our saved dog prediction used this head and this task.", theme.LABEL, theme.GREY)
        column(task, note, gap=0.22, align=LEFT).move_to([STAGE.left, STAGE.bottom, 0], aligned_edge=LEFT + DOWN)
        answer.move_to([STAGE.right, STAGE.bottom + 0.42, 0], aligned_edge=RIGHT)
        strip.shift((y - strip[0].get_y()) * UP)
        ins = [forward(photo, encoder), forward(encoder, strip[0]), forward(strip[0], head)]
        drop = forward(head.get_bottom(), np.array([head.get_x(), answer.get_top()[1], 0]))
        self.step(FadeIn(source[0]), *write(stages.stages[0]))
        self.go(*draw(stages.arrows[0]), *write(stages.stages[1]))
        self.step(photo)
        self.go(*draw(ins[0]), FadeIn(encoder))
        self.go(*draw(ins[1]), FadeIn(strip))
        self.step(*draw(ins[2]), FadeIn(head), *write(task))
        self.step(*draw(drop), *write(answer), *write(note))


class DifferentVocabulary(AdaptPage):
    route = "reference/s07/4"

    def title(self):
        return f"Same {self.kind()}, a different label vocabulary"

    def caption(self):
        return ("Many old names collapse into two new ones. The new task wants two scores for each picture, learned and tested on dog and cat labels; "
                "the encoder’s features are where we start.")

    def notes(self):
        return ("Ask whether changed labels make the old features useless. They don't: the encoder already tells fur from branches and a muzzle from an ear. "
                "What is missing is a rule that turns these features into the two new labels, and a head can learn that.")

    def build(self):
        ask = words("A simpler question for our application: *dog or cat?*", theme.BODY).move_to([STAGE.left, STAGE.top - 0.2, 0], aligned_edge=LEFT)
        side, ys = 1.95, (0.72, -1.4)
        photos, olds, news = Group(), Group(), Group()
        for y, subject, role in zip(ys, (self.dog, self.cat), LABELS):
            photos.add(Photograph(self.run, role, side).move_to([STAGE.left + side / 2, y, 0]))
            old = Box(words(self.old_label(subject), theme.CAPTION, theme.GREY, bold=True), color=theme.GREY, width=3.9, height=1.1)
            new = Box(words(role, theme.TITLE, LEARNS, bold=True), color=LEARNS, width=3.0, height=1.1)
            olds.add(Group(words("Old label vocabulary", theme.LABEL, theme.GREY), old).arrange(DOWN, buff=0.12).move_to([-0.8, y, 0]))
            news.add(Group(words("Our new target", theme.LABEL, LEARNS), new).arrange(DOWN, buff=0.12).move_to([STAGE.right - 1.5, y, 0]))
        for group in (olds, news):
            for part, y in zip(group, ys):
                part.shift((y - part[1].get_y()) * UP)
        sizes = Group(words(f"{count(self.model.classes)} labels", theme.LABEL, theme.GREY, bold=True).move_to([olds.get_x(), (ys[0] + ys[1]) / 2 + 0.14, 0]),
                      words(f"{len(LABELS)} labels", theme.LABEL, LEARNS, bold=True).move_to([news.get_x(), (ys[0] + ys[1]) / 2 + 0.14, 0]))
        self.step(*write(ask), *(FadeIn(p) for p in photos))
        self.step(*(x for p, o in zip(photos, olds) for x in (*draw(forward(p, o[1])), FadeIn(o))), FadeIn(sizes[0]))
        for i in (0, 1):
            self.step(*draw(forward(olds[i][1], news[i][1], LEARNS)), FadeIn(news[i][0]), TransformFromCopy(olds[i][1].border, news[i][1].border), run_time=0.8)
            self.go(FadeIn(news[i][1].label), *([FadeIn(sizes[1])] if i else []), run_time=0.4)


class UsersSupplySketches(AdaptPage):
    route = "reference/s07/5"

    def title(self):
        return "What if our users supply sketches?"

    def caption(self):
        return ("Labels may stay while the pictures change their look. Measure on the kind of pictures that users will send, "
                "then compare a new head with a fine-tuned encoder.")

    def notes(self):
        return ("Ask whether sketches need more output neurons. No: the question is still dog or cat, so there are still two outputs. "
                "What may break are features that rely on colour and fur, since a sketch has neither. Only a test on sketches tells; these two are drawn for "
                "the slide.")

    def build(self):
        side, y = 2.35, 0.52
        photos = row(*(Photograph(self.run, r, side) for r in LABELS), gap=0.3)
        sketches = Group()
        for drawn in (sketch_dog(1.95), sketch_cat(1.95)):
            sheet = panel(side, side, theme.LINE, "#FFFFFF")
            sketches.add(Group(sheet, drawn.move_to(sheet)))
        sketches.arrange(RIGHT, buff=0.3)
        photos.move_to([STAGE.left, y, 0], aligned_edge=LEFT)
        sketches.move_to([STAGE.right, y, 0], aligned_edge=RIGHT)
        word = figures.picture_word(self.run, "dog")
        heads = Group(words("Pet photographs" if word == "photograph" else f"Pet {word}s", theme.BODY, bold=True).next_to(photos, UP, buff=0.18),
                      words("New domain", theme.BODY, LEARNS, bold=True).next_to(sketches, UP, buff=0.18))
        under = words("Sketches · schematic examples", theme.SMALL, theme.GREY).next_to(heads[1], RIGHT, buff=0.2)
        head2 = row(heads[1], under, gap=0.25).next_to(sketches, UP, buff=0.18)
        names = Group(*(words(t, theme.BODY).next_to(p, DOWN, buff=0.1) for group in (photos, sketches) for p, t in zip(group, LABELS)))
        move = forward(photos, sketches, LEARNS, gap=0.3)
        label = words("same labels", theme.LABEL, LEARNS).next_to(move, UP, buff=0.08)
        lines = column(words("Fur texture and colour are gone, so outlines become important.", theme.BODY, bold=True),
                       words("Still two outputs. Test on sketches first; adapt with labelled sketches if needed.", theme.BODY), gap=0.12, align=LEFT)
        lines.move_to([STAGE.left, STAGE.bottom + 0.42, 0], aligned_edge=LEFT)
        self.step(*(FadeIn(p) for p in photos), FadeIn(heads[0]), *write(*names[:2]))
        self.step(*draw(move), FadeIn(label), FadeIn(head2), *(FadeIn(s[0]) for s in sketches))
        self.go(*(Create(part) for s in sketches for part in s[1]), lag_ratio=0.06, run_time=2.0)
        self.go(*write(*names[2:]), run_time=0.4)
        self.step(*write(lines[0]))
        self.step(*write(lines[1]))


class ReplaceHead(AdaptPage):
    route = "reference/s07/6"

    def title(self):
        return "Replace the ImageNet head with our two-class head"

    def caption(self):
        m, h = self.model, self.head
        return (f"A linear layer with {h.classes} outputs takes the place of the old {count(m.classes)}. The encoder still hands over {m.width} numbers a "
                f"picture; the {count(h.total)} new parameters start untrained.")

    def notes(self):
        m, h = self.model, self.head
        return (f"Ask why renaming two of the {count(m.classes)} outputs is no solution: each old output was trained to answer for one ImageNet class against "
                "all others. "
                f"Count the new layer aloud: {m.width} times {h.classes} weights and {h.biases} biases. Probabilities of the old head say nothing about this "
                "new classifier.")

    def build(self):
        m, h = self.model, self.head
        y = 0.55
        encoder = Learner("pretrained ViT encoder", learns=False, height=1.3, pad=0.3).move_to([STAGE.left, y, 0], aligned_edge=LEFT)
        feats = self.features(0.14, 0.12).move_to([-1.15, y, 0])
        name = words(f"final CLS: {m.width} features", theme.LABEL, theme.AMBER).next_to(feats, UP, buff=0.2)
        outs = self.outputs().move_to([3.1, y, 0])
        lines = connections(feats, outs, theme.tint(LEARNS, 0.65), 2.4)
        many = Layer(["", "", "", "", None, "", "", ""], radius=0.12, gap=0.09, color=theme.GREY).move_to([3.1, y, 0])
        old = connections(feats, many, theme.tint(theme.GREY, 0.4), 1.3)
        old_name = words(f"ImageNet head: {count(m.classes)} labels", theme.LABEL, theme.GREY).next_to(many, RIGHT, buff=0.3)
        new_name = words(f"new `nn.Linear({m.width}, {h.classes})`", theme.BODY, LEARNS, bold=True).move_to([1.0, feats.get_top()[1] + 0.32, 0],
                                                                                                            aligned_edge=LEFT)
        scores = words("scores: [dog, cat]", theme.BODY).next_to(outs, RIGHT, buff=0.35)
        hot = flame(0.55).next_to(new_name, RIGHT, buff=0.2)
        total = sum_line(f"{count(h.weights)} weights", "+", f"{h.biases} biases", "=",
                         words(f"{count(h.total)} parameters", theme.CAPTION + 4, LEARNS, bold=True), size=theme.CAPTION, gap=0.26)
        frame = panel(STAGE.width, 0.95, theme.tint(LEARNS, 0.4), theme.tint(LEARNS, 0.05)).move_to([0, STAGE.bottom + 0.95, 0])
        total.move_to(frame)
        keep = words("To begin with, all learned visual features stay.", theme.LABEL, theme.GREY).move_to([STAGE.left, STAGE.bottom + 0.18, 0],
                                                                                                         aligned_edge=LEFT)
        into = forward(encoder.border, feats)
        self.step(FadeIn(encoder), *draw(into), FadeIn(feats), FadeIn(name), FadeIn(old), FadeIn(many), *write(old_name))
        self.step(FadeOut(Group(old, many), shift=0.9 * DOWN), FadeOut(old_name, shift=0.9 * DOWN), run_time=0.9)
        self.go(FadeIn(outs, shift=0.5 * DOWN), *write(new_name), FadeIn(hot))
        self.go(*(Create(line) for unit in lines for line in unit), lag_ratio=0.04, run_time=0.9)
        self.go(*write(scores), run_time=0.4)
        self.step(FadeIn(frame), *write(*total), lag_ratio=0.2)
        self.step(*write(keep))


class FreezeEncoder(AdaptPage):
    route = "reference/s07/7"

    def title(self):
        return "Freeze the encoder; train the new head"

    def caption(self):
        return (f"Snowflake: no update reaches these weights. Flame: they learn. The encoder is fixed and still turns every picture into other features; "
                f"only {count(self.head.total)} numbers move.")

    def notes(self):
        return ("Send a picture through from left to right, then let the gradient come back and see where it stops. Ask whether the query, key and value "
                "weights change: no, they are behind the snowflake. Fixed weights don’t mean fixed features; a different picture gives a different CLS row.")

    def build(self):
        m, h = self.model, self.head
        y = 0.2
        title = row(words("1 · Train only the new class head", theme.BODY, LEARNS, bold=True), learning_key(theme.LABEL, "fixed", "trainable"), gap=0.9)
        title.move_to([STAGE.left, STAGE.top - 0.2, 0], aligned_edge=LEFT)
        photo = Photograph(self.run, side=1.75).move_to([STAGE.left + 0.875, y, 0])
        pet = words(f"Pet {'photo' if self.dog.photo.kind == 'photograph' else 'drawing'}", theme.LABEL).next_to(photo, DOWN, buff=0.1)
        encoder = Learner("ViT encoder", words("All encoder weights fixed", theme.LABEL, theme.GREY), words("patches → blocks → CLS", theme.LABEL, theme.BLUE),
                          learns=False,
                          width=3.75, height=1.9).move_to([-2.2, y, 0])
        feats = self.features(0.14, 0.12).move_to([0.95, y, 0])
        name = words(f"{m.width} features", theme.LABEL, theme.AMBER).next_to(feats, DOWN, buff=0.12)
        outs = self.outputs(0.34, 0.5).move_to([3.35, y, 0])
        lines = connections(feats, outs, theme.tint(LEARNS, 0.65), 2.4)
        linear = words(f"`Linear({m.width}, {h.classes})`", theme.LABEL, LEARNS).move_to([2.15, y + 1.28, 0])
        hot = flame(0.5).next_to(linear, RIGHT, buff=0.14)
        size = words(f"{m.width}×{h.classes} weights + {h.biases} biases", theme.SMALL, theme.GREY).move_to([3.1, y - 1.12, 0])
        loss = Box("loss", color=theme.RED, width=1.3, height=0.8).move_to([STAGE.right - 0.65, y, 0])
        ways = [forward(photo, encoder.border), forward(encoder.border, feats), forward(outs, loss)]
        low = y - 1.48
        back = backward(loss.get_bottom(), np.array([loss.get_x(), low, 0]), np.array([2.15, low, 0]), np.array([2.15, y - 0.86, 0]))
        update = words("update head", theme.LABEL, LEARNS, bold=True).move_to([4.1, low - 0.26, 0])
        lines_of = column(words(f"Frozen encoder, and still {m.width} features of its own for every image.", theme.LABEL + 2),
                          words(f"Optimizer updates go to the {count(h.total)} head parameters only.", theme.LABEL + 2, bold=True), gap=0.06, align=LEFT)
        lines_of.move_to([STAGE.left, STAGE.bottom + 0.32, 0], aligned_edge=LEFT)
        size.move_to([2.3, y - 1.12, 0], aligned_edge=LEFT)
        self.step(*write(title[0]), FadeIn(title[1]), photo, FadeIn(pet))
        self.step(*draw(ways[0]), FadeIn(encoder))
        self.go(*draw(ways[1]), FadeIn(feats), FadeIn(name))
        self.step(FadeIn(outs), *(Create(line) for unit in lines for line in unit), *write(linear), FadeIn(hot), FadeIn(size))
        self.go(*draw(ways[2]), FadeIn(loss))
        self.step(*draw(*back), FadeIn(update), lag_ratio=0.3, run_time=1.2)
        self.go(lines.animate.set_stroke(LEARNS, 4), run_time=0.5)
        self.step(*write(*lines_of))


class FineTuneLastBlock(AdaptPage):
    route = "reference/s07/8"

    def title(self):
        return "Next option: fine-tune the last block as well"

    def caption(self):
        return (f"Block {self.model.depth} and the head learn together; all before it stays fixed. Some features can now bend towards the new data. "
                "Whether that helps is for validation to say.")

    def notes(self):
        return ("A head can only weigh the features it is given. If those don’t separate the new classes, or the pictures look different from the training "
                "pictures, "
                "let the last block learn too. Follow the gradient: it passes the head, reaches one block more and stops. Then measure; more freedom isn’t "
                "always better.")

    def build(self):
        m = self.model
        y = 0.15
        why = words("Is head-only training insufficient? Then let some features adapt too.", theme.BODY).move_to(
            [STAGE.left, STAGE.top - 0.2, 0], aligned_edge=LEFT
        )
        name = words("2 · Optional: fine-tune the last block too", theme.BODY, LEARNS, bold=True).move_to([STAGE.left, STAGE.top - 0.72, 0], aligned_edge=LEFT)
        photo = Photograph(self.run, side=1.5).move_to([STAGE.left + 0.75, y, 0])
        blocks, pitch, left = Group(), 0.47, -4.1
        for i in range(m.depth):
            last = i == m.depth - 1
            color = theme.BLUE
            block = Frame(corner_radius=0.08, width=0.38, height=1.5, stroke_color=color, stroke_width=2, fill_color=theme.tint(color, 0.1), fill_opacity=1)
            blocks.add(Group(block, words(str(i + 1), theme.SMALLEST_PX, color, bold=True).move_to(block)).move_to([left + pitch * i + (0.5 if last else 0), y,
                                                                                                                    0]))
        final = blocks[-1]
        cold = snowflake(0.5).move_to([blocks[0].get_left()[0] + 0.25, y + 1.08, 0])
        fixed = words("Earlier encoder weights: fixed", theme.LABEL, theme.BLUE).next_to(cold, RIGHT, buff=0.14)
        border = Frame(corner_radius=0.08, width=0.66, height=1.5, stroke_color=LEARNS, stroke_width=3, fill_color=theme.tint(LEARNS, 0.14), fill_opacity=1)
        warm = Group(border, words(str(m.depth), theme.BODY, LEARNS, bold=True).move_to(border)).move_to(final)
        hot = flame(0.55).next_to(warm, UP, buff=0.12)
        last_text = column(words("Last block", theme.LABEL, LEARNS, bold=True), words("unfreeze weights", theme.LABEL, LEARNS), gap=0.0,
                           align=LEFT).next_to(hot, RIGHT, buff=0.14)
        outs = self.outputs(0.34, 0.45).move_to([4.75, y, 0])
        head = Learner("Head", learns=True, width=1.3, height=1.1).move_to([3.15, y, 0])
        loss = Box("loss", color=theme.RED, width=1.05, height=0.72, size=theme.LABEL).move_to([STAGE.right - 0.525, y, 0])
        ways = [forward(photo, blocks[0]), forward(blocks[-2].get_right(), warm.get_left(), gap=0.05), forward(warm, head.border),
                forward(head.border, outs, gap=0.08), forward(outs, loss, gap=0.08)]
        low = y - 1.3
        back = backward(loss.get_bottom(), np.array([loss.get_x(), low, 0]), np.array([head.get_x(), low, 0]), head.border.get_bottom() + 0.05 * DOWN)
        on = backward(np.array([head.get_x(), low, 0]), np.array([warm.get_x(), low, 0]), warm.get_bottom() + 0.05 * DOWN)
        stop = words("no gradient is needed further left", theme.SMALL, theme.GREY).move_to([warm.get_x() - 0.4, low, 0], aligned_edge=RIGHT)
        lines = column(words("Now the loss can change both the class head and the last block.", theme.LABEL + 2, bold=True),
                       words("How much to unfreeze? Compare on validation data before choosing.", theme.LABEL + 2), gap=0.06, align=LEFT)
        lines.move_to([STAGE.left, STAGE.bottom + 0.3, 0], aligned_edge=LEFT)
        self.step(*write(why), photo, *draw(ways[0]), FadeIn(blocks[:-1], lag_ratio=0.05), *draw(ways[1]), FadeIn(final), *draw(ways[2]), FadeIn(head),
                  *draw(ways[3]), FadeIn(outs))
        self.step(*write(name), FadeIn(cold), FadeIn(fixed))
        self.step(ReplacementTransform(final, warm), FadeIn(hot), *write(last_text))
        self.step(*draw(ways[4]), FadeIn(loss), run_time=0.5)
        self.go(*draw(*back), lag_ratio=0.3, run_time=0.9)
        self.go(*draw(*on), lag_ratio=0.3, run_time=0.9)
        self.go(FadeIn(stop), run_time=0.4)
        self.step(*write(*lines))


class OneBatch(AdaptPage):
    route = "reference/s07/9"

    def title(self):
        return "One batch follows the same forward and backward paths"

    def caption(self):
        return ("Each picture comes with its label. One loss is averaged over the batch, one backward pass computes all gradients, one optimizer step moves "
                "the weights that may learn.")

    def notes(self):
        return ("Ask what the pictures of a batch share. The weights, and nothing else: every picture has rows and attention of its own, and no patch reads a "
                "patch of another picture. "
                "Walk through the five steps below once, and say that the whole loop runs again for every batch. Evaluation is another loop, without the last "
                "three.")

    def build(self):
        m = self.model
        y = 1.0
        stack = self.pictures().move_to([STAGE.left + 1.35, y, 0])
        shape = Group(words("batch of images", theme.LABEL, bold=True),
                      words(f"B × {m.channels} × {m.image} × {m.image}", theme.LABEL, theme.GREY)).arrange(DOWN, buff=0.03)
        shape.next_to(stack, DOWN, buff=0.14)
        model = Learner("ViT + new head", learns=True, width=2.9, height=1.3).move_to([-1.65, y, 0])
        scores = Box(f"B × {len(LABELS)} scores", width=2.35, height=0.9).move_to([1.85, y, 0])
        labels = Box("known labels", words("B targets", theme.LABEL, theme.GREY), color=theme.PURPLE, width=2.35, height=1.0).move_to([1.85, y - 1.42, 0])
        loss = Box("mean cross-entropy", words("one loss", theme.BODY, theme.RED), color=theme.RED, width=3.0, height=1.2,
                   size=theme.LABEL).move_to([STAGE.right - 1.5, y, 0])
        ways = [forward(stack, model.border), forward(model.border, scores), forward(scores, loss),
                elbow(labels.get_right() + 0.06 * RIGHT, np.array([loss.get_x(), labels.get_y(), 0]), loss.get_bottom() + 0.08 * DOWN, color=theme.INK)]
        high = y + 1.15
        back = backward(loss.get_top(), np.array([loss.get_x(), high, 0]), np.array([model.get_x(), high, 0]), model.border.get_top() + 0.05 * UP)
        names = ("zero gradients", "forward", "loss", "backward", "optimizer step")
        loop = Pipeline(*(Box(t, color=c, size=theme.LABEL, width=2.14, height=0.66) for t,
                          c in zip(names, (theme.GREY, theme.BLUE, theme.RED, LEARNS, LEARNS))), gap=0.6)
        loop.move_to([STAGE.left, STAGE.bottom + 0.85, 0], aligned_edge=LEFT)
        again = words("Repeat for all training batches. To evaluate, go through other pictures separately, with fixed weights.", theme.LABEL,
                      theme.GREY).move_to([STAGE.left, STAGE.bottom + 0.15, 0], aligned_edge=LEFT)
        self.step(*(FadeIn(p, shift=0.2 * RIGHT) for p in stack), *write(shape), lag_ratio=0.1)
        self.step(*draw(ways[0]), FadeIn(model))
        self.go(*draw(ways[1]), FadeIn(scores))
        self.step(FadeIn(labels), *draw(ways[3], ways[2]), FadeIn(loss))
        self.step(*draw(*back), lag_ratio=0.3, run_time=1.2)
        self.step(*(x for s, a in zip(loop.stages, [None, *loop.arrows]) for x in ([Create(a)] if a else []) + [FadeIn(s)]), lag_ratio=0.15, run_time=1.5)
        self.step(*write(again))

    def pictures(self):
        """Labelled animals of the run behind one another; panels where it has none."""
        side, stack = 1.45, Group()
        arrays = [pixels(self.run.file(g.file)) for g in self.run.gallery[:3]] or [None] * 3
        for i, array in enumerate(arrays):
            n = min(array.shape[:2]) if array is not None else 0
            image = Photograph(self.run, side=side, image=array[:n, :n]) if array is not None else Group(panel(side, side))
            rim = Rectangle(width=side + 0.05, height=side + 0.05, stroke_color=theme.PAPER, stroke_width=6)
            stack.add(Group(rim, image).shift(i * np.array([0.42, -0.22, 0])))
        return stack


class ThreeStages(AdaptPage):
    route = "reference/s07/10"

    def title(self):
        return "Three stages: learn, adapt, then predict"

    def caption(self):
        return ("Orange lines and flames: an optimizer may move these weights. Blue lines and snowflakes: it may not. At inference the picture is new, "
                "its features are new, the weights are not.")

    def notes(self):
        return ("Ask in which of the three columns a weight can change. In the first all do, in the second those that we chose, in the third none. "
                "Follow each picture upwards to its output, and say for each stage whether a label is needed: twice yes, once no.")

    def build(self):
        gap = 0.35
        w, h = (STAGE.width - 2 * gap) / 3, STAGE.height
        stages = (("1 · Pretrain", "Many labelled images", "Learn visual features", "All weights learn", (True, True)),
                  ("2 · Adapt", "Our images + labels", "Learn the new task", "Chosen weights learn", (False, True)),
                  ("3 · Infer", "One new image", "Predict its label", "Weights stay fixed", (False, False)))
        for i, (name, data, job, state, learns) in enumerate(stages):
            x = STAGE.left + w / 2 + i * (w + gap)
            color = LEARNS if any(learns) else FROZEN
            card = panel(w, h, theme.tint(color, 0.4), theme.PAPER).move_to([x, STAGE.center[1], 0])
            head = words(name, theme.CAPTION, color, bold=True).move_to([x - w / 2 + 0.25, STAGE.top - 0.38, 0], aligned_edge=LEFT)
            y = 0.12
            images = self.images(i).move_to([x - w / 2 + 0.85, y, 0])
            text = words(data, theme.LABEL).move_to([x - w / 2 + 0.25, STAGE.top - 0.88, 0], aligned_edge=LEFT)
            body, tail = Net((4, 5, 4), learns[0], 1.05), Net((4, 2), learns[1], 0.55)
            body.move_to([x + 0.25, y, 0])
            tail.move_to([x + 1.28, y, 0])
            marks = Group(mark(learns[0], 0.4).next_to(body, DOWN, buff=0.12), mark(learns[1], 0.4).next_to(tail, DOWN, buff=0.12))
            marks[1].set_y(marks[0].get_y())
            under = [words(t, theme.SMALLEST_PX, theme.GREY).next_to(k, RIGHT, buff=0.05) for t, k in zip(("encoder", "head"), marks)]
            for u, k, part in zip(under, marks, (body, tail)):
                Group(k, u).set_x(part.get_x())
            goal = words(job, theme.BODY, bold=True).move_to([x, STAGE.bottom + 0.98, 0])
            rule = words(state, theme.LABEL, color).move_to([x, STAGE.bottom + 0.45, 0])
            into = forward(images.get_right(), np.array([body.get_left()[0], y, 0]), gap=0.07)
            out = self.result(i, body, tail)
            self.step(FadeIn(card), *write(head, text), FadeIn(images))
            self.go(*draw(into), FadeIn(body), FadeIn(tail), FadeIn(marks), *(FadeIn(u) for u in under))
            self.go(FadeIn(out), *write(goal, rule))

    def images(self, stage):
        """Many small pictures, some, or one."""
        if stage == 2:
            return Photograph(self.run, "dog", 1.15)
        arrays = [pixels(self.run.file(g.file)) for g in self.run.gallery] or [None] * 6
        chosen = arrays if stage == 0 else [arrays[i] for i in (0, -1)]
        made = []
        for array in chosen:
            n = min(array.shape[:2]) if array is not None else 0
            side = 0.52 if stage == 0 else 0.78
            made.append(Photograph(self.run, side=side, image=array[:n, :n]) if array is not None else panel(side, side))
        return grid([made[:2], made[2:4], made[4:6]], gap=(0.08, 0.08)) if stage == 0 else column(*made, gap=0.12)

    def result(self, stage, body, tail):
        """The network’s output: a gradient that comes back, or a label."""
        x, y = tail.get_right()[0], tail.get_y()
        if stage == 2:
            tip = forward(np.array([x, y, 0]), np.array([x + 0.42, y, 0]), gap=0.04)
            return Group(tip)
        top = body.get_top()[1] + 0.3
        goal = body if stage == 0 else tail
        return Group(backward(*(np.array([*p, 0]) for p in ((x + 0.1, y), (x + 0.3, y), (x + 0.3, top), (goal.get_x(), top),
                                                            (goal.get_x(), goal.get_top()[1] + 0.05))), width=3))


class NewPhotograph(AdaptPage):
    route = "reference/s07/11"

    def title(self):
        return f"What happens when we classify a new {figures.picture_word(self.run, 'dog')}?"

    def caption(self):
        return ("Features and scores belong to this picture; the weights under both snowflakes belong to all pictures. "
                "No label, no loss and no optimizer take part.")

    def notes(self):
        return ("Ask whether we must know the label of a new picture to classify it. We need it later, to grade the answer. "
                "Exchange the picture and watch what changes: the CLS row does, and with it both scores; the snowflakes stay where they are.")

    def build(self):
        m = self.model
        word = figures.picture_word(self.run, "dog")
        head = words("One forward pass through the trained model", theme.BODY, bold=True).move_to([STAGE.left, STAGE.top - 0.2, 0], aligned_edge=LEFT)
        y = 0.45
        photo = Photograph(self.run, "dog", 2.0).move_to([STAGE.left + 1.0, y, 0])
        name = words(f"Input {word}", theme.LABEL).next_to(photo, DOWN, buff=0.12)
        encoder = Learner("Trained ViT", learns=False, width=2.2, height=1.25).move_to([-2.65, y, 0])
        strip = Strip(self.dog.h, theme.AMBER, 2.3, 0.5).move_to([0.4, y, 0])
        texts = Group(words(f"{m.width} features", theme.BODY, theme.AMBER, bold=True).next_to(strip, UP, buff=0.14),
                      words("Final CLS depends\non this image", theme.LABEL, theme.GREY).next_to(strip, DOWN, buff=0.14))
        classifier = Learner("Trained class head", words(f"{m.width} inputs → {len(LABELS)} scores", theme.SMALL, theme.GREY), learns=False, width=2.75,
                             height=1.25, size=theme.LABEL).move_to([3.6, y, 0])
        scores = Group(*(Box(f"{t} score", color=theme.BLUE, size=theme.SMALL, height=0.58, pad=0.16) for t in LABELS)).arrange(DOWN, buff=0.42)
        scores.move_to([STAGE.right - scores.width / 2, y, 0])
        ways = [forward(photo, encoder.border), forward(encoder.border, strip), forward(strip, classifier.border)]
        fan = Group(*(forward(classifier.border.get_right(), s.get_left(), gap=0.05) for s in scores))
        path = Pipeline(Box("Softmax", height=0.72, size=theme.LABEL), Box("two probabilities", height=0.72, size=theme.LABEL),
                        Box("choose the larger one", height=0.72, size=theme.LABEL), gap=0.6)
        path.move_to([STAGE.right, STAGE.bottom + 0.5, 0], aligned_edge=RIGHT)
        other = Photograph(self.run, "cat", 2.0).move_to(photo)
        again = Strip(self.cat.h, theme.AMBER, 2.3, 0.5).move_to(strip) if self.cat.h else strip.copy()
        drop = elbow(np.array([scores.get_x(), scores.get_bottom()[1] - 0.08, 0]), np.array([scores.get_x(), path.get_top()[1] + 0.35, 0]),
                     np.array([path.stages[0].get_x(), path.get_top()[1] + 0.35, 0]),
                     np.array([path.stages[0].get_x(), path.get_top()[1] + 0.06, 0]), color=theme.INK)
        self.step(*write(head), photo, FadeIn(name))
        self.step(*draw(ways[0]), FadeIn(encoder))
        self.go(*draw(ways[1]), FadeIn(strip), *write(*texts))
        self.step(*draw(ways[2]), FadeIn(classifier))
        self.go(*draw(*fan), FadeIn(scores))
        self.step(*draw(drop), *(FadeIn(s) for s in path.stages), *draw(*path.arrows), lag_ratio=0.15)
        change = words("*Another image:* other features,\nother scores, the same weights", theme.LABEL, theme.GREY).move_to([STAGE.left, STAGE.bottom + 0.5, 0],
                                                                                                                            aligned_edge=LEFT)
        self.step(FadeIn(other), *write(change), run_time=0.7)
        self.go(pulse(ways[0], theme.BLUE), run_time=0.5)
        self.go(pulse(ways[1], theme.BLUE), FadeIn(again), run_time=0.6)
        self.go(pulse(ways[2], theme.BLUE), run_time=0.5)


class CheckClassifier(AdaptPage):
    route = "reference/s07/12"

    def title(self):
        return "How would we check whether the classifier learned?"

    def caption(self):
        found = self.run.evaluation
        if found is None:
            return ("Accuracy and both kinds of confusion come from pictures kept aside until the end. The probability of one picture says nothing about them; "
                    "a sure answer may be wrong.")
        return (f"The stand-in’s own test: {count(found.pets)} held-out {found.kind}s of dogs and cats, each breed counted as its species. "
                f"{count(found.correct)} are right, {pct(found.accuracy)}.")

    def notes(self):
        found = self.run.evaluation
        own = "" if found is None else (f" The numbers here are this project’s stand-in on its own {found.kind}s, with its {count(self.model.classes)} outputs "
                                        "and not with a two-class head: "
                                        f"{count(found.dog['cat'])} dogs became cats and {count(found.cat['dog'])} cats became dogs.")
        return ("Ask whether we may look at the test set after every epoch and keep the best. No: choose with the validation set and open the test set once, "
                "for the chosen model. Pictures of the same animal must not sit in two of the sets." + own)

    def build(self):
        found = self.run.evaluation
        before = words("Before fitting: separate training, validation and test images", theme.BODY, bold=True).move_to([STAGE.left, STAGE.top - 0.2, 0],
                                                                                                                       aligned_edge=LEFT)
        sizes = (None, None, None) if found is None else (found.training, found.validation, found.test)
        sets = Group()
        for name, use, n, color, w in zip(("TRAIN", "VALIDATION", "TEST"), ("update weights", "choose settings", "final held-out check"), sizes,
                                          (LEARNS, theme.PURPLE, theme.BLUE), (5.6, 3.6, 3.6)):
            lines = [words(name, theme.BODY, color, bold=True), words(use, theme.LABEL)]
            if n is not None:
                lines.append(words(f"{count(n)} {found.kind}s", theme.SMALL, theme.GREY))
            sets.add(Box(*lines, color=color, width=w, height=1.32))
        sets.arrange(RIGHT, buff=0.15).move_to([STAGE.left, STAGE.top - 1.18, 0], aligned_edge=LEFT)
        inspect = words("Inspect:", theme.BODY, bold=True)
        table = self.table(found)
        formula = self.formula(found)
        keep = column(words("Look at mistakes beside correct examples.", theme.BODY), words("Even a confident score can be wrong.", theme.BODY), gap=0.04,
                      align=LEFT)
        table.move_to([STAGE.left, STAGE.bottom + 0.12 + table.height / 2, 0], aligned_edge=LEFT)
        inspect.move_to([STAGE.left, table.get_top()[1] + 0.26, 0], aligned_edge=LEFT)
        x = table.get_right()[0] + 0.9
        formula.move_to([x, table.get_top()[1], 0], aligned_edge=UP + LEFT)
        keep.move_to([x, table.get_bottom()[1], 0], aligned_edge=DOWN + LEFT)
        self.step(*write(before))
        for s in sets:
            self.go(GrowFromEdge(s.border, LEFT), FadeIn(s.label), run_time=0.5)
        self.step(*write(inspect), *(FadeIn(cell) for cell in table[0]), lag_ratio=0.15)
        self.step(*write(*formula), lag_ratio=0.3)
        self.step(*write(*keep))

    def table(self, found):
        """The four outcomes, right ones teal and wrong ones red, with their counts where the run has a test."""
        counts = [None] * 4 if found is None else [found.dog["dog"], found.dog["cat"], found.cat["dog"], found.cat["cat"]]
        cells = Group()
        for (truth, said), n in zip(((a, b) for a in LABELS for b in LABELS), counts):
            color = theme.TEAL if truth == said else theme.RED
            lines = [words(f"{truth} → {said}", theme.BODY, color, bold=True)]
            if n is not None:
                lines.append(words(count(n), theme.CAPTION + 6, bold=True))
            cells.add(Box(*lines, color=color, width=2.65, height=1.05))
        return Group(grid([cells[:2], cells[2:]], gap=(0.14, 0.14)))

    def formula(self, found):
        line = words("Accuracy = correct predictions / number of test images", theme.BODY, bold=True)
        if found is None:
            return column(line, gap=0.1, align=LEFT)
        lost = found.dog["other"] + found.cat["other"]
        numbers = words(f"= {count(found.correct)} / {count(found.pets)} = *{pct(found.accuracy)}*", theme.CAPTION + 2, theme.BLUE)
        more = f"stand-in on its dogs and cats; {count(lost)} more got another label" if lost else "stand-in on its dogs and cats"
        return column(line, numbers, words(more, theme.LABEL, theme.GREY), gap=0.1, align=LEFT)
