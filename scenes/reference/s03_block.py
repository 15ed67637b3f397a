"""Section 3 of the reference deck, second half: three heads, both residual additions, the MLP, twelve blocks (pages 26 to 39)."""

import numpy as np
from manim import Axes, Dot, Rectangle, TransformFromCopy

from scenes.kit import *  # noqa: F403 - the kit is the vocabulary of a storyboard
from scenes.kit.attention import TokenMatrix
from vit_data import block, figures, rows
from vit_data.run import Vector


class BlockPage(Slide):
    """What these pages share: the matrices of the three heads, the shapes, strips with values under them."""

    @property
    def last(self) -> str:
        return rows.name(self.model.patches)

    @property
    def matrix(self) -> str:
        return times(self.model.tokens, self.model.width)

    @property
    def narrow(self) -> str:
        return times(self.model.tokens, self.model.head_width)

    @property
    def names(self) -> dict[str, int]:
        return {rows.CLS: 0, "P1": 1, self.last: self.model.patches}

    @property
    def sparse(self) -> list[str]:
        return [rows.CLS, "P1", "", self.last]

    def heads(self) -> list:
        return block.heads(self.run) or [None] * self.model.heads

    def tokens(self, values, columns, width, height, color=theme.BLUE, *, across=False, scale=None, labels=False, weights=False, wide=0.14):
        """A matrix of all tokens; ``across`` has tokens along the top too."""
        shape = (self.model.tokens, columns) if columns else (self.model.tokens, self.model.tokens)
        return TokenMatrix(values, shape, width, height, color, down=self.names, across=self.names if across else None, scale=scale, labels=labels,
                           weights=weights,
                           wide=wide, wide_across=wide if across else None, size=theme.SMALLEST_PX)

    def state(self, which, width=1.5, step=0.3, color=theme.BLUE, **style):
        """The rows CLS, P1 and the last patch of a matrix that the run holds under ``which`` (a block number or a field of ``depth``)."""
        depth = self.dog.depth
        some = None if depth is None else depth.after.get(which) if isinstance(which, int) else getattr(depth, which)
        return SparseMatrix(self.sparse, some, width, self.model.width, color, step, size=theme.SMALLEST_PX, **style)


class RowCard(Group):
    """A row of numbers: a heading, its strip, its values, its symbol and shape. Arrows meet it at the strip."""

    def __init__(self, head, vector, name, color=theme.BLUE, width=3.3, n=2, digits=3, limit=None):
        self.strip = Strip(vector, color, width, 0.55, limit=limit)
        super().__init__(words(head, theme.LABEL, color, bold=True), self.strip, words(vec(vector, n, digits), theme.CAPTION),
                         words(name, theme.LABEL, theme.GREY))
        self.arrange(DOWN, buff=0.14)

    def entries(self):
        """Where an arrow arrives."""
        return [self.strip.get_left()]

    def exits(self):
        """Where an arrow leaves."""
        return [self.strip.get_right()]


def common_limit(*vectors: Vector) -> float:
    """One colour scale for several strips: the 98th percentile of what is known of them."""
    values = np.concatenate([known(v) for v in vectors])
    return float(np.nanquantile(np.abs(values), 0.98)) or 1.0


def strip_or_panel(vector: Vector | None, width: float, height: float, color: str = theme.BLUE, limit: float | None = None):
    """A row as a strip, or a neutral panel of its size where the run does not know it."""
    return Group(panel(width, height, theme.tint(color, 0.5))) if vector is None else Strip(vector, color, width, height, limit=limit)


class ThreeHeads(BlockPage):
    route = "reference/s03/26"

    def title(self):
        return f"From one completed head to {figures.number_word(self.model.heads)} parallel heads"

    def caption(self):
        m = self.model
        return (f"Head 1 has turned {m.tokens} rows into {m.tokens} messages. The other heads start from the same rows at the same time; "
                "their messages are joined before anything goes on.")

    def notes(self):
        return ("One head is done, and still nothing has been added to E: all we hold is one message for every row. Now let the other heads appear beside it. "
                "They read the very rows that head 1 read, not what head 1 produced. Joining, projecting and adding come after all of them.")

    def build(self):
        m, found = self.model, self.heads()
        mats = self.dog.matrices
        x = self.tokens(mats and mats.x.array(), m.width, 1.35, 3.7, labels=True, wide=0.2).move_to([STAGE.left + 1.25, 0, 0])
        x_words = column(words("$X$", theme.BODY, theme.BLUE), words(f"{m.tokens} input rows", theme.LABEL), gap=0.02).next_to(x.border, DOWN, buff=0.1)
        limit = None if found[0] is None else float(np.quantile(np.abs(np.concatenate([h.h for h in found])), 0.98))
        lanes, arrows = Group(), Group()
        for h, y in enumerate((1.62, 0.0, -1.62), 1):
            color = head_color(h)
            box = Box(f"Head {h}", words("Q and K → source weights → mix V", theme.SMALL, theme.GREY), color=color, width=4.3, height=1.05,
                      size=theme.BODY).move_to([-1.55, y, 0])
            out = self.tokens(found[h - 1] and found[h - 1].h, m.head_width, 0.5, 1.3, color, scale=limit).move_to([1.65, y, 0])
            name = words(f"$H^{h}$", theme.BODY, color).next_to(out.border, RIGHT, buff=0.15)
            lanes.add(Group(box, out, name))
            arrows.add(Group(arrow(x.border.get_right(), box.get_left(), color, gap=0.08), arrow(box, out.border, color)))
        side = Area(2.75, STAGE.bottom, STAGE.right, STAGE.top)
        done = column(words("Head 1: complete", theme.BODY, bold=True), words("it holds a message for every row:", theme.LABEL),
                      words(f"{m.tokens} messages, each {m.head_width} features", theme.LABEL), gap=0.06, align=LEFT)
        done.move_to([side.left, 1.62, 0], aligned_edge=LEFT)
        more = column(words(f"Now {figures.number_word(m.heads)} heads in parallel", theme.BODY, bold=True, width=side.width),
                      words("each reads the same input rows", theme.LABEL), gap=0.06, align=LEFT)
        more.move_to([side.left, 0.0, 0], aligned_edge=LEFT)
        after = column(words("Combine their messages first", theme.BODY, bold=True, width=side.width), words("and then continue to the MLP", theme.LABEL),
                       gap=0.06, align=LEFT)
        after.move_to([side.left, -1.62, 0], aligned_edge=LEFT)

        self.step(x, FadeIn(x_words))
        self.go(*draw(arrows[0][0]), FadeIn(lanes[0][0]))
        self.step(*draw(arrows[0][1]), Emerge(lanes[0][1], lanes[0][0]), FadeIn(lanes[0][2]), *write(*done))
        self.step(*(TransformFromCopy(lanes[0][0], lanes[h][0]) for h in (1, 2)), *(a for h in (1, 2) for a in draw(arrows[h][0])), *write(*more))
        self.go(*(pulse(a[0], theme.BLUE) for a in arrows))
        self.go(*(a for h in (1, 2) for a in (*draw(arrows[h][1]), Emerge(lanes[h][1], lanes[h][0]), FadeIn(lanes[h][2]))))
        self.step(*write(*after))


