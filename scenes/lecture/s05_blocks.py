"""Main lecture, fourth question: both residual updates, the stack of blocks, and what is stored."""

import numpy as np
from manim import TransformFromCopy

from scenes.kit import *  # noqa: F403 - the kit is the vocabulary of a storyboard
from vit_data import figures, rows
from vit_data.run import Vector

ROW, UPDATE, SECOND = (0.3, 0.55, 0.15, 0.45, 0.25), (0.25, 0.05, 0.5, 0.1, 0.3), (0.1, 0.3, 0.05, 0.35, 0.2)  # rows as symbols, nothing measured


class UpdatePage(Talk):
    """One residual update of one row: the branch above, the grey skip path below, both meet at the plus sign."""

    @property
    def receiver(self) -> str:
        return self.dog.place("ear")

    y = STAGE.center[1] + 0.25
    low = STAGE.bottom + 0.72

    def row(self, cells, *texts, x, color=theme.BLUE):
        """Cells on the page's axis with a bold name and a width above them; the first member is the cells."""
        said = column(*(words(t, theme.CAPTION if i == 0 else theme.BODY, color if i == 0 else theme.GREY, bold=i == 0) for i, t in enumerate(texts)), gap=0.0)
        return Group(cells.move_to([x, self.y, 0]), said.next_to(cells, UP, buff=0.14))

    def paths(self, start, plus, label):
        """The grey path from behind the first row to the plus sign, with its words."""
        fork = start[0].get_right()[0] + 0.3
        skip = elbow([fork, self.y, 0], [fork, self.low, 0], [plus.get_x(), self.low, 0], plus[0].get_bottom(), width=6)
        return skip, words(label, theme.CAPTION, theme.GREY).next_to([(fork + plus.get_x()) / 2, self.low, 0], UP, buff=0.12)


class AddAttention(UpdatePage):
    route = "lecture/s05/11"
    shows = (False, True)

    def title(self):
        return "Add the attention update to the original embedding"

    def caption(self):
        return "The message alone is not the new embedding: old row + update. Normalization is left out here."

    def says(self):
        m = self.model
        return [f"What becomes of the message? We stay with {self.receiver}. On the left is its embedding as it comes in, {m.width} features.",
                f"Attention gathers: {figures.number_word(m.heads)} messages of {m.head_width} features, joined.",
                f"The output projection turns them into an update, again {m.width} wide.",
                "The old row has meanwhile taken the grey path below; nothing happened to it there.",
                f"Both are added. So the patch keeps what it was and learns something from the others. Every patch and CLS get an update of their own, at the "
                "same time."]

    def build(self):
        m, name = self.model, self.receiver
        photo = Photograph(self.run)
        left = STAGE.left
        old = self.row(Cells(ROW, theme.BLUE, 0.34), f"{name} input", count(m.width), x=left + 1.05)
        crop = photo.crop(name, 0.95, RECEIVER).next_to(old[1], UP, buff=0.14)
        gather = Box(words("attention\ngathers messages", theme.CAPTION, theme.TEAL, bold=True, width=2.8, align="center"), color=theme.TEAL, width=2.95,
                     height=1.45).move_to([left + 4.2, self.y, 0])
        project = Box(words("project\nmessage", theme.CAPTION, theme.BLUE, bold=True, width=1.8, align="center"), color=theme.BLUE, width=1.8,
                      height=1.45).move_to([left + 7.05, self.y, 0])
        update = self.row(Cells(UPDATE, theme.TEAL, 0.24), "update", count(m.width), x=left + 9.05, color=theme.TEAL)
        plus = joint("+", radius=0.34).move_to([left + 10.42, self.y, 0])
        new = self.row(Cells(ROW, theme.BLUE, 0.34).plus(Cells(UPDATE)), f"updated {name}", count(m.width), x=STAGE.right - 0.97)
        sources = [photo.crop(self.dog.place(p), 0.75, theme.INK).move_to([gather.get_x() + dx, STAGE.top - 0.42, 0])
                   for p, dx in (("face", -1.0), ("nose", 0.0), ("chest", 1.0))]
        fall = [arrow(s.get_bottom(), [gather.get_x() + 0.6 * (s.get_x() - gather.get_x()), gather.get_top()[1], 0], theme.TEAL, gap=0.08, width=4, side=DOWN)
                for s in sources]
        skip, kept = self.paths(old, plus, "skip path: the original embedding is kept")
        self.step(FadeIn(crop))
        self.go(Emerge(old[0], crop), FadeIn(old[1]))
        self.step(*draw(arrow(old[0].get_right(), gather.get_left())), FadeIn(gather))
        self.go(*(FadeIn(s) for s in sources), *draw(*fall))
        self.go(*(pulse(f, theme.TEAL) for f in fall))
        self.step(*draw(arrow(gather, project)), FadeIn(project))
        self.go(*draw(arrow(project.get_right(), update[0].get_left(), gap=0.08)), Emerge(update[0], project), FadeIn(update[1]))
        self.step(*draw(skip), *write(kept))
        self.step(*draw(arrow(update[0].get_right(), plus[0].get_left(), gap=0.06)), FadeIn(plus), pulse(skip, theme.SKIP))
        self.go(*draw(arrow(plus[0].get_right(), new[0].get_left(), gap=0.06)), TransformFromCopy(old[0], new[0]), FadeIn(new[1]))


