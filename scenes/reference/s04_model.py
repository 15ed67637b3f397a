"""Section 4 of the reference deck: the whole model once forward in shapes, one block opened, and once backward."""

from manim import Line, Rectangle, VGroup

from scenes.kit import *  # noqa: F403 - the kit is the vocabulary of a storyboard
from vit_data import block, figures


class WholeModel(SectionCard):
    route = "reference/s04/1"

    def name(self):
        return "Whole model walkthrough"

    def before(self):
        return "Each part of the classifier has been opened by now."

    def question(self):
        return "How do forward and backward fit together?"

    def topics(self):
        return ("Shapes", "One block", "Backward")

    def art(self):
        cards = Group(*(Block(self.model, n, width=3.4, height=0.6, lines=(), size=theme.LABEL) for n in (self.model.depth, 2, 1)))
        dots = words("⋮", theme.BODY, theme.GREY, bold=True)
        head = Box("Head", color=theme.INK, width=3.4, height=0.6, size=theme.LABEL, fill=0.03)
        photo = Photograph(self.run, side=1.1)
        tower = column(head, cards[0], dots, cards[1], cards[2], photo, gap=0.26)
        up = Group(*(arrow(a, b, theme.BLUE, gap=0.02, side=UP) for a, b in ((photo, cards[2]), (cards[2], cards[1]), (cards[0], head))))
        return Group(tower, up)

    def caption(self):
        return ("One example goes through the complete model to the loss of its label; then the same path is walked back, for the gradients that change "
                "the parameters.")

    def notes(self):
        return ("We have been inside every part. Now see them as one machine. Ask what has to happen forward before anything can go backward, "
                "and what stays the same on both ways. The image and the classifier are those of the last section: "
                f"{figures.number_word(self.model.depth)} blocks and one head.")


class ShapeTrace(Slide):
    route = "reference/s04/2"

    def title(self):
        return "One shape trace from pixels to class scores"

    def caption(self):
        m = self.model
        return (f"The number of rows changes once, from {m.patches} to {m.tokens} with CLS. The blocks leave the shape alone and change what the rows say; "
                f"the head turns {m.width} features into {count(m.classes)} scores.")

    def notes(self):
        m = self.model
        return (f"Ask for the two places where the shape changes after the projection. CLS adds a row, and the head goes from {m.width} to {count(m.classes)}. "
                "Everything between is the same rectangle over and over, which is why blocks can be stacked. The next page opens one of them.")

    def build(self):
        m = self.model
        tall, wide = 2.3, 1.25
        photo = Photograph(self.run, side=1.75)
        planes = Group(*(Rectangle(width=1.75, height=1.75, stroke_color=theme.RGB[c], stroke_width=2.5, fill_color=theme.tint(theme.RGB[c], 0.2),
                                   fill_opacity=1).shift((2 - i) * (0.13 * RIGHT + 0.11 * UP))
                         for i, c in enumerate("RGB")))
        pixels_ = Group(*planes[:2], photo)
        pixels_[1].set_z_index(0)
        content = self.table(tall, wide, cls=False)
        rows_ = self.table(tall, wide, cls=True)
        stack = Group(*(Rectangle(width=wide, height=tall, stroke_color=theme.BLUE, stroke_width=1.8, fill_color=theme.PAPER,
                                  fill_opacity=1).shift(i * (0.075 * RIGHT + 0.06 * UP)) for i in range(m.depth - 1, 0, -1)),
                      self.table(tall, wide, cls=True))
        final = Strip(self.dog.h, theme.BLUE, wide, 0.3)
        scores = self.scores(tall)
        parts = (("Pixels", times(m.channels, m.image, m.image), pixels_), ("Patch projection", times(m.patches, m.width), content),
                 ("Add CLS + position", times(m.tokens, m.width), rows_),
                 (f"{m.depth} encoder blocks", times(m.tokens, m.width), stack), ("Final LN → read CLS", str(m.width), final),
                 ("Class head", f"{count(m.classes)} logits", scores))
        step = STAGE.width / len(parts)
        group, arrows = Group(), Group()
        for i, (name, shape, icon) in enumerate(parts):
            x = STAGE.left + step * (i + 0.5)
            icon.move_to([x, 0.6, 0])
            label = words(name, theme.LABEL, bold=True, width=step - 0.25, align="center").move_to([x, -1.08, 0], aligned_edge=UP)
            size = words(shape, theme.BODY, theme.BLUE, bold=True).move_to([x, -1.95, 0])
            fit(size, step - 0.1, 1)
            group.add(Group(icon, label, size))
        for a, b in zip(group, group[1:]):
            arrows.add(arrow([a[0].get_right()[0], 0.6, 0], [b[0].get_left()[0], 0.6, 0], gap=0.1))
        note = words("ONE IMAGE · batch axis omitted", theme.LABEL, theme.GREY, bold=True).move_to([STAGE.left, STAGE.top - 0.02, 0], aligned_edge=LEFT)
        mark = outline(rows_.first, theme.AMBER, 4, pad=0.03)
        more = words("+ 1 row", theme.LABEL, theme.AMBER, bold=True).next_to(rows_, UP, buff=0.12)
        self.step(*write(note), FadeIn(group[0]))
        self.step(*draw(arrows[0]), Emerge(group[1][0], group[0][0]), *write(*group[1][1:]))
        self.step(*draw(arrows[1]), Emerge(group[2][0], group[1][0]), *write(*group[2][1:]))
        self.go(FadeIn(mark), *write(more))
        self.step(*draw(arrows[2]), LaggedStart(*(FadeIn(s, shift=0.1 * RIGHT) for s in group[3][0]), lag_ratio=0.1), *write(*group[3][1:]))
        self.step(*draw(arrows[3]), Emerge(group[4][0], stack[-1].first), *write(*group[4][1:]))
        self.step(*draw(arrows[4]), FadeIn(scores), *write(*group[5][1:]))

    def table(self, tall, wide, cls):
        """Rows as a block of lines, an amber row for CLS on top; ``first`` is the place of the top row."""
        lines = Group(Rectangle(width=wide, height=tall, stroke_color=theme.BLUE, stroke_width=2.2, fill_color=theme.tint(theme.BLUE, 0.1), fill_opacity=1))
        n = 14
        for i in range(1, n):
            y = tall / 2 - i * tall / n
            lines.add(Line([-wide / 2, y, 0], [wide / 2, y, 0], stroke_width=1, color=theme.tint(theme.BLUE, 0.4)))
        lines.first = lines[0]
        if cls:
            top = Rectangle(width=wide, height=tall / n, stroke_color=theme.AMBER, stroke_width=2, fill_color=theme.tint(theme.AMBER, 0.5),
                            fill_opacity=1).move_to([0, tall / 2 - tall / n / 2, 0])
            lines.add(top)
            lines.first = top
        return lines

    def scores(self, tall):
        """The three largest logits as bars."""
        top = self.dog.prediction.top
        bars = VGroup(*(Rectangle(width=max(1.4 * s.logit / top[0].logit, 0.05) if top[0].logit > 0 else 0.05, height=0.3, stroke_width=0,
                                  fill_color=theme.tint(theme.BLUE, 1 if i == 0 else 0.5), fill_opacity=1)
                        for i, s in enumerate(top)))
        bars.arrange(DOWN, buff=0.2, aligned_edge=LEFT)
        dots = words("⋮", theme.BODY, theme.GREY, bold=True).next_to(bars, DOWN, buff=0.08).align_to(bars, LEFT)
        axis = Line(bars.get_corner(UP + LEFT) + 0.1 * UP, [bars.get_left()[0], dots.get_bottom()[1], 0], stroke_width=2, color=theme.GREY)
        return Group(bars, axis, dots)