class WhatHeadsMightSeek(BlockPage):
    route = "reference/s03/27"

    def title(self):
        return f"What might different heads look for in this {figures.picture_word(self.run, 'dog')}?"

    def caption(self):
        return ("With several heads, one receiver can ask several questions in the same block. Texture, parts and surroundings are guesses to think with; "
                "nobody wrote these jobs into a head.")

    def notes(self):
        return ("Ask what a single mixture would lose: fur next door, parts of a face, the scene around it. Then say plainly that these three pictures "
                "are drawn by us. "
                "Training decides what a head matches, and a head need not have a job that we can name.")

    def build(self):
        places = self.dog.photo.places
        chest = places["chest"]
        grid_ = self.model.grid
        near = [chest - 3, chest + 3, chest - 3 * grid_]
        cards = Group()
        questions = (("Nearby texture", chest, near, "Does this fur continue nearby?"),
                     ("Animal parts", places["nose"], [places["ear"], places["other_ear"], places["chest"]], "Which face clues belong together?"),
                     ("Wider context", places["face"], [places["background"], places["branches"], places["corner"]], "How does this region fit the scene?"))
        for h, (name, receiver, sources, question) in enumerate(questions, 1):
            photo = Photograph(self.run, side=3.0)
            marks = Group(*(photo.patch(s, SOURCE, 3.5) for s in sources))
            paths = Group(*(message_path(photo, s, receiver, width=4, bow=0.6 if i % 2 else -0.6) for i, s in enumerate(sources)))
            head = words(name, theme.BODY, head_color(h), bold=True)
            ask = words(question, theme.LABEL, bold=True)
            message = words("a different weighted message", theme.SMALL, theme.TEAL)
            body = column(head, photo, ask, message, gap=0.12)
            frame = panel(4.1, body.height + 0.36, theme.tint(head_color(h), 0.55), theme.tint(head_color(h), 0.04)).move_to(body)
            cards.add(Group(frame, head, photo, photo.patch(receiver, RECEIVER), marks, paths, ask, message))
        row(*cards, gap=0.38)
        cards.move_to([0, STAGE.bottom + cards.height / 2, 0])
        note = words("*Illustrative possibilities* · learned heads are not assigned these jobs", theme.LABEL, theme.GREY).move_to([0, STAGE.top - 0.12, 0])
        for i, (frame, head, photo, receiver, marks, paths, ask, message) in enumerate(cards):
            self.step(FadeIn(frame), FadeIn(photo), *write(head, ask), *(write(note) if i == 0 else []))
            self.go(FadeIn(receiver), FadeIn(marks), *draw(*paths), FadeIn(message))
        self.step(LaggedStart(*(pulse(p, theme.TEAL) for c in cards for p in c[5]), lag_ratio=0.1), FadeIn(local_roles()))


class SameRowsThreeSets(BlockPage):
    route = "reference/s03/28"

    def title(self):
        return f"The same rows feed {figures.number_word(self.model.heads)} sets of Q, K and V"

    def caption(self):
        m = self.model
        return ("One normalized matrix X goes into every head. What differs are the projection weights and biases, so each head gets its own Q, K and V, "
                f"{m.tokens} rows of {m.head_width} features; CLS is always the outlined first row.")

    def notes(self):
        return ("Two wrong pictures to clear away: the patches are not dealt out among the heads, and there are not several CLS tokens. Follow the amber "
                "row: it enters each "
                "head complete, with all its features, and leaves as a query, a key and a value of that head. The small raised number names the head.")

    def build(self):
        m, found, mats = self.model, self.heads(), self.dog.matrices
        x = self.tokens(mats and mats.x.array(), m.width, 1.9, 3.3, labels=True, wide=0.24).move_to([STAGE.left + 1.62, -0.1, 0])
        x_head = column(words("$X$ = LayerNorm($E$)", theme.LABEL, theme.BLUE), gap=0).next_to(x.border, UP, buff=0.12)
        x_shape = words(self.matrix, theme.SMALL, theme.GREY).next_to(x.border, DOWN, buff=0.1)
        mark = x.mark_row(rows.CLS)
        lanes = Group()
        for h, y in enumerate((1.6, 0.08, -1.44), 1):
            color = head_color(h)
            box = Box(f"Head {h}", words("own Q/K/V projections", theme.SMALL, theme.GREY), color=color, width=2.95, height=0.98,
                      size=theme.LABEL).move_to([-1.35, y, 0])
            mats_h = Group()
            for i, letter in enumerate("QKV"):
                values = None if found[h - 1] is None else getattr(found[h - 1], letter.lower())
                matrix = self.tokens(values, m.head_width, 1.28, 1.22, color, labels=letter == "Q", wide=0.19)
                matrix.shift(np.array([1.95 + 1.88 * i, y, 0]) - matrix.border.get_center())
                name = words(f"${letter}^{h}$", theme.BODY, color).next_to(matrix.border, RIGHT, buff=0.08)
                mats_h.add(Group(matrix, matrix.mark_row(rows.CLS), name))
            into = arrow(x.border.get_right(), box.get_left(), color, gap=0.08)
            out = arrow(box.get_right(), [mats_h[0][0].get_left()[0], y, 0], color, gap=0.08)
            lanes.add(Group(box, into, out, mats_h))
        count_rows = words(f"{m.patches} patch rows + one CLS row = {m.tokens} rows", theme.SMALL, theme.GREY)
        each = words(f"Each Q/K/V: {self.narrow}", theme.SMALL, theme.GREY)
        count_rows.move_to([STAGE.left, STAGE.bottom + 0.02, 0], aligned_edge=LEFT)
        each.move_to([3.95, STAGE.bottom + 0.02, 0])
        note = words("One CLS input, shared; each head’s projection of it differs", theme.LABEL, bold=True).move_to([STAGE.right, STAGE.top + 0.05, 0],
                aligned_edge=RIGHT)

        self.step(x, FadeIn(x_head), FadeIn(x_shape), FadeIn(mark), *write(count_rows))
        for h, (box, into, out, mats_h) in enumerate(lanes):
            self.step(*draw(into), FadeIn(box, shift=0.2 * RIGHT))
            self.go(*draw(out), *(Emerge(g[0], box) for g in mats_h), *(FadeIn(g[2]) for g in mats_h), lag_ratio=0.1)
            self.go(*(TransformFromCopy(mark, g[1]) for g in mats_h), *(write(each) if h == 0 else []))
        self.step(*write(note), *(pulse(lane[1], theme.AMBER) for lane in lanes))