class AddMlp(UpdatePage):
    route = "lecture/s05/12"
    shows = (False, False)

    def title(self):
        return "The MLP adds one more update to each embedding"

    def caption(self):
        return "Same pattern, no exchange: each row goes through the same MLP by itself."

    def says(self):
        m = self.model
        return [f"Second half of the block. We start where attention stopped, with the updated row, {m.width} features.",
                f"It goes through a small network, the MLP: wider inside, and {m.width} features again at its end. That is the second update.",
                "And again there is a grey path. Mind what runs on it: the row after attention, not the one that entered the block.",
                "Added together, they give the new embedding, and the block is complete. Every patch and CLS use the same MLP, each on its own; rows exchange "
                "nothing in this half. Reading others is the job of attention."]

    def build(self):
        m, left = self.model, STAGE.left
        start = Cells(ROW, theme.BLUE, 0.34).plus(Cells(UPDATE))
        old = self.row(start, "after attention", count(m.width), x=left + 1.25)
        border = Frame(corner_radius=0.14, width=3.3, height=2.5, stroke_color=theme.BLUE, stroke_width=2.6, fill_color=theme.tint(theme.BLUE, 0.06),
                       fill_opacity=1).move_to([left + 5.0, self.y, 0])
        mlp = Group(border, Neurons(scale=1.6).icon.move_to(border), words("MLP", 48, theme.BLUE, bold=True).next_to(border, UP, buff=0.12))
        update = self.row(Cells(SECOND, theme.BLUE, 0.27), "update", f"{m.width} features", x=left + 8.45)
        plus = joint("+", radius=0.34).move_to([left + 10.15, self.y, 0])
        new = self.row(start.plus(Cells(SECOND)), "new embedding", count(m.width), x=STAGE.right - 1.25)
        skip, kept = self.paths(old, plus, "skip path: the row after attention is kept")
        into, out = arrow(old[0].get_right(), border.get_left()), arrow(border.get_right(), update[0].get_left())
        self.step(old)
        self.step(*draw(into), FadeIn(mlp))
        self.go(pulse(into, theme.BLUE))
        self.go(*draw(out), Emerge(update[0], border), FadeIn(update[1]))
        self.step(*draw(skip), *write(kept))
        self.step(*draw(arrow(update[0].get_right(), plus[0].get_left(), gap=0.08)), FadeIn(plus), pulse(skip, theme.SKIP))
        self.go(*draw(arrow(plus[0].get_right(), new[0].get_left(), gap=0.08)), TransformFromCopy(old[0], new[0]), FadeIn(new[1]))