class InsideEachBlock(Slide):
    route = "reference/s04/3"

    def title(self):
        return "Inside each block: mix, transform, keep the residual"

    def caption(self):
        m = self.model
        return (f"This block stands in the model {figures.number_word(m.depth)} times, each time with weights of its own. It works on all {m.tokens} "
                "rows at once, "
                "and its input always reaches its output.")

    def notes(self):
        return ("Three levels of one thing: a card in the stack, its two branches, then the heads and the hidden units. In which box do rows exchange "
                "anything? Only in self-attention. "
                "LayerNorm stands at the start of each branch and not on the grey path, so the row itself passes without being rescaled.")

    def build(self):
        m = self.model
        head = words(f"ONE PRE-LAYERNORM BLOCK · input and output: {times(m.tokens, m.width)}", theme.LABEL, theme.GREY,
                     bold=True).move_to([0, STAGE.top + 0.04, 0])
        small = Group(*(Block(m, n, lines=(), width=0.98, height=1.5, size=theme.SMALLEST_PX) for n in range(1, m.depth + 1))).arrange(RIGHT, buff=0.11)
        fit(small, STAGE.width, 2).move_to([0, 0.35, 0])
        branches = Block(m, "", Block.BRANCHES, size=theme.LABEL, width=STAGE.width, symbols=("E", "U", "E'")).move_to([0, 0.35, 0])
        opened = Block(m, "", Block.OPEN, size=theme.LABEL, width=STAGE.width, symbols=("E", "U", "E'")).move_to([0, 0.3, 0])
        carry = words("The skip path carries the input along", theme.LABEL, theme.SKIP, bold=True)
        three = row(words("*Attention* mixes rows", theme.LABEL), words("*the MLP* transforms each row", theme.LABEL),
                    words("*both* add a residual update", theme.LABEL), gap=0.8)
        three.move_to([0, STAGE.bottom + 0.1, 0])
        self.step(*write(head), LaggedStart(*(FadeIn(s) for s in small), lag_ratio=0.06))
        self.step(*(FadeOut(s) for s in small[1:]), TransformFromOne(small[0], branches.frame[0]), FadeIn(branches.heading))
        self.go(FadeIn(branches.symbols[0]), *branches.attention.branch(), lag_ratio=0.1)
        self.go(*branches.mlp.branch(), FadeIn(branches.symbols[1]), lag_ratio=0.1)
        carry.move_to([0, branches.frame.get_bottom()[1] - 0.28, 0])
        self.step(*branches.attention.close(), *branches.mlp.close(), *draw(branches.out), FadeIn(branches.symbols[2]), *write(carry))
        self.go(pulse(branches.attention.skip, theme.BLUE, run_time=1.2), pulse(branches.mlp.skip, theme.BLUE, run_time=1.2))
        self.step(FadeOut(branches), FadeIn(opened), carry.animate.set_y(opened.frame.get_bottom()[1] - 0.26))
        self.step(*write(*three))