class CompleteCalculation(BlockPage):
    route = "reference/s03/29"

    def title(self):
        return "Each head repeats the complete attention calculation"

    def caption(self):
        m = self.model
        return (f"Compare, scale, softmax row by row, mix the values: every head runs the whole chain on its own matrices and ends with {m.tokens} messages "
                f"of {m.head_width} features. None waits for another.")

    def notes(self):
        return ("Keep to one colour at a time and walk it from left to right. The scores of head 2 never meet the values of head 3. "
                f"Each head has its own square of {times(self.model.tokens, self.model.tokens)} weights, and on this picture the squares look different.")

    def build(self):
        m, found = self.model, self.heads()
        square, side = times(m.tokens, m.tokens), 1.14
        xs = (-4.72, -3.05, -1.02, 1.48, 3.56, 5.76)
        shapes = (self.narrow, times(m.head_width, m.tokens), square, square, self.narrow, self.narrow)
        ys = (1.42, -0.06, -1.54)
        limit = None if found[0] is None else float(np.quantile(np.concatenate([f.a for f in found]), 0.985))
        lines = Group()
        for h, y in enumerate(ys, 1):
            color, f = head_color(h), found[h - 1]
            cells = Group()
            for letter, x in zip(("Q", "K", "S", "A", "V", "H"), xs):
                values = None if f is None else getattr(f, letter.lower())
                if letter == "K":
                    part = TokenMatrix(None if values is None else values.T, (m.head_width, m.tokens), side, 0.52, color, across=self.names, labels=False,
                                       wide_across=0.13)
                elif letter in "SA":
                    part = self.tokens(values, 0, side, side, color, across=True, weights=letter == "A", scale=limit if letter == "A" else None, wide=0.11)
                else:
                    part = self.tokens(values, m.head_width, 0.52, side, color, wide=0.13)
                part.shift(np.array([x, y, 0]) - part.border.get_center())
                name = f"$(K^{h})^T$" if letter == "K" else f"${letter}^{h}$"
                label = words(name, theme.SMALL, theme.TEAL if letter == "A" else color)
                label.next_to(part.border, LEFT, buff=0.1) if letter != "K" else label.next_to(part.border, UP, buff=0.06)
                cells.add(Group(part, label))
            head = Box(f"Head {h}", color=color, size=theme.SMALL, width=1.05, height=0.6).move_to([STAGE.left + 0.52, y, 0])
            ops = Group(self.sign("×", cells[0][0].border, cells[1][0].border),
                        self.step_arrow("÷ " + count(round(m.head_width**0.5)), cells[1][0].border, cells[2][1]),
                        self.step_arrow("softmax", cells[2][0].border, cells[3][1], above=h == 1), self.sign("×", cells[3][0].border, cells[4][1]),
                        self.step_arrow("mix values", cells[4][0].border, cells[5][1], above=h == 1))
            lines.add(Group(head, cells, ops))
        tops = Group(*(words(s, theme.SMALLEST_PX, theme.GREY).move_to([x, STAGE.top - 0.05, 0]) for s, x in zip(shapes, xs)))
        note = words("Matching scores, attention weights, messages: each head has its own", theme.LABEL, bold=True).move_to([0, STAGE.bottom - 0.02, 0])

        head, cells, ops = lines[0]
        self.step(FadeIn(head), FadeIn(cells[0]), FadeIn(cells[1]), FadeIn(ops[0]), FadeIn(tops[:2]))
        self.step(FadeIn(ops[1]), Emerge(cells[2][0], cells[1][0]), FadeIn(cells[2][1]), FadeIn(tops[2]))
        self.go(FadeIn(ops[2]), Emerge(cells[3][0], cells[2][0]), FadeIn(cells[3][1]), FadeIn(tops[3]))
        self.step(FadeIn(ops[3]), FadeIn(cells[4]), FadeIn(tops[4]))
        self.go(FadeIn(ops[4]), Emerge(cells[5][0], cells[4][0]), FadeIn(cells[5][1]), FadeIn(tops[5]))
        for line in lines[1:]:
            self.step(FadeIn(line[0]), LaggedStart(*(FadeIn(g) for g in self.alternate(line[1], line[2])), lag_ratio=0.15), run_time=1.4)
        self.go(*write(note))

    def alternate(self, cells, ops):
        """Matrices and signs of a line in reading order."""
        out = []
        for i, cell in enumerate(cells):
            out += [cell] + ([ops[i]] if i < len(ops) else [])
        return out

    def sign(self, text, a, b):
        x = (a.get_right()[0] + b.get_left()[0]) / 2
        return words(text, theme.BODY, bold=True).move_to([x, a.get_center()[1], 0])

    def step_arrow(self, text, a, b, above=True):
        y = a.get_center()[1]
        line = arrow([a.get_right()[0], y, 0], [b.get_left()[0], y, 0], gap=0.07)
        return Group(line, words(text, theme.SMALLEST_PX, theme.GREY).next_to(line, UP, buff=0.07)) if above else Group(line)


class ThreeMessages(BlockPage):
    route = "reference/s03/30"

    def title(self):
        return f"One CLS input produces {figures.number_word(self.model.heads)} different messages"

    def caption(self):
        m = self.model
        return ("There is one CLS row, and every head reads it. Their learned projections differ, so CLS looks at other sources in each of them "
                f"and gets {figures.number_word(m.heads)} messages of {m.head_width} measured features.")

    def notes(self):
        b = self.dog.block1
        looks = ""
        if b.cls_attention:
            looks = " In this run the strongest patches are " + ", ".join(a.strongest for a in b.cls_attention[:-1]) + f" and {b.cls_attention[-1].strongest}."
        return ("Ask what is shared here and what is not. Shared is the normalized CLS row on the left. Not shared are the projections, and with them "
                "queries, keys, values, "
                f"weights and messages.{looks} Had the picture been another one, the same parameters would have sent other messages.")

    def build(self):
        m, b = self.model, self.dog.block1
        follow = words("Same dog, same receiving CLS row: follow it through", theme.LABEL, theme.GREY).move_to([STAGE.left, STAGE.top - 0.02, 0],
                aligned_edge=LEFT)
        source = column(words(f"*CLS row in* $X$ · {times(1, m.width)}", theme.LABEL, theme.BLUE), Strip(b.ln_cls, theme.BLUE, 3.1, 0.46),
                        words(vec(b.ln_cls, 3), theme.LABEL + 2),
                        words("same input to every head", theme.LABEL, theme.GREY), gap=0.14)
        source.move_to([STAGE.left + 1.75, -0.1, 0])
        limit = common_limit(*b.cls_messages)
        lanes = Group()
        for h, y in enumerate((1.42, -0.1, -1.62), 1):
            color = head_color(h)
            found = b.cls_attention[h - 1] if b.cls_attention else None
            view = MapView(self.run, found and found.values[1:], found.largest if found else 1.0, (None, theme.TEAL), side=1.42).move_to([1.55, y, 0])
            for veil in view.layers[:1]:
                veil.set_fill(opacity=0.74)
            marks = Group(outline(view.photo, color, 4), *([view.photo.patch(found.strongest, SOURCE, 2.5)] if found else []))
            most = [words(f"most to {found.strongest}: {num(found.strongest_weight, 2)}", theme.SMALLEST_PX, theme.TEAL)] if found else []
            box = Box(f"Head {h}", words("attention", theme.SMALL, theme.GREY), *most, color=color, width=2.1, height=1.15,
                      size=theme.LABEL).move_to([-0.95, y, 0])
            strip = Strip(b.cls_messages[h - 1], color, 3.2, 0.42, limit=limit)
            text = column(words(f"CLS message · {times(1, m.head_width)}", theme.SMALL, theme.GREY), strip,
                          words(vec(b.cls_messages[h - 1], 3), theme.LABEL + 2), gap=0.08)
            text.move_to([STAGE.right - 1.7, y, 0])
            into = arrow(source[1].get_right(), box.get_left(), color, gap=0.1)
            lanes.add(Group(into, box, arrow(box.get_right(), view.photo.get_left(), color, gap=0.06), view, marks,
                            arrow(view.photo.get_right(), [strip.get_left()[0], y, 0], color, gap=0.1), text))
        key = Group()
        if b.cls_attention:
            bar = scale_bar("0", "each head’s largest", (None, theme.TEAL), width=0.9, size=theme.SMALLEST_PX)
            key = column(words("weight of a patch for CLS", theme.SMALL, theme.TEAL), bar, gap=0.08).move_to([STAGE.left + 1.75, STAGE.bottom + 0.45, 0])
        note = words(f"One CLS input row, {figures.number_word(m.heads)} sets of learned projections", theme.LABEL,
                     bold=True).move_to([STAGE.right, STAGE.top - 0.02, 0], aligned_edge=RIGHT)

        self.step(*write(follow), FadeIn(source))
        for i, (into, box, over, view, marks, out, text) in enumerate(lanes):
            self.step(*draw(into), FadeIn(box))
            self.go(*draw(over), FadeIn(view.photo), *view.reveal(), FadeIn(marks), *([FadeIn(key)] if i == 0 and len(key) else []))
            self.go(*draw(out), FadeIn(text[0]), Emerge(text[1], view.photo), FadeIn(text[2]))
        self.step(*write(note))