class EveryBlock(Talk):
    route = "lecture/s05/13"

    def title(self):
        return "Every block updates the patches and CLS again"

    def caption(self):
        return f"{count(self.model.tokens)} rows go in and come out; their number and width stay, what they say does not."

    def says(self):
        m = self.model
        return [f"Now the whole stack. {m.tokens} token embeddings enter, {m.patches} patches and CLS, each {m.width} features wide.",
                "Block 1 does what we have just seen: an attention update, then an MLP update, for all rows.",
                f"Its output is the input of block 2, and so on up to block {m.depth}. Every block has weights of its own, learned for its place in the stack.",
                f"At the end we still have {m.tokens} rows of {m.width}. Nothing was pooled or thrown away. But each row has read the others "
                f"{figures.number_word(m.depth)} times. "
                "From here the CLS row goes on alone, to the classifier."]

    def build(self):
        m, depth = self.model, self.dog.depth
        last = rows.name(m.patches)
        y, names = STAGE.center[1] - 0.02, (rows.CLS, "P1", last)
        before, after = (self.state(names, depth and depth.after[n], x, y) for n, x in ((0, STAGE.left + 1.75), (m.depth, STAGE.right - 0.85)))
        labels = Group(*(words(n, theme.BODY, theme.AMBER if n == rows.CLS else theme.BLUE, bold=True).next_to(strip, LEFT, buff=0.14)
                         for n, strip in zip(names, (*before[:2], before[-1]))))
        left, right = before.get_right()[0] + 0.5, after.get_left()[0] - 0.5
        gap = 0.1
        w = (right - left - gap * (m.depth - 1)) / m.depth
        blocks = Group(*(self.block(w).move_to([left + w / 2 + n * (w + gap), y, 0]) for n in range(m.depth)))
        tops = [column(words(a, 44, theme.BLUE, bold=True), words(b, theme.BODY, theme.GREY), gap=-0.04).next_to(part, UP, buff=0.2)
                for a, b, part in ((count(m.tokens), "token embeddings", before), (count(m.tokens), "updated", after))]
        shapes = [words(t, theme.BODY, theme.GREY).next_to(part, DOWN, buff=0.2) for t, part in ((f"{m.width} features", before), (f"still {m.width}", after))]
        ends = [words(t, theme.CAPTION, theme.BLUE, bold=True).next_to(b, UP, buff=0.12).align_to(b, side)
                for t, b, side in (("block 1", blocks[0], LEFT), (f"block {m.depth}", blocks[-1], RIGHT))]
        into = arrow([before.get_right()[0], y, 0], blocks[0][0].get_left(), gap=0.08, width=4)
        out = arrow(blocks[-1][0].get_right(), [after.get_left()[0], y, 0], gap=0.08, width=4)
        order = row(words("attention update", theme.CAPTION, theme.TEAL, bold=True), words("then", theme.CAPTION, theme.GREY),
                    words("MLP update", theme.CAPTION, theme.BLUE, bold=True), gap=0.2)
        order.next_to(blocks, DOWN, buff=0.16)
        self.step(before, FadeIn(labels), FadeIn(tops[0]), FadeIn(shapes[0]))
        self.step(*draw(into), FadeIn(blocks[0][0]), FadeIn(ends[0]))
        self.go(FadeIn(blocks[0][1], shift=0.1 * UP), run_time=0.6)
        self.go(FadeIn(blocks[0][2], shift=0.1 * UP), *write(order), run_time=0.6)
        self.step(LaggedStart(*(FadeIn(b, shift=0.15 * RIGHT) for b in blocks[1:]), lag_ratio=0.3, run_time=2.2), FadeIn(ends[1], run_time=2.2))
        self.step(*draw(out), Emerge(after, blocks[-1]))
        self.go(FadeIn(shapes[1]), FadeIn(tops[1]))

    def state(self, names, found, x, y):
        """The named rows under one another with dots before the last."""
        strips = [Strip(found[n] if found else Vector.unknown(self.model.width), theme.AMBER if n == rows.CLS else theme.BLUE, 1.6, 0.52)
                  for n in names]
        return Group(*strips[:-1], words("⋮", theme.CAPTION, theme.GREY, bold=True), strips[-1]).arrange(DOWN, buff=0.12).move_to([x, y, 0])

    def block(self, width):
        """A slim block with its two updates, attention below and MLP above."""
        border = Frame(corner_radius=0.1, width=width, height=3.6, stroke_color=theme.BLUE, stroke_width=2.4, fill_color=theme.tint(theme.BLUE, 0.04),
                       fill_opacity=1)
        parts = Group(border)
        for text, color, high, dy in (("attention", theme.TEAL, 2.05, -0.69), ("MLP", theme.BLUE, 1.25, 1.08)):
            bar = Frame(corner_radius=0.07, width=width - 0.14, height=high, stroke_color=color, stroke_width=2, fill_color=theme.tint(color, 0.16),
                        fill_opacity=1).shift(dy * UP)
            parts.add(Group(bar, words(text, theme.BODY + 2, color, bold=True).rotate(np.pi / 2).move_to(bar)))
        return parts