def TransformFromOne(card, frame):  # noqa: N802 - reads as an animation
    """A small card grows into the border of the opened block."""
    return AnimationGroup(FadeOut(card), Emerge(frame, card))


class Backward(Slide):
    route = "reference/s04/4"

    def title(self):
        return "Backward: compute gradients, then update the model"

    def caption(self):
        label, loss = block.label_loss(self.dog.prediction)
        return (f"From the loss of the label {label}, {num(loss, 4)}, gradients run the forward path in reverse. They change nothing yet; the "
                "optimizer’s step does, "
                "and the next pass uses what it changed.")

    def notes(self):
        m = self.model
        return (f"Does backward() alter a weight? No. It only says, for each of the {count(m.parameters.total)} parameters, in which direction the loss "
                "would grow. "
                "The step that follows moves them. Learned input parameters are among them: the patch projection, the positions, the first CLS. The "
                "pixels and the label are given and stay.")

    def build(self):
        m = self.model
        _, loss = block.label_loss(self.dog.prediction)
        photo = Photograph(self.run, side=0.95)
        image = Box(photo, words("Image $x$", theme.LABEL, theme.INK, bold=True), words(times(m.channels, m.image, m.image), theme.SMALL, theme.GREY),
                    color=theme.GREY, width=2.05, height=1.85, fill=0.04)
        learned = [Box(*name, words(shape, theme.SMALL, theme.GREY), width=w, height=1.85, size=theme.BODY) for name, shape, w in
                   ((("Input", words("embedding", theme.BODY, theme.BLUE, bold=True)), times(m.tokens, m.width), 2.2),
                    ((f"{m.depth} blocks",), times(m.tokens, m.width), 2.2),
                    (("Read CLS", words("+ head", theme.BODY, theme.BLUE, bold=True)), f"{m.width} → {count(m.classes)}", 2.2))]
        lossbox = Box("Label loss", words(f"$L$ = {num(loss, 4)}", theme.BODY, theme.INK, bold=True), color=theme.RED, width=2.3, height=1.85, size=theme.BODY)
        line = row(image, *learned, lossbox, gap=0.55).move_to([0, 1.16, 0])
        forward_ = Group(*(arrow(a, b, gap=0.05) for a, b in zip(line, line[1:])))
        y = line.get_bottom()[1] - 0.28
        back = Group()
        for a, b in zip(reversed(line[1:4]), reversed(line[2:5])):
            back.add(backward([b.get_x() - 0.12, line.get_bottom()[1], 0], [b.get_x() - 0.12, y, 0], [a.get_x() + 0.12, y, 0],
                              [a.get_x() + 0.12, line.get_bottom()[1] - 0.02, 0]))
        head = words("Same model, reverse direction: loss → parameter gradients", theme.LABEL, theme.ORANGE, bold=True).move_to([0, STAGE.top + 0.06, 0])
        fixed = words("Fixed data", theme.LABEL, theme.GREY, bold=True).next_to(image, DOWN, buff=0.14)
        reach = words("Gradients reach the head, all blocks and the learned input parameters", theme.LABEL,
                      theme.ORANGE).move_to([(line[1].get_left()[0] + line[4].get_right()[0]) / 2, y - 0.26, 0])
        steps = Pipeline(*(Box(name, words(detail, theme.BODY, theme.INK), color=color, width=3.7, height=1.08, size=theme.BODY) for name, detail, color in
                           (("Compute gradients", '$theta$.grad = $(partial L) / (partial theta)$', theme.ORANGE),
                            ("Optimizer step", "$theta <- theta - eta nabla_theta L$", theme.ORANGE),
                            ("Next forward pass", "use updated parameters", theme.BLUE))), gap=0.6)
        steps.move_to([0, STAGE.bottom + 1.0, 0])
        calls = words("`backward()` computes the gradients, `step()` changes the parameters", theme.LABEL, bold=True).move_to([0, STAGE.bottom + 0.14, 0])
        self.step(FadeIn(line[0]), *(x for a, part in zip(forward_, line[1:]) for x in (*draw(a), FadeIn(part))), lag_ratio=0.12)
        self.step(*write(head), FadeIn(fixed))
        for path in back:
            self.go(*draw(*path), run_time=0.5)
        self.go(*write(reach), *(part[0].animate.set_stroke(theme.ORANGE, 4) for part in learned))
        for i, box in enumerate(steps.stages):
            self.step(*(draw(steps.arrows[i - 1]) if i else []), FadeIn(box), *(write(calls) if i == 2 else []))