class ConcatenateMessages(BlockPage):
    route = "reference/s03/31"

    def title(self):
        return f"Concatenate the {figures.number_word(self.model.heads)} CLS messages"

    def caption(self):
        m = self.model
        parts = " + ".join([str(m.head_width)] * m.heads)
        return (f"Side by side, nothing added up: {parts} features make one joined row of {m.width}. Every value keeps its place and its size; there is "
                "nothing to learn here.")

    def notes(self):
        return ("Slide each message down into its own range and say the range aloud. Nobody adds coordinate 1 of one head to coordinate 1 of another. "
                "It is still one receiver and one row, only wider. Mixing the heads is the job of the projection that follows.")

    def build(self):
        m, b = self.model, self.dog.block1
        limit, wide = common_limit(*b.cls_messages), 12.6 / m.heads
        tops, goals, ranges = Group(), Group(), Group()
        for h, message in enumerate(b.cls_messages, 1):
            x = (h - (m.heads + 1) / 2) * wide
            color = head_color(h)
            strip = Strip(message, color, wide - 0.55, 0.44, limit=limit)
            card = column(words(f"Head {h} CLS message", theme.BODY, color, bold=True), strip, words(vec(message, 2), theme.CAPTION),
                          words(times(1, m.head_width), theme.LABEL, theme.GREY), gap=0.14)
            card.move_to([x, 1.35, 0])
            tops.add(card)
            goal = Strip(message, color, wide, 0.62, limit=limit).move_to([x, -0.75, 0])
            goals.add(goal)
            under = column(words(vec(message, 2), theme.LABEL + 2), words(f"features {(h - 1) * m.head_width + 1}–{h * m.head_width}", theme.LABEL, color,
                                                                          bold=True), gap=0.05)
            ranges.add(under.next_to(goal, DOWN, buff=0.14))
        drops = Group(*(arrow(card[3].get_bottom(), goal.get_top(), head_color(i), gap=0.1) for i, (card, goal) in enumerate(zip(tops, goals), 1)))
        parts = " + ".join([str(m.head_width)] * m.heads)
        total = words(f"*One joined row* · {times(1, m.width)}   ({parts})", theme.BODY, theme.BLUE).move_to([0, STAGE.bottom + 0.12, 0])
        frame = outline(goals, theme.INK, 4.5, pad=0.05)
        self.step(*(FadeIn(c) for c in tops), lag_ratio=0.2)
        for card, goal, under, drop in zip(tops, goals, ranges, drops):
            self.step(*draw(drop), TransformFromCopy(card[1], goal), run_time=0.9)
            self.go(*write(under))
        self.step(*draw(frame), *write(total))


class KeepAndAdd(BlockPage):
    route = "reference/s03/32"

    def title(self):
        return "Keep the embedding; add the context from attention"

    def caption(self):
        return ("E takes two ways. Above, the heads’ messages are joined and projected to ΔE. Below, E itself goes by untouched. "
                "Where both meet, U = E + ΔE: the row as it was, plus context.")

    def notes(self):
        m = self.model
        return (f"Point at the two ways and ask which of them has parameters. The layer with {times(m.width, m.width)} weights learns how to combine the "
                "heads. "
                "What is added to is E before LayerNorm, not X. The sentence model did the same: an embedding and, on top of it, what attention found. U "
                "goes on to the MLP.")

    def build(self):
        m = self.model
        e, u = self.state(0, 1.0, 0.34), self.state("middle", 1.0, 0.34, labels=False)
        heads = Heads(m.heads, lambda h: (words(f"$H^{h}$ · {self.narrow}", theme.SMALLEST_PX, theme.INK),), width=1.75, height=0.82, gap=0.16,
                      size=theme.SMALL)
        norm = Box("LayerNorm", words("$X$", theme.BODY, theme.BLUE), color=theme.GREY, size=theme.SMALL, height=1.1, pad=0.12)
        concat = Concat(m.heads, width=0.85, height=1.7, label="")
        linear = Box(f"Linear({m.width},{m.width})", words("× $W_O$ + $b_O$", theme.LABEL, theme.INK), size=theme.SMALL, height=1.1, pad=0.12)
        delta = self.state("update", 1.0, 0.34, labels=False)
        lane = Lane(norm, heads, concat, linear, delta, gap=0.32, lead=0.75, fork=0.35, drop=0.4)
        e.next_to(lane.entry, LEFT, buff=0.06).set_y(e.get_y() + lane.entry[1] - e.image.get_y())
        out = arrow(lane.exit, lane.exit + 0.6 * RIGHT, gap=0.05)
        u.next_to(out, RIGHT, buff=0.02)
        u.shift((lane.entry[1] - u.image.get_y()) * UP)
        whole = Group(e, lane, out, u)
        fit(whole, STAGE.width, 4)
        whole.move_to([0, 0.12, 0])
        first = column(words("Original E", theme.LABEL, theme.BLUE, bold=True), words(self.matrix, theme.SMALL, theme.GREY), gap=0.02)
        first.next_to(e.image, UP, buff=0.14)
        joint_words = column(words("Concatenate", theme.SMALL, bold=True), gap=0).next_to(concat, UP, buff=0.1)
        joined_words = column(words("Joined messages", theme.SMALLEST_PX, theme.GREY), words(self.matrix, theme.SMALLEST_PX, theme.GREY),
                              gap=0.0).next_to(concat, DOWN, buff=0.1)
        change = column(words("$Delta E$", theme.BODY, theme.BLUE), words("Update", theme.SMALL, theme.BLUE, bold=True), gap=0.0).next_to(delta.image, UP,
                buff=0.1)
        end = column(words("Updated U", theme.LABEL, theme.BLUE, bold=True), words("$U = E + Delta E$", theme.LABEL, theme.BLUE), gap=0.02).next_to(u.image,
                UP, buff=0.14)
        end.shift(min(0, STAGE.right - end.get_right()[0]) * RIGHT)
        both = words(f"both {self.matrix}", theme.SMALL, theme.GREY).next_to(u.image, DOWN, buff=0.14)
        both.shift(min(0, STAGE.right - both.get_right()[0]) * RIGHT)
        skip = words("Skip path: carry the original E unchanged", theme.LABEL, theme.SKIP, bold=True).next_to(lane.skip, DOWN, buff=0.1)
        each = words(f"Each H holds one message per row, for CLS, P1, …, {self.last}", theme.LABEL).move_to([0, STAGE.top + 0.02, 0])
        pattern = words("The residual pattern is the same as for text: original embedding + context update", theme.LABEL,
                        bold=True).move_to([0, STAGE.bottom + 0.12, 0])
        a, s = lane.arrows, lane.stages
        self.step(FadeIn(e), *write(first))
        self.go(*draw(*a[0]), FadeIn(s[0]))
        self.step(*draw(*a[1]), FadeIn(s[1]), *write(each))
        self.step(*draw(*a[2]), FadeIn(s[2]), *write(joint_words, joined_words))
        self.go(*draw(*a[3]), FadeIn(s[3]), *draw(*a[4]), FadeIn(s[4]), *write(change))
        self.step(*lane.close(), *write(skip))
        self.go(pulse(lane.skip, theme.BLUE, run_time=1.4))
        self.step(*draw(out), FadeIn(u), *write(end, both, pattern))