class StoredOrComputed(Talk):
    route = "lecture/s05/14"

    def title(self):
        return "What is stored, and what changes with the image?"

    def caption(self):
        return "At inference the left column stands still; the right one is worked out anew for every image."

    def says(self):
        return ["To close this part, let us sort everything into two columns. On the left what is stored in the checkpoint: the projection of the patches, "
                "the position table and the first CLS row, all weights of the blocks, "
                "and the classifier. Training wrote them; today they stay.",
                f"On the right what is computed for this {figures.picture_word(self.run, 'dog')}: embeddings, queries, keys, values, attention weights, "
                "states, scores.",
                "Now I exchange the picture. Look at the right column, all of it changes. On the left nothing moves. A favourite exam question: the matrix "
                "that makes queries is stored, the attention matrix never is."]

    def build(self):
        left, right = STAGE.columns(1, 1.08, gap=0.4)
        stored = ("patch projection $W$, $b$", "position table\n+ starting CLS", "transformer weights\nwith $W_Q$, $W_K$, $W_V$", "classifier weights + biases")
        computed = ("patch embeddings", "$Q$, $K$, $V$\nand attention weights", "contextual patch states\n+ final CLS", "logits\n+ probabilities")
        cards = [panel(a.width, a.height, theme.tint(c, 0.5), theme.tint(c, 0.04)).move_to(a.center) for a, c in ((left, theme.GREY), (right, theme.BLUE))]
        heads = [words(t, 44, c, bold=True).move_to([a.left + 0.35, a.top - 0.58, 0], aligned_edge=LEFT)
                 for t, a, c in (("learned parameters", left, theme.INK), ("computed per image", right, theme.BLUE))]
        cold = badge(False, 0.5).move_to([left.right - 0.7, left.top - 0.58, 0])
        ys = [STAGE.top - 1.6 - 0.96 * i for i in range(4)]
        texts = [[words(t, theme.CAPTION).move_to([a.left + 0.35, y, 0], aligned_edge=LEFT) for t, y in zip(items, ys)]
                 for items, a in ((stored, left), (computed, right))]
        rules = [[link([a.left + 0.35, y + 0.48, 0], [a.right - 0.35, y + 0.48, 0], theme.tint(c, 0.35), 1.6) for y in ys]
                 for a, c in ((left, theme.GREY), (right, theme.BLUE))]
        x = right.right - 0.35 - 1.05
        photos = [Photograph(self.run, s, side=0.98).move_to([x, right.top - 0.58, 0]) for s in ("dog", "cat")]
        found = [self.found(s) for s in ("dog", "cat")]
        limits = [known_limit(*pair) for pair in zip(*found)]
        outs = []
        for s, rows_ in zip((self.dog, self.cat), found):
            top = s.prediction.top[0]
            said = column(words(top.label, theme.LABEL, bold=True, width=2.1, align="center"), words(pct(top.probability), theme.BODY, theme.BLUE, bold=True),
                          gap=0.02)
            outs.append([*(Strip(v, c, 2.1, 0.55, limit=limit).move_to([x, y, 0])
                           for v, y, c, limit in zip(rows_, ys, (theme.BLUE, theme.TEAL, theme.BLUE), limits)), said.move_to([x, ys[-1], 0])])
        self.step(FadeIn(cards[0]), *write(heads[0]), FadeIn(cold))
        self.go(LaggedStart(*(FadeIn(Group(t, r), shift=0.12 * UP) for t, r in zip(texts[0], rules[0])), lag_ratio=0.35, run_time=1.6))
        self.step(FadeIn(cards[1]), *write(heads[1]), FadeIn(photos[0]))
        self.go(LaggedStart(*(FadeIn(Group(t, r, s), shift=0.12 * UP) for t, r, s in zip(texts[1], rules[1], outs[0])), lag_ratio=0.35, run_time=1.6))
        self.step(FadeOut(photos[0]), FadeIn(photos[1]))
        self.go(LaggedStart(*(AnimationGroup(FadeOut(a), FadeIn(b)) for a, b in zip(*outs)), lag_ratio=0.3, run_time=1.6))

    def found(self, subject):
        """A patch's content, the weights of one query, the final CLS row; blank where the run has none."""
        m, s = self.model, getattr(self.run, subject)
        name = next(n for n in s.patches if all(n in p and p[n].c for p in (self.dog.patches, self.cat.patches)))
        weights = next((a.values for a in s.attention if (a.block, a.head, a.query) == (4, 1, self.dog.place("ear"))), None)
        return (s.patches[name].c, Vector.of(weights) if weights else Vector.unknown(m.tokens), s.h or Vector.unknown(m.width))