class ResidualPage(BlockPage):
    """A row, its update, and their sum, with the grey path below; both residual additions of a block look like this."""

    def lay(self, row_, update, result, heads_, names, above, icon, first=theme.BLUE):
        """Cards for the row, the update and the result on one line, ``icon`` where the update is made."""
        digits, _ = block.closing((row_.first[0], update.first[0]), result.first[0])
        limit = common_limit(row_, update, result)
        cards = [RowCard(h, v, n, c, digits=digits, limit=limit) for h, v, n, c in zip(heads_, (row_, update, result), names, (first, theme.TEAL, theme.BLUE))]
        lane = Lane(icon, cards[1], gap=0.4, lead=0.95, fork=0.42, drop=0.3)
        cards[0].shift(lane.entry + 0.08 * LEFT - cards[0].strip.get_right())
        out = arrow(lane.exit, lane.exit + 0.62 * RIGHT, gap=0.05)
        cards[2].shift(out.get_right() + 0.08 * RIGHT - cards[2].strip.get_left())
        whole = Group(cards[0], lane, out, cards[2])
        fit(whole, STAGE.width, 3.4).move_to([0, 0.62, 0])
        note = words(above, theme.SMALL, theme.SKIP, bold=True).next_to(lane.skip, DOWN, buff=0.08)
        return cards, lane, out, note

    def arithmetic(self, row_, update, result):
        """First coordinate: a ± b ≈ c, with as many decimals as it takes to close."""
        a, b, c = row_.first[0], update.first[0], result.first[0]
        n, total = block.closing((a, b), c)
        sign = "+" if round(b, n) >= 0 else MINUS
        line = sum_line("First coordinate:", num(a, n), sign, num(abs(b), n), "≈", words(num(c, total), theme.TITLE - 8, theme.BLUE, bold=True),
                        size=theme.CAPTION + 2, gap=0.26)
        line[0].become(words("First coordinate:", theme.BODY, theme.GREY).move_to(line[0]))
        line.arrange(RIGHT, buff=0.26)
        return line


class KeepsInputGainsContext(ResidualPage):
    route = "reference/s03/33"

    def title(self):
        return "The dog’s CLS keeps its input and gains context"

    def caption(self):
        b, e = self.dog.block1, self.dog.cls.e
        n, total = block.closing((e.first[0], b.update.first[0]), b.u.first[0])
        return (f"The attention update moves the first feature of CLS from {num(e.first[0], n)} to {num(b.u.first[0], total)}. Each of the "
                f"{self.model.width} features is "
                "treated so, and the row that results goes on to the MLP.")

    def notes(self):
        return ("Is the update itself the row with context? No: it is what gets added. Do one coordinate on the board, with the numbers from the strips. "
                "What comes by the grey path "
                "is the block’s input before LayerNorm. These features are still a representation; class scores are "
                f"{figures.number_word(self.model.depth)} blocks and a head away.")

    def build(self):
        m, b, e = self.model, self.dog.block1, self.dog.cls.e
        cards, lane, out, note = self.lay(e, b.update, b.u, ("Original CLS embedding", "After concatenation + projection", "Contextualized CLS"),
                                          (f"$e_0$ · {times(1, m.width)}", "$Delta e_0$ · attention update", f"$u_0$ · {times(1, m.width)}"),
                                          "skip path: the input goes by", Concat(m.heads, width=0.5, height=1.05, size=theme.SMALL, label=""), theme.AMBER)
        where = row(words("Same dog · block 1 · zoom in on the CLS row", theme.LABEL, theme.GREY),
                    words(f"each row holds {m.width} numbers", theme.LABEL, theme.GREY), gap=0.9)
        where.move_to([0, STAGE.top - 0.12, 0])
        where[0].align_to([STAGE.left, 0, 0], LEFT)
        where[1].align_to([STAGE.right, 0, 0], RIGHT)
        line = self.arithmetic(e, b.update, b.u).move_to([0, -1.42, 0])
        after = words("*Next:* MLP → later blocks → final CLS → class scores", theme.LABEL, theme.GREY).move_to([0, STAGE.bottom + 0.16, 0])
        self.step(FadeIn(cards[0]), *write(where), FadeIn(local_roles()))
        self.step(*draw(*lane.arrows[0]), FadeIn(lane.stages[0]))
        self.go(*draw(*lane.arrows[1]), FadeIn(cards[1], shift=0.2 * RIGHT))
        self.step(*lane.close(), FadeIn(note))
        self.go(pulse(lane.skip, theme.BLUE, run_time=1.2))
        self.step(*draw(out), FadeIn(cards[2], shift=0.2 * RIGHT))
        self.step(*self.coordinate(cards, line))
        self.step(*write(after))

    def coordinate(self, cards, line):
        """The first features fly out of their rows into the sum."""
        marks = [outline(card[1].cell(1), theme.INK, 3).stretch_to_fit_width(0.09) for card in cards]
        return [*(FadeIn(x) for x in marks), FadeIn(line[0]), *(Emerge(line[i], card[1].cell(1)) for i, card in zip((1, 3, 5), cards)),
                *(FadeIn(line[i]) for i in (2, 4))]


class OpenBlockOne(BlockPage):
    route = "reference/s03/34"

    def title(self):
        return "Open block 1: attention, then the MLP"

    def caption(self):
        m = self.model
        return ("A block updates twice: attention moves information between the rows, the MLP works inside each row. Every update is added to what came "
                "in, and "
                f"{m.tokens} rows of {m.width} features come out.")

    def notes(self):
        return ("We stand at U, half way through the block. Both halves have one build: normalize, work, add. Only attention lets rows see each other. "
                "The raised 1 in the output’s name says after block 1; it is no power. The MLP is the part that we open next.")

    def build(self):
        m = self.model
        e, out = self.state(0, 1.25, 0.24), self.state(1, 1.25, 0.24, labels=False)
        card = Block(m, 1, lines=(), width=3.3, height=0.95, size=theme.BODY)
        card.card.label[0].become(words("Transformer block 1", theme.BODY, theme.BLUE, bold=True).move_to(card))
        top = row(e, card, out, gap=0.75)
        top.move_to([0, 1.72, 0])
        names = Group(*(column(words(t, theme.LABEL, theme.BLUE, bold=True), words(self.matrix, theme.SMALL, theme.GREY), gap=0.02)
                        for t in ("Input $E$", "Output $E^1$")))
        names[0].next_to(e, LEFT, buff=0.3)
        names[1].next_to(out, RIGHT, buff=0.3)
        arrows = Group(arrow([e.image.get_right()[0], card.get_y(), 0], card.get_left()), arrow(card.get_right(), [out.image.get_left()[0], card.get_y(), 0]))
        opened = Block(m, 1, Block.BRANCHES, size=theme.LABEL, symbols=("E", "U", "E^1"), width=STAGE.width, heading="INSIDE BLOCK 1",
                       details=("share context across rows", "transform each row’s features"))
        opened.move_to([0, STAGE.bottom + opened.height / 2 + 0.5, 0])
        mark = around(Group(opened.mlp.stages), theme.AMBER, 0.1)
        mark.set_stroke(width=4)
        here = words("OPEN THIS PART NEXT", theme.SMALL, theme.AMBER, bold=True).next_to(mark, UP, buff=0.06)
        sizes = words(f"All three matrices are {self.matrix}; one CLS row is {times(1, m.width)}", theme.SMALL, theme.GREY).move_to([0, STAGE.bottom + 0.12, 0])
        plan = [words(t, theme.SMALLEST_PX, theme.GREY).move_to([lane.stages.get_x(), opened.frame.get_bottom()[1] + 0.0, 0]) for lane, t in
                ((opened.attention, "Normalize → attention → +"), (opened.mlp, "Normalize → MLP → add U"))]
        for text, lane in zip(plan, (opened.attention, opened.mlp)):
            text.next_to(lane.skip, UP, buff=-0.02).set_y(lane.skip.get_bottom()[1] + 0.16)
        self.step(FadeIn(e), FadeIn(names[0]), FadeIn(card))
        self.go(*draw(*arrows), FadeIn(out), FadeIn(names[1]))
        self.step(TransformFromCopy(card.card.border, opened.frame[0]), FadeIn(opened.heading), FadeIn(opened.symbols[0]))
        self.go(*opened.attention.branch(), lag_ratio=0.1)
        self.go(*opened.attention.close(), FadeIn(plan[0]), FadeIn(opened.symbols[1]))
        self.step(*opened.mlp.branch(), lag_ratio=0.1)
        self.go(*opened.mlp.close(), FadeIn(plan[1]), *draw(opened.out), FadeIn(opened.symbols[2]))
        self.step(*write(sizes))
        self.go(*draw(mark), *write(here))


class OpenMlp(BlockPage):
    route = "reference/s03/35"

    def title(self):
        m = self.model
        return f"Open the MLP: {m.width} inputs, {m.hidden} hidden units, {m.width} outputs"

    def caption(self):
        b = self.dog.block1
        return (f"Every unit of a linear layer reads all features before it. GELU then treats each hidden unit alone: {num(b.hidden_before.first[0])} becomes "
                f"{num(b.hidden_after.first[0])}. Few neurons are drawn, with measured values.")

    def notes(self):
        m = self.model
        return (f"{m.hidden} is neither pixels nor patches here: it counts hidden features of one row. Follow one number through GELU on its curve. "
                "Without that curve the two linear "
                f"layers would be one linear layer. What leaves is an update of {m.width} features, and it still has to be added.")

    def build(self):
        m, b = self.model, self.dog.block1
        columns_ = (("Normalized row", m.width, ["$n_1$", "$n_2$", None, f"$n_({m.width})$"], b.ln2_cls, theme.BLUE),
                    ("Hidden pre-activation", m.hidden, [num(v) for v in b.hidden_before.first[:2]] + [None, f"$z_({m.hidden})$"], b.hidden_before,
                     theme.PURPLE),
                    ("After GELU", m.hidden, [num(v) for v in b.hidden_after.first[:2]] + [None, f"$a_({m.hidden})$"], b.hidden_after, theme.PURPLE),
                    ("MLP update", m.width, [num(v) for v in b.mlp_update.first[:2]] + [None, f"$m_({m.width})$"], b.mlp_update, theme.BLUE))
        xs, layers, heads_, strips = (-5.3, -1.85, 2.05, 5.3), [], Group(), Group()
        for (name, size, units, vector, _), x in zip(columns_, xs):
            layer = Layer(units, radius=0.33, gap=0.2, size=theme.LABEL, wide=True)
            for unit in layer.units:  # units of one layer share a width
                unit[0].stretch_to_fit_width(1.36)
            layer.move_to([x, -0.02, 0])
            layers.append(layer)
            heads_.add(column(words(name, theme.LABEL, bold=True), words(times(1, size), theme.SMALL, theme.GREY), gap=0.02).move_to([x, 2.06, 0]))
            strips.add(strip_or_panel(vector, 2.3, 0.3).move_to([x, -1.86, 0]))
        first, last = connections(layers[0], layers[1]), connections(layers[2], layers[3])
        curve, ball, before, after = self.curve(*max(zip(b.hidden_before.first[:2], b.hidden_after.first[:2]), key=lambda pair: abs(pair[0])))
        frame = panel(1.5, 1.75, theme.tint(theme.BLUE, 0.5), theme.PAPER).move_to([0.1, 0.1, 0])
        gelu = words("GELU", theme.LABEL, theme.BLUE, bold=True).next_to(frame, UP, buff=0.1)
        names = Group(*(words(t, theme.SMALL, theme.BLUE, bold=True).move_to([x, 1.42, 0]) for t, x in
                        ((f"Linear({m.width},{m.hidden})", (xs[0] + xs[1]) / 2), (f"Linear({m.hidden},{m.width})", (xs[2] + xs[3]) / 2))))
        wires = Group()
        for a, c in zip(layers[1].units, layers[2].units):
            y = a.get_y()
            wires.add(arrow([a.get_right()[0], y, 0], [frame.get_left()[0], np.clip(y, frame.get_bottom()[1] + 0.1, frame.get_top()[1] - 0.1), 0], theme.GREY,
                            gap=0.05, width=2.2),
                      arrow([frame.get_right()[0], np.clip(y, frame.get_bottom()[1] + 0.1, frame.get_top()[1] - 0.1), 0], [c.get_left()[0], y, 0], theme.GREY,
                            gap=0.05, width=2.2))
        who = words("The dog’s CLS row, after LayerNorm", theme.SMALL, theme.GREY).move_to([STAGE.left, STAGE.top + 0.08, 0], aligned_edge=LEFT)
        sizes = words(f"{m.width} → {m.hidden} → {m.hidden} → {m.width} features · biases in both linear layers", theme.LABEL,
                      bold=True).move_to([0, STAGE.bottom + 0.06, 0])
        self.step(FadeIn(who), FadeIn(heads_[0]), FadeIn(layers[0]), FadeIn(strips[0]))
        self.step(*draw(*(x for unit in first for x in unit)), FadeIn(names[0]), lag_ratio=0.03)
        self.go(FadeIn(layers[1]), FadeIn(heads_[1]), FadeIn(strips[1]))
        self.step(FadeIn(frame), FadeIn(gelu), FadeIn(curve), *draw(*wires[::2]))
        self.go(FadeIn(ball), FadeIn(before))
        self.go(*draw(*wires[1::2]), FadeIn(after), FadeIn(layers[2]), FadeIn(heads_[2]), FadeIn(strips[2]))
        self.step(*draw(*(x for unit in last for x in unit)), FadeIn(names[1]), lag_ratio=0.03)
        self.go(FadeIn(layers[3]), FadeIn(heads_[3]), FadeIn(strips[3]))
        self.step(*write(sizes))

    def curve(self, z, a):
        """GELU's curve with the larger of the two printed hidden units on it: along z, to the curve, over to a."""
        reach = max(1.6, 1.15 * abs(z))
        top = max(reach * 0.75, 1.15 * abs(a))
        axes = Axes([-reach, reach, reach], [-0.35 * reach, top, top], x_length=1.3, y_length=1.25, tips=False,
                    axis_config={"stroke_color": theme.GREY, "stroke_width": 1.6, "include_ticks": False})
        axes.move_to([0.1, 0.1, 0])
        line = axes.plot(block.gelu, [-reach, min(reach, top), 0.05], color=theme.BLUE, stroke_width=4)
        ball = Dot(axes.c2p(z, a), radius=0.075, color=theme.AMBER)
        return Group(axes, line), ball, Group(link(axes.c2p(z, 0), axes.c2p(z, a), theme.AMBER, 3)), Group(link(axes.c2p(z, a), axes.c2p(0, a), theme.AMBER, 3))


class FinishBlockOne(ResidualPage):
    route = "reference/s03/36"

    def title(self):
        return "Add the MLP update to finish block 1"

    def caption(self):
        return (f"The second addition works like the first: keep u₀, add what the MLP made of it. With all {self.model.tokens} rows done, block 1 is over: "
                "new values in the same rows, and as many of them.")

    def notes(self):
        return ("To what is the MLP’s update added, to E or to U? To U: it already holds the attention update, so the block’s output holds both. "
                "Read the first coordinate off the strips and check the sum. Then say that every patch goes through the same addition.")

    def build(self):
        m, b = self.model, self.dog.block1
        cards, lane, out, note = self.lay(b.u, b.mlp_update, b.out, ("After attention: $u_0$", "MLP update", "Block 1 output: $e_0^1$"),
                                          (times(1, m.width), f"MLP update · {times(1, m.width)}", times(1, m.width)), "keep $u_0$",
                                          Neurons(width=1.1, scale=0.8))
        where = words("Same dog · finish the second residual addition", theme.LABEL, theme.GREY).move_to([STAGE.left, STAGE.top - 0.12, 0], aligned_edge=LEFT)
        what = words("The MLP produces an update for CLS as it is now", theme.LABEL, theme.GREY).move_to([STAGE.right, STAGE.top - 0.12, 0], aligned_edge=RIGHT)
        line = self.arithmetic(b.u, b.mlp_update, b.out).move_to([0, -1.42, 0])
        every = words("The same for CLS and every patch:  $E^1 = U + upright(\"MLP\")(upright(\"LayerNorm\")(U))$",
                      theme.BODY).move_to([0, STAGE.bottom + 0.16, 0])
        self.step(FadeIn(cards[0]), *write(where))
        self.step(*draw(*lane.arrows[0]), FadeIn(lane.stages[0]), *write(what))
        self.go(*draw(*lane.arrows[1]), FadeIn(cards[1], shift=0.2 * RIGHT))
        self.step(*lane.close(), FadeIn(note))
        self.go(pulse(lane.skip, theme.BLUE, run_time=1.2))
        self.step(*draw(out), FadeIn(cards[2], shift=0.2 * RIGHT))
        self.step(*KeepsInputGainsContext.coordinate(self, cards, line))
        self.step(*write(every))


class IntoBlockTwo(BlockPage):
    route = "reference/s03/37"

    def title(self):
        return "Pass the complete output of block 1 into block 2"

    def caption(self):
        m = self.model
        return (f"Nothing is left behind: CLS and all {m.patches} patch rows move on. Block 2 does the same steps in the same order, with attention and "
                "MLP weights of its own, "
                "on the values that block 1 made.")

    def notes(self):
        return ("Follow the straight arrow: there is no way back into block 1, no new cutting into patches, no second CLS token. The three matrices have "
                "one shape, "
                "and the strips show that their values differ. Ask which weights block 2 uses; the answer is its own.")

    def build(self):
        m = self.model
        mats = Group(*(self.state(n, 1.55, 0.46, gap=0.1) for n in (0, 1, 2)))
        cards = Group(*(Block(m, n, lines=("Attention + add", "MLP + add", "own learned weights"), width=2.45, height=2.0, size=theme.BODY + 2)
                        for n in (1, 2)))
        cards.set_z_index(1)  # rows pass behind the block that works on them
        line = row(mats[0], cards[0], mats[1], cards[1], mats[2], gap=0.5)
        fit(line, STAGE.width, 4)
        line.move_to([0, 0.28, 0])
        y = cards[0].get_y()
        for mat in mats:
            mat.shift((y - mat.image.get_y()) * UP)
        names = Group(*(words(t, theme.BODY, theme.BLUE, bold=True).next_to(x.image, UP, buff=0.16) for t, x in zip(("Input $E$", "$E^1$", "$E^2$"), mats)))
        shapes = Group(*(words(self.matrix, theme.LABEL, theme.GREY).next_to(x.image, DOWN, buff=0.16) for x in mats))
        arrows = Group(*(arrow([a, y, 0], [c, y, 0], gap=0.1) for a, c in (
            (mats[0].image.get_right()[0], cards[0].get_left()[0]), (cards[0].get_right()[0], mats[1].get_left()[0]),
            (mats[1].image.get_right()[0], cards[1].get_left()[0]), (cards[1].get_right()[0], mats[2].get_left()[0]))))
        same = words("The output of block 1 is exactly the input of block 2", theme.BODY, bold=True)
        rest = words(f"All {m.tokens} rows continue; both blocks return {m.width} features per row", theme.LABEL, theme.GREY)
        column(same, rest, gap=0.08).move_to([0, STAGE.bottom + 0.42, 0])
        self.step(FadeIn(mats[0]), FadeIn(names[0]), FadeIn(shapes[0]))
        for i in (0, 1):
            self.step(*draw(arrows[2 * i]), FadeIn(cards[i]))
            moving = mats[i].image.copy()
            self.go(moving.animate.scale(0.3).move_to(cards[i]), run_time=0.7)
            self.remove(moving)
            self.go(*draw(arrows[2 * i + 1]), Emerge(mats[i + 1], cards[i]), FadeIn(names[i + 1]), FadeIn(shapes[i + 1]))
        mark = around(Group(mats[1], names[1]), theme.AMBER, 0.09)
        mark.set_stroke(width=4)
        self.step(*draw(mark), *write(same))
        self.step(*write(rest))


class WhatChanges(BlockPage):
    route = "reference/s03/38"

    def title(self):
        return "What changes as the rows move through the blocks?"

    def caption(self):
        return ("Each block works out its queries, keys, values, attention weights and hidden units anew from the rows it receives. What it does not "
                "touch in a "
                "forward pass are the parameters stored with it.")

    def notes(self):
        m = self.model
        return ("Two kinds of numbers. The blue ones exist only while this picture is in the model, and every block writes new ones. The "
                f"{count(m.parameters.block)} parameters of a block were there before, "
                "and they are there unchanged afterwards. Only training changes them, through gradients and an optimizer.")

    def build(self):
        m = self.model
        mats = Group(*(self.state(n, 1.5, 0.34, labels=n == 0) for n in (0, 1)))
        cards = Group(*(Block(m, n, width=2.5, height=1.25, size=theme.BODY) for n in (1, 2))).set_z_index(1)
        y = 1.15
        for part, x in zip((mats[0], cards[0], mats[1], cards[1]), (-5.05, -2.2, 0.95, 3.95)):
            part.move_to([x, y, 0])
        for mat in mats:
            mat.shift((y - mat.image.get_y()) * UP)
        names = Group(*(words(t, theme.LABEL, theme.BLUE, bold=True).next_to(x.image, UP, buff=0.12) for t,
                        x in zip(("$E$ input features", "$E^1$ new features"), mats)))
        arrows = Group(*(arrow([a, y, 0], [c, y, 0], gap=0.1) for a, c in (
            (mats[0].image.get_right()[0], cards[0].get_left()[0]), (cards[0].get_right()[0], mats[1].image.get_left()[0]),
            (mats[1].image.get_right()[0], cards[1].get_left()[0]), (cards[1].get_right()[0], STAGE.right))))
        stores = Group(*(Box(f"Block {n} weights", words(f"{count(m.parameters.block)} stored numbers", theme.SMALLEST_PX, theme.GREY), color=theme.INK,
                             width=2.9, height=0.82, size=theme.LABEL, fill=0.03)
                         .next_to(c, DOWN, buff=0.52) for n, c in zip((1, 2), cards)))
        reads = Group(*(arrow(s.get_top(), c.get_bottom(), theme.GREY, gap=0.06) for s, c in zip(stores, cards)))
        chain = Pipeline(*(Box(t, size=theme.SMALL, pad=0.16) for t in ("Q, K, V", "attention weights", "messages", "MLP activations", "updated rows")),
                         gap=0.42)
        label = words("Recomputed in each block:", theme.LABEL, theme.BLUE, bold=True)
        again = column(label, chain, gap=0.14, align=LEFT)
        fit(again, STAGE.width, 2).move_to([0, STAGE.bottom + 0.92, 0])
        fixed = words("In this forward pass, learned weights stay fixed; training updates them later", theme.LABEL, theme.INK,
                      bold=True).move_to([0, STAGE.bottom + 0.08, 0])
        self.step(FadeIn(mats[0]), FadeIn(names[0]), FadeIn(cards))
        self.step(FadeIn(stores), *draw(*reads))
        for i in (0, 1):
            parts = [pulse(arrows[2 * i], theme.BLUE), pulse(reads[i], theme.GREY)]
            more = [Emerge(mats[1], cards[0]), FadeIn(names[1])] if i == 0 else []
            self.go(*draw(arrows[2 * i]), *parts) if i else self.step(*draw(arrows[0]), *parts)
            self.go(*draw(arrows[2 * i + 1]), *more)
        self.step(FadeIn(label), *self.along(chain), lag_ratio=0.25)
        self.step(*write(fixed), *(s[0].animate.set_stroke(width=5) for s in stores))

    def along(self, chain):
        out = []
        for i, stage in enumerate(chain.stages):
            out += ([Create(chain.arrows[i - 1])] if i else []) + [FadeIn(stage)]
        return out


class TwelveBlocks(BlockPage):
    route = "reference/s03/39"

    def title(self):
        return "Continue through the stack, then classify the image"

    def caption(self):
        m, depth = self.model, self.dog.depth
        if depth is None:
            return (f"{figures.number_word(m.depth).capitalize()} blocks in a row, each with weights of its own. Only what leaves the last one is "
                    "normalized, and from it the CLS row is read and scored, once.")
        half = next(i for i, c in enumerate(depth.cosines, 1) if c >= (depth.start + 1) / 2)
        return (f"Real CLS rows, block by block. Their cosine with the last one goes from {num(depth.start, 2)} at the input to {num(depth.cosines[-1], 2)}; "
                f"half of that way is behind them after block {half}. One label is read at the end.")

    def notes(self):
        m = self.model
        return (f"What repeats {figures.number_word(m.depth)} times is the architecture, not the weights. Run a finger along the strips: the same row of "
                f"{m.width} features, written anew by every block. "
                "The bars say how much it already points where it will end. There is no prediction after each block; one classifier reads the last CLS.")

    def build(self):
        m, depth = self.model, self.dog.depth
        left, wide, gap = STAGE.left + 0.98, 0.0, 0.09
        wide = (STAGE.right - left - gap * (m.depth - 1)) / m.depth
        head = words(f"One forward pass through {m.depth} distinct Transformer blocks · attention + MLP · own weights in each", theme.LABEL, bold=True)
        head.move_to([0, STAGE.top + 0.06, 0])
        xs = [left + wide / 2 + i * (wide + gap) for i in range(m.depth)]
        cards = Group(*(Block(m, n, lines=(), width=wide, height=0.52, size=theme.SMALLEST_PX).move_to([x, 1.88, 0]) for n, x in enumerate(xs, 1)))
        start = words("$E$", theme.BODY, theme.BLUE).move_to([STAGE.left + 0.36, 1.88, 0])
        shape = words(self.matrix, theme.SMALLEST_PX, theme.GREY).next_to(start, DOWN, buff=0.02).align_to([STAGE.left - 0.06, 0, 0], LEFT)
        tops = [1.42, -0.42]
        vectors = [self.dog.cls.e, *(depth.cls if depth else [None] * m.depth)]
        limits = [common_limit(v) if v is not None else 1.0 for v in vectors]
        strips, names = Group(), Group()
        places = [STAGE.left + 0.36, *xs]
        for i, (vector, x, limit) in enumerate(zip(vectors, places, limits)):
            strip = strip_or_panel(vector, tops[0] - tops[1] - 0.42, wide - 0.16, theme.AMBER if i == 0 else theme.BLUE, limit)
            strip.rotate(-np.pi / 2)
            strip.move_to([x, (tops[0] - 0.42 + tops[1]) / 2, 0])
            strips.add(strip)
            names.add(words("$e_0$" if i == 0 else f"$e_0^({i})$", theme.SMALL, theme.BLUE).next_to(strip, UP, buff=0.06).set_x(x))
        bars, values = Group(), Group()
        base, tall = -1.62, 0.85
        cosines = [] if depth is None else [depth.start, *depth.cosines]
        for c, x in zip(cosines, places):
            high = max(abs(c) * tall, 0.02)
            bar = Rectangle(width=wide - 0.3, height=high, stroke_width=0, fill_color=theme.GOLD if c >= 0 else theme.BLUE, fill_opacity=1)
            bar.move_to([x, base, 0], aligned_edge=DOWN)
            bars.add(bar)
            values.add(words(num(c, 2), theme.SMALLEST_PX, bold=True).next_to(bar, UP, buff=0.04))
        floor = link([STAGE.left, base, 0], [STAGE.right, base, 0], theme.LINE, 2)
        key = words("cosine with the CLS row after the last block", theme.SMALL, theme.GOLD,
                    bold=True) if depth else words("each block writes the CLS row anew", theme.SMALL, theme.GREY)
        key.move_to([STAGE.left, base - 0.2, 0], aligned_edge=LEFT)
        flow = words(f"between blocks: all {self.matrix} feature values ($E^1$, $E^2$, …, $E^({m.depth - 1})$)", theme.SMALL,
                     theme.GREY).move_to([STAGE.right, base - 0.2, 0], aligned_edge=RIGHT)
        end = words(f"*After block {m.depth}* → final normalization → read CLS → class scores", theme.LABEL)
        one = words(f"One image, {figures.number_word(m.depth)} blocks, one prediction at the end", theme.LABEL, theme.BLUE, bold=True)
        end.move_to([STAGE.left, STAGE.bottom + 0.1, 0], aligned_edge=LEFT)
        one.move_to([STAGE.right, STAGE.bottom + 0.1, 0], aligned_edge=RIGHT)
        self.step(*write(head), FadeIn(start), FadeIn(shape), LaggedStart(*(FadeIn(c) for c in cards), lag_ratio=0.08))
        self.step(FadeIn(strips[0]), FadeIn(names[0]), *write(flow))
        self.go(LaggedStart(*(FadeIn(Group(s, n), shift=0.15 * RIGHT) for s, n in zip(strips[1:], names[1:])), lag_ratio=0.35), run_time=2.4)
        if depth:
            self.step(FadeIn(floor), *write(key), LaggedStart(*(FadeIn(Group(b, v), shift=0.1 * UP) for b, v in zip(bars, values)), lag_ratio=0.2),
                      run_time=2.0)
        self.step(*write(end))
        self.go(*draw(outline(Group(cards[-1], strips[-1]), theme.AMBER, 4, pad=0.04)))
        self.step(*write(one))
