"""Section 3 of the reference deck: one head of block 1, from queries, keys and values to a message (pages 13 to 25)."""

import numpy as np
from manim import Rectangle, Square

from scenes.kit import *  # noqa: F403 - the kit is the vocabulary of a storyboard
from vit_data import figures, head, rows
from vit_data.run import Vector


class HeadPage(NosePage):
    """Head 1 of block 1: its named rows, its matrices where the run has them whole, CLS as the receiver."""

    @property
    def head(self):
        return self.dog.block1.head1

    @property
    def names(self) -> dict[str, int]:
        return token_names(self.run)

    def array(self, name):
        """A whole matrix: x, q, k, v of the run, S and A worked out from them; None where the run has none."""
        m = self.dog.matrices
        if m is None:
            return None
        return {"S": head.scores, "A": head.weights}[name](m) if name in "SA" else getattr(m, name).array()

    def tokens(self, name, height, width, color=theme.BLUE, labels=True, wide=0.2, title="", names=None, **style):
        """A matrix of features with its rows and columns named: X, Q, K or V."""
        m = self.model
        columns = m.width if name in ("x", "e") else m.head_width
        shape = (m.tokens, columns)
        return TokenMatrix(self.array(name), shape, width, height, color, down=names or self.names, across=feature_names(columns) if labels else {}, wide=wide,
                           labels=labels,
                           title=title, **style)

    def square(self, name, side, title="", **style):
        """S or A with tokens along both sides."""
        m = self.model
        return TokenMatrix(self.array(name), (m.tokens, m.tokens), side, side, theme.TEAL if name == "A" else theme.BLUE, down=self.names, across=self.names,
                           title=title, weights=name == "A", **style)

    def vector(self, found, length=None):
        """A vector of the run, or a blank one where the run has none."""
        return found or Vector.unknown(length or self.model.head_width)

    def weight(self, name, digits=4):
        return num(self.head.attention[rows.CLS].weights[name], digits)

    def put(self, matrix, x, y):
        """Move a matrix so that its image, labels aside, is centred at a point."""
        return matrix.shift([x, y, 0] - matrix.image.get_center())


class MakeQkv(HeadPage):
    route = "reference/s03/13"

    def title(self):
        return "Make queries, keys and values from these rows"

    def caption(self):
        m = self.model
        return (f"LayerNorm rescales the features of a row and leaves {m.width} of them; its details come later. Three learned maps then give q, k and v: "
                f"one of {figures.number_word(m.heads)} heads is drawn.")

    def notes(self):
        n = self.number
        return (f"Which layer read pixels, and which layers read the prepared row? The small chain on top is the way so far; the pixels end there. "
                f"Now e{n} goes into the block: it is normalized, and three separate layers make a query, a key and a value of it. "
                "Say the jobs aloud: the query is used when this row receives, key and value when it is a source.")

    def build(self):
        m, n = self.model, self.number
        patch = self.dog.patches[self.nose]
        crop = Photograph(self.run).crop(n, 0.8, theme.BLUE).move_to([STAGE.left + 0.4, STAGE.top - 0.42, 0])
        chain = row(*(words(t, theme.LABEL, c, bold=b) for t, c,
                      b in ((f"{self.nose}: pixels", theme.INK, True), ("→ patch projection →", theme.GREY, False), (f"$c_{n}$", theme.BLUE, False),
                                                                      ("→ add", theme.GREY, False), (f"$p_{n}$", theme.AMBER, False), ("→", theme.GREY, False),
                            (f"$e_{n}$", theme.BLUE, False))), gap=0.16)
        chain.next_to(crop, RIGHT, buff=0.25)
        ready = words(f"All {m.tokens} rows are ready. Follow patch {n} into the first block.", theme.LABEL,
                      theme.GREY).move_to([STAGE.right, chain.get_y(), 0], aligned_edge=RIGHT)
        y, ys = STAGE.center[1] - 0.45, [STAGE.center[1] - 0.45 + d for d in (1.4, 0, -1.4)]
        e = self.named(f"e_{n}", m.width, patch.e, theme.BLUE, STAGE.left + 1.05, y, 2.1)
        norm = Box("LayerNorm", width=1.9, height=1.0).move_to([STAGE.left + 3.6, y, 0])
        x = self.array("x")
        still = Group(Strip(Vector.of(x[n]) if x is not None else self.vector(None, m.width), width=1.5, height=0.36).move_to([STAGE.left + 5.75, y, 0]))
        still.add(words(f"still {times(1, m.width)}", theme.SMALL, theme.GREY).next_to(still, DOWN, buff=0.08))
        colors = (theme.VIOLET, theme.BLUE, theme.BLUE)
        boxes = [Box(math(f"× W_{letter} + b_{letter}", theme.BODY + 2, c), color=c, width=2.2, height=0.85).move_to([STAGE.left + 8.15, yy, 0]) for letter, c,
                 yy in zip("QKV", colors, ys)]
        found = (self.head.q.get(self.nose), self.head.k.get(self.nose), self.head.v.get(self.nose))
        outs = [self.named(f"{letter}_{n}", m.head_width, v, c, STAGE.right - 1.55, yy, 2.7, True) for letter, c, yy, v in zip("qkv", colors, ys, found)]
        sizes = words(f"Each W: {times(m.width, m.head_width)}\neach bias: {m.head_width}", theme.SMALL, theme.GREY).move_to([STAGE.left + 5.1, ys[2] - 0.3, 0])
        ways = [arrow(still[0].get_right(), b.get_left(), c) for b, c in zip(boxes, colors)]
        self.step(FadeIn(local_roles()), FadeIn(crop), *write(chain))
        self.go(*write(ready), Emerge(e[1], crop), FadeIn(e[0]))
        self.step(*draw(arrow(e[1], norm)), FadeIn(norm))
        self.go(*draw(arrow(norm.get_right(), still[0].get_left())), Emerge(still[0], norm), FadeIn(still[1]))
        for i, (way, box, out) in enumerate(zip(ways, boxes, outs)):
            self.step(*draw(way), FadeIn(box), *([FadeIn(sizes)] if i == 0 else []))
            self.go(*draw(arrow(box.get_right(), out[1].get_left(), colors[i])), Emerge(out[1], box), FadeIn(out[0]), *(FadeIn(part) for part in out[2:]))

    def named(self, symbol, length, vector, color, x, y, width, values=False):
        strip = Strip(self.vector(vector, length), color, width, 0.4).move_to([x, y, 0])
        top = row(math(symbol, theme.CAPTION, color), words(f"· {times(1, length)}", theme.SMALL, theme.GREY), gap=0.12).next_to(strip, UP, buff=0.08)
        return Group(top, strip, *([words(vec(vector), theme.SMALL).next_to(strip, DOWN, buff=0.06)] if values and vector else []))


class ThreeProjections(HeadPage):
    route = "reference/s03/14"

    def title(self):
        return "The same input matrix feeds three learned projections"

    def caption(self):
        m = self.model
        return (f"One normalized X, three learned projections. Q, K and V have {m.tokens} rows of {m.head_width} features in the same token order; "
                "rows and columns that carry a name are drawn wider.")

    def notes(self):
        m = self.model
        return ("Are Q, K and V made from three pictures? Trace the three arrows back: they start at one matrix. Only the weights differ. "
                f"Inside a projection every row meets the same weights. A head gets {m.width} divided by {m.heads}, so {m.head_width} features a row.")

    def build(self):
        m = self.model
        few = {name: i for name, i in self.names.items() if name in (rows.CLS, "P1", rows.name(m.patches))}
        line = lead(f"Follow one head in block 1 · {m.width} features / {m.heads} heads = {m.head_width} per head")
        x = self.put(self.tokens("x", 3.1, 2.9, size=theme.LABEL - 2, wide=0.24, names=few), STAGE.left + 2.35, STAGE.center[1] - 0.42)
        head_ = words("X = LayerNorm(E)", theme.BODY, theme.BLUE, bold=True).next_to(x.column_labels, UP, buff=0.08).set_x(x.image.get_x())
        shape = words(times(m.tokens, m.width), theme.LABEL, theme.GREY).next_to(x.border, DOWN, buff=0.1)
        ys = [STAGE.top - d for d in (1.05, 2.62, 4.19)]
        self.step(FadeIn(local_roles()), FadeIn(line), FadeIn(x), FadeIn(head_), FadeIn(shape))
        for letter, y, color in zip("QKV", ys, (theme.VIOLET, theme.BLUE, theme.BLUE)):
            box = Box(math(f"× W_{letter}", theme.BODY + 2, color), words(f"({times(m.width, m.head_width)})", theme.SMALL, theme.GREY), color=color,
                      width=1.85, height=1.0)
            box.move_to([STAGE.left + 6.15, y, 0])
            bias = column(math(f"+ b_{letter}", theme.BODY + 2, color), words(f"{m.head_width} values", theme.SMALL, theme.GREY), gap=0.02)
            bias.next_to(box, RIGHT, buff=0.2)
            out = self.put(self.tokens(letter.lower(), 1.16, 2.2, color, names=few, size=theme.SMALLEST_PX, wide=0.22, labels=True), STAGE.right - 2.25,
                           y - 0.06)
            name = column(words(letter, theme.TITLE - 6, color, bold=True), words(times(m.tokens, m.head_width), theme.SMALL, theme.GREY), gap=0.0,
                          align=LEFT).next_to(out.border, RIGHT, buff=0.14)
            way = arrow([x.border.get_right()[0], x.image.get_y() + 0.35 * (y - x.image.get_y()), 0], box.get_left(), color)
            self.step(*draw(way), FadeIn(box), FadeIn(bias))
            self.go(*draw(arrow([bias.get_right()[0], y, 0], [out.row_labels.get_left()[0], y, 0], color)), Emerge(out.image, box), FadeIn(out.border),
                    FadeIn(out.row_labels), FadeIn(out.column_labels),
                    FadeIn(name))


class OneCell(HeadPage):
    route = "reference/s03/15"

    def title(self):
        return "One query–key comparison fills one matrix cell"

    def caption(self):
        return ("Along the CLS row the query stays and the key changes: softmax makes its scores CLS’s source weights. "
                "Down the CLS column the key stays and the query changes.")

    def notes(self):
        m = self.model
        return (f"Which query and which key made the outlined cell? Follow the row of Q and the column of K transposed until they cross. {m.head_width} "
                "products are added and divided by "
                f"{num(m.head_width**0.5, 0)}, the root of {m.head_width}. Scores may be negative, and the matrix is not symmetric: "
                "what CLS thinks of a patch is not what the patch thinks of CLS.")

    def build(self):
        m, cls, nose = self.model, rows.CLS, self.nose
        rule = lead("*Rows:* receiving queries. *Columns:* source keys. CLS is first on both axes.")
        y, side = STAGE.center[1] - 0.04, 2.95
        q = self.put(self.tokens("q", side, 1.5, theme.VIOLET, title=f"Q · {times(m.tokens, m.head_width)}"), STAGE.left + 1.6, y)
        k = self.array("k")
        kt = TokenMatrix(None if k is None else k.T, (m.head_width, m.tokens), side, 1.5, theme.BLUE, down=feature_names(m.head_width), across=self.names,
                         title=f"Kᵀ · {times(m.head_width, m.tokens)}")
        self.put(kt, STAGE.left + 5.0, y)
        s = self.put(self.square("S", side, f"S · {times(m.tokens, m.tokens)}"), STAGE.right - 1.95, y)
        notes = axis_notes(s, columns="Columns = keys")
        times_ = words("×", theme.TITLE, theme.GREY).move_to([(q.border.get_right()[0] + kt.row_labels.get_left()[0]) / 2, y, 0])
        root = num(m.head_width**0.5, 0)
        divide = Group(arrow([kt.border.get_right()[0] + 0.02, y, 0], [notes[1].get_left()[0], y, 0], theme.INK))
        divide.add(words(f"÷ {root}", theme.BODY, bold=True).next_to(divide, UP, buff=0.08))
        turn = words("Turn K’s rows into columns", theme.SMALL, theme.GREY).next_to(kt.border, DOWN, buff=0.1)
        row_, column_, cell = q.mark_row(cls, theme.VIOLET), kt.mark_column(nose), s.mark_cell(cls, nose)
        score = self.head.attention[cls].scores
        formula = words(f"Highlighted cell: $s$(CLS, {nose}) = $q$(CLS) · $k$({nose}) / {root}" + (f" = *{num(score[self.number], 2)}*" if score else ""),
                        theme.BODY)
        formula.move_to([STAGE.left, STAGE.bottom + 0.12, 0], aligned_edge=LEFT)
        self.step(FadeIn(local_roles()), FadeIn(rule), FadeIn(q))
        self.go(FadeIn(times_), FadeIn(kt), FadeIn(turn))
        self.step(FadeIn(row_))
        self.go(FadeIn(column_))
        blank = Rectangle(width=side, height=side, stroke_width=0, fill_color=theme.PAPER, fill_opacity=1).move_to(s.image)
        self.step(FadeIn(divide), FadeIn(s.border), FadeIn(s.row_labels), FadeIn(s.column_labels), FadeIn(s.title), FadeIn(notes))
        self.add(s.image, blank)
        hole = s.quiet(amount=1, row=cls)
        meet = [row_.copy(), column_.copy()]
        self.go(*(m_.animate.stretch_to_fit_width(cell.width).stretch_to_fit_height(cell.height).move_to(cell) for m_ in meet), run_time=0.9)
        right = self.beyond(s, cls, nose)
        self.add(*hole, *right)
        self.remove(blank, *meet)
        self.add(cell)
        self.go(*write(formula), run_time=0.5)
        along = words("CLS row: what CLS reads.", theme.LABEL - 1, theme.VIOLET, bold=True)
        along.move_to([STAGE.right, formula.get_y() + 0.02, 0], aligned_edge=RIGHT)
        down = words("CLS column: how each query scores CLS.", theme.LABEL - 1, theme.INK, bold=True)
        down.move_to([STAGE.right, formula.get_y() + 0.02, 0], aligned_edge=RIGHT)
        along.shift(0.2 * UP)
        down.shift(0.16 * DOWN)
        self.step(column_.animate.move_to(kt.column(rows.name(m.patches))), cell.animate.move_to(s.cell(cls, rows.name(m.patches))), FadeOut(right),
                  FadeIn(along), run_time=1.2)
        self.go(column_.animate.move_to(kt.column(cls)), cell.animate.move_to(s.cell(cls, cls)), run_time=1.2)
        self.step(row_.animate.move_to(q.row(rows.name(m.patches))), cell.animate.move_to(s.cell(rows.name(m.patches), cls)), FadeOut(hole), FadeIn(down),
                  run_time=1.2)
        self.go(row_.animate.move_to(q.row(cls)), column_.animate.move_to(kt.column(nose)), cell.animate.move_to(s.cell(cls, nose)), run_time=0.9)

    def beyond(self, s, r, c):
        """Paper over the rest of a row, left and right of one cell."""
        place, line = s.cell(r, c), s.row(r)
        return VGroup(*(Rectangle(width=abs(a - b), height=line.height, stroke_width=0, fill_color=theme.PAPER,
                                  fill_opacity=1).move_to([(a + b) / 2, line.get_y(), 0])
                        for a, b in ((line.get_left()[0], place.get_left()[0]), (place.get_right()[0], line.get_right()[0])) if abs(a - b) > 0.01))


class FollowClsRow(HeadPage):
    route = "reference/s03/16"

    def title(self):
        return "Follow the CLS row from scores to weights"

    def caption(self):
        m = self.model
        return (f"CLS asks once in every block. The other rows are needed too: they update the patches that the next CLS reads. In block {m.depth}, "
                "one could compute the CLS output alone, from all keys and values.")

    def notes(self):
        m = self.model
        return (f"If only CLS is classified, why work out the other {m.patches} rows? Each patch needs its own weights to be updated, and the next block reads "
                "those patches. "
                f"For this message one row of {m.tokens} scores and all value rows are enough. "
                f"Softmax runs over {m.patches} patches and CLS itself, nothing is masked.")

    def build(self):
        m, cls = self.model, rows.CLS
        s = self.put(self.square("S", 2.3, f"S · {times(m.tokens, m.tokens)} scores"), STAGE.left + 2.1, STAGE.top - 1.95)
        notes = axis_notes(s)
        line = s.mark_row(cls, theme.VIOLET)
        second = token_names(self.run, second=True)
        left = STAGE.left + 4.55
        width, attention = STAGE.right - left, self.head.attention[cls]
        wide = 1.08
        top = TokenRow(attention.scores, second, m.tokens, width, 0.5, theme.BLUE, wide=wide)
        self.put(top, (left + STAGE.right) / 2, STAGE.top - 1.35)
        low = TokenRow(attention.values, second, m.tokens, width, 0.5, theme.TEAL, wide=wide, weights=True, labels=False)
        self.put(low, (left + STAGE.right) / 2, STAGE.bottom + 1.25)
        known_ = {name: attention.scores[i] for name, i in second.items()} if attention.scores else {}
        shares = {name: attention.values[i] for name, i in second.items()} if attention.values else attention.weights
        under = self.under(top, second, "s", {n: num(v, 2) for n, v in known_.items()}, theme.BLUE)
        below = self.under(low, second, "a", {n: num(v, 4) for n, v in shares.items()}, theme.TEAL)
        head_ = row(words("CLS row, enlarged.", theme.LABEL, theme.VIOLET, bold=True),
                    words("The CLS query stays fixed; compare every source key.", theme.LABEL, theme.GREY), gap=0.16)
        head_.move_to([left, STAGE.top - 0.35, 0], aligned_edge=LEFT)
        zoom = Connector(*(link(line.get_corner(a + RIGHT), top.border.get_corner(a + LEFT), theme.VIOLET, 1.8)[0] for a in (UP, DOWN)))
        soft = Group(arrow([left + width / 2, under.get_bottom()[1] - 0.02, 0], [left + width / 2, low.border.get_top()[1] + 0.02, 0], theme.TEAL, gap=0.1,
                           width=5))
        soft.add(words(f"softmax across all {m.tokens} scores", theme.LABEL, theme.TEAL, bold=True).next_to(soft, RIGHT, buff=0.2))
        total = row(math(f"a_0 + a_1 + dots.h + a_{m.patches} = 1", theme.BODY, theme.TEAL))
        total.move_to([STAGE.right, below.get_bottom()[1] - 0.26, 0], aligned_edge=RIGHT)
        counted = words(f"1 CLS score + {m.patches} patch scores", theme.LABEL, theme.GREY).move_to([left, total.get_y(), 0], aligned_edge=LEFT)
        more = words("Patch queries update patches → the next block’s CLS reads those updated patches.", theme.SMALL, theme.GREY, width=3.5)
        more.move_to([STAGE.left, STAGE.bottom + 0.6, 0], aligned_edge=LEFT)
        self.step(FadeIn(local_roles()), FadeIn(s), FadeIn(notes))
        self.step(FadeIn(line), FadeIn(s.quiet(row=cls)))
        self.bring_to_front(line)
        zoomed = words("zoom", theme.SMALL, theme.VIOLET, bold=True).next_to(s.border, RIGHT, buff=0.12).set_y(top.border.get_bottom()[1] - 0.35)
        self.go(*draw(*zoom), FadeIn(zoomed), Emerge(top.image, line), FadeIn(top.border), FadeIn(head_), FadeIn(top.column_labels))
        self.go(*write(*under))
        self.step(*draw(soft[0]), FadeIn(soft[1]))
        self.go(Emerge(low.image, top.image), FadeIn(low.border))
        self.go(*write(*below))
        self.step(*write(counted, total))
        self.step(*write(more))

    def under(self, band, names, letter, values, color):
        """Symbol and value under each named cell, dots between."""
        parts, last = Group(), None
        for name, i in names.items():
            symbol = math(f"{letter}_{i}", theme.BODY, color)
            cell = column(symbol, *([words(values[name], theme.LABEL, bold=True)] if name in values else []), gap=0.03)
            parts.add(cell.next_to(band.column(name), DOWN, buff=0.08))
            if last is not None and i > last + 1:
                x = (band.column(last).get_right()[0] + band.column(i).get_left()[0]) / 2
                parts.add(words("…", theme.BODY, theme.GREY, bold=True).move_to([x, symbol.get_y(), 0]))
            last = i
        return parts


class ScoresToWeights(HeadPage):
    route = "reference/s03/17"

    def title(self):
        return f"Turn each query’s {self.model.tokens} scores into {self.model.tokens} source weights"

    def caption(self):
        m = self.model
        return (f"Softmax works along each row. The CLS row becomes weights over CLS and {m.patches} patches that sum to one; every other query gets a row of "
                "its own. "
                "They will mix the value rows.")

    def notes(self):
        m = self.model
        return ("Between what does this softmax choose: animals or rows? Rows, CLS among them. The outlined weight is a share of the CLS row, "
                f"so it depends on all {m.tokens} scores in it. Rows sum to one; a column need not, because it collects shares of different queries.")

    def build(self):
        m, cls = self.model, rows.CLS
        y, side = STAGE.center[1] + 0.12, 3.3
        s = self.put(self.square("S", side), STAGE.left + 2.35, y)
        a = self.put(self.square("A", side), STAGE.right - 1.85, y)
        heads = [words(t, theme.BODY, c, bold=True).next_to(x.column_labels, UP, buff=0.08).set_x(x.image.get_x())
                 for t, c, x in (("S: matching scores", theme.BLUE, s), ("A: attention weights", theme.TEAL, a))]
        way = arrow([s.border.get_right()[0], y, 0], [a.row_labels.get_left()[0], y, 0], theme.TEAL, gap=0.3, width=5)
        soft = column(words("softmax", theme.CAPTION, theme.TEAL, bold=True), words("across each row", theme.LABEL, theme.GREY),
                      gap=0.02).next_to(way, UP, buff=0.15)
        key = scale_bar("0", f"{num(a.scale_end, 3)} and more", (None, theme.TEAL), width=1.2).next_to(way, DOWN, buff=0.35)
        marks = [s.mark_row(cls, theme.VIOLET), a.mark_row(cls, theme.VIOLET)]
        one = words("Highlighted CLS row: *sum = 1*", theme.BODY).move_to([STAGE.left, STAGE.bottom + 0.12, 0], aligned_edge=LEFT)
        told = words(f"$a$(CLS, {self.nose}) = *{self.weight(self.nose, 6)}*: how much weight CLS gives to {self.nose}’s value row.", theme.BODY)
        told.move_to([STAGE.right, one.get_y(), 0], aligned_edge=RIGHT)
        cover = Rectangle(width=a.image.width, height=a.image.height, stroke_width=0, fill_color=theme.PAPER, fill_opacity=1).move_to(a.image)
        self.step(FadeIn(local_roles()), FadeIn(s), FadeIn(heads[0]))
        self.step(FadeIn(a.border), FadeIn(a.row_labels), FadeIn(a.column_labels), FadeIn(heads[1]), *draw(way), FadeIn(soft))
        self.add(a.image, cover)
        sweep = s.mark_row(cls, theme.VIOLET)
        self.go(FadeIn(sweep), run_time=0.3)
        bottom = a.image.get_bottom()
        first = a.image.get_bottom()[1] + a.image.height - a.row(cls).height
        self.go(cover.animate.stretch_to_fit_height(first - bottom[1]).move_to(bottom, aligned_edge=DOWN), run_time=0.4)
        last = rows.name(m.patches)
        self.step(cover.animate.stretch_to_fit_height(0.001).move_to(bottom, aligned_edge=DOWN), sweep.animate.move_to(s.row(last)),
                  *([FadeIn(key)] if a.values is not None else []), run_time=1.4)
        self.remove(cover)
        self.step(sweep.animate.move_to(marks[0]), FadeIn(marks[1]), *write(one), run_time=0.7)
        self.step(FadeIn(s.mark_cell(cls, self.nose)), FadeIn(a.mark_cell(cls, self.nose)), *write(told))


class FullAttention(HeadPage):
    route = "reference/s03/18"
    n = 6

    def title(self):
        return "Every image row can read every image row"

    def caption(self):
        return (f"A text model that predicts the next token must not see later ones. The {self.word} is there in full before we classify, "
                "so each query may use each key and value, its own included.")

    def notes(self):
        m = self.model
        return ("Suppose we kept the causal mask: CLS stands first, so what could it read? Itself, nothing more, and the picture would never reach the "
                "classifier. "
                f"So nothing is blocked: CLS reads {rows.name(m.patches)}, and {rows.name(m.patches)} reads CLS. A filled cell means that the way is open, not "
                "that much weight travels on it.")

    def build(self):
        m = self.model
        y, side = STAGE.center[1] + 0.1, 0.46
        text = [f"$t_{i}$" for i in range(1, self.n + 1)]
        image = [rows.CLS, "P1", "…", self.nose, "…", rows.name(m.patches)]
        left = self.board(text, STAGE.left + 3.6, y, side, theme.PURPLE, lambda i, j: j <= i)
        right = self.board(image, STAGE.right - 2.7, y, side, theme.BLUE, lambda i, j: True)
        heads = [words(t, theme.LABEL, c, bold=True).next_to(b[1], UP, buff=0.14) for t, c, b in
                 (("Text: predict the next token", theme.PURPLE, left), ("ViT: classify the whole image", theme.BLUE, right))]
        for h, b in zip(heads, (left, right)):
            h.set_x(b[0].get_x())
        notes = [words(t, theme.LABEL, theme.GREY).next_to(b[0], DOWN, buff=0.16) for t, b in
                 (("Read the current and earlier positions", left), ("Read every row, including itself", right))]
        key = column(row(self.cell(0.34, theme.PURPLE, True), words("Filled cell =\npermitted connection", theme.LABEL), gap=0.2),
                     row(self.cell(0.34, theme.PURPLE, False), words("× = blocked", theme.LABEL), gap=0.2),
                     words("This shows access,\nnot weight size.", theme.LABEL, theme.GREY), gap=0.28, align=LEFT)
        key.move_to([(left[0].get_right()[0] + right[2].get_left()[0]) / 2, y, 0])
        end = words(f"No causal mask here: CLS can read {rows.name(m.patches)}, and {rows.name(m.patches)} can read CLS.", theme.BODY,
                    bold=True).move_to([STAGE.center[0], STAGE.bottom + 0.12, 0])
        self.step(FadeIn(local_roles()), FadeIn(heads[0]), FadeIn(left[1]), FadeIn(left[2]), *(FadeIn(c) for c in left[0]), lag_ratio=0.02)
        self.go(*write(notes[0]), FadeIn(key))
        self.step(FadeIn(heads[1]), FadeIn(right[1]), FadeIn(right[2]), *(FadeIn(c) for c in right[0]), lag_ratio=0.02)
        self.go(*write(notes[1]))
        corners = [right[0][self.n - 1], right[0][self.n * (self.n - 1)]]
        self.step(*(FadeIn(spot(c, theme.AMBER)) for c in corners), *write(end))

    def cell(self, side, color, open_):
        square = Square(side, stroke_color=theme.tint(color, 0.6), stroke_width=1.6, fill_color=theme.tint(color, 0.55 if open_ else 0.03), fill_opacity=1)
        return Group(square, *([] if open_ else [words("×", theme.LABEL, theme.GREY).move_to(square)]))

    def board(self, names, x, y, side, color, open_):
        """Cells, names on top, names at the left."""
        step = side + 0.05
        cells = Group(*(self.cell(side, color, open_(i, j)).move_to([j * step, -i * step, 0]) for i in range(self.n) for j in range(self.n))).move_to([x, y, 0])
        top = Group(*(words(t, theme.SMALL - 1, theme.INK).next_to(cells[j], UP, buff=0.08) for j, t in enumerate(names)))
        side_ = Group(*(words("⋮" if t == "…" else t, theme.SMALL - 1, theme.INK).next_to(cells[i * self.n], LEFT, buff=0.14) for i, t in enumerate(names)))
        return cells, top, side_


class LikeBank(HeadPage):
    route = "reference/s03/19"

    def title(self):
        return "A message for CLS works like a message for bank"

    def caption(self):
        return ("In the text, bank gets a weighted mixture of allowed token values; here CLS gets one of image-row values, its own among them. "
                "The query picks the receiver, the values are what arrives.")

    def notes(self):
        return (f"What plays the part of bank in our calculation? CLS: it is the receiver that we follow. River was one source there, {self.nose} is one "
                "source here. "
                "Both messages are sums of weighted value rows. The widths of the arrows are made up. Do not forget the source that is easily missed: CLS "
                "reads its own value row too.")

    def build(self):
        head_ = lead("Choose a receiver. Mix source values to make a message for that receiver.")
        m, photo = self.model, Photograph(self.run)
        last = rows.name(m.patches)
        texts = (("river", 0.9), ("other allowed tokens", 0.35), ("bank", 0.5))
        images = (("P1", 0.35), (self.nose, 0.5), (last, 0.35), (rows.CLS, 0.8))
        ys = (STAGE.top - 1.33, STAGE.bottom + 0.98)
        lanes = []
        for y, kind, receiver, color, sources in ((ys[0], "Text", "bank", theme.PURPLE, texts), (ys[1], "Image", rows.CLS, theme.BLUE, images)):
            frame = panel(STAGE.width, 1.86, theme.tint(color, 0.3), theme.tint(color, 0.05)).move_to([STAGE.center[0], y, 0])
            name = column(words(kind, theme.LABEL, color, bold=True), words("receiver:", theme.SMALL, theme.GREY),
                          words(receiver, theme.BODY, theme.VIOLET, bold=True), gap=0.02, align=LEFT)
            name.move_to([STAGE.left + 0.25, y, 0], aligned_edge=LEFT)
            step = 1.7 / len(sources)
            items, ways = Group(), []
            mix = Box("Mix their values", words(f"using {receiver}’s weights", theme.SMALL, theme.TEAL), color=theme.TEAL, width=2.75,
                      height=1.0).move_to([STAGE.left + 8.2, y, 0])
            for i, (text, share) in enumerate(sources):
                yy = y + step * (len(sources) / 2 - i - 0.5)
                cells = Cells(np.roll((0.8, 0.3, 0.6), i), theme.AMBER if text == rows.CLS else color, 0.24).move_to([STAGE.left + 5.25, yy, 0])
                label = words(text, theme.SMALL + 1, theme.INK, bold=True).next_to(cells, LEFT, buff=0.2)
                item = Group(label, cells)
                if text.startswith("P") and not photo.missing:
                    item.add(photo.crop(text, min(0.36, step - 0.08), theme.BLUE).move_to([STAGE.left + 3.6, yy, 0]))
                items.add(item)
                ways.append(arrow(cells.get_right(), [mix.get_left()[0], y + 0.3 - 0.6 * i / (len(sources) - 1), 0], theme.TEAL, width=2 + 5 * share, gap=0.1))
            out = Group(Cells((0.65, 0.4, 0.75), theme.TEAL, 0.36),
                        words(f"Message for {receiver}", theme.LABEL, theme.TEAL, bold=True)).arrange(DOWN, buff=0.1).move_to([STAGE.right - 1.5, y, 0])
            lanes.append((frame, name, items, ways, mix, arrow(mix.get_right(), [out[0].get_left()[0], out[0].get_y(), 0], theme.TEAL, width=5), out))
        same = words("*Same weighted-sum operation.* Different receiver and sources.", theme.BODY).move_to([STAGE.center[0], (ys[0] + ys[1]) / 2 + 0.02, 0])
        self.step(FadeIn(local_roles()), FadeIn(head_), FadeIn(lanes[0][0]), FadeIn(lanes[0][1]), FadeIn(lanes[0][2]))
        for i, (frame, name, items, ways, mix, way, out) in enumerate(lanes):
            if i:
                self.step(FadeIn(frame), FadeIn(name), FadeIn(items))
            self.step(*draw(*ways), FadeIn(mix))
            self.go(*draw(way), FadeIn(out))
            self.go(*(pulse(w, "#FFFFFF", 5) for w in ways))
        self.step(*write(same))


class ValueRows(HeadPage):
    route = "reference/s03/20"

    def title(self):
        return "The dog’s feature rows become value rows"

    def caption(self):
        m = self.model
        return (f"X again, the same that made Q and K. The value projection turns each of its {m.tokens} rows into {m.head_width} features. "
                f"The crop only says which source {self.nose} is; its value row holds learned features.")

    def notes(self):
        m = self.model
        return (f"Where does row {self.nose} of V come from? From the normalized row with {m.width} features, through one shared layer with {m.head_width} "
                "outputs. "
                f"Its first number here is {num(self.head.v[self.nose][1])}. CLS has a value row as well, although no crop belongs to it.")

    def build(self):
        m, v = self.model, self.head.v[self.nose]
        y = STAGE.center[1] + 0.28
        photo = Photograph(self.run, side=2.1, grid=True).move_to([STAGE.left + 1.05, y + 0.1, 0])
        told = column(words("Same dog · block 1 · head 1", theme.LABEL, bold=True), words(f"{m.patches} patches + CLS", theme.LABEL, theme.GREY), gap=0.04,
                      align=LEFT).next_to(photo, UP, buff=0.14).align_to(photo, LEFT)
        x = self.put(self.tokens("x", 3.0, 2.6, size=theme.SMALL), STAGE.left + 4.65, y)
        out = self.put(self.tokens("v", 3.0, 2.0, size=theme.SMALL), STAGE.right - 1.0, y)
        names = [column(words(t, theme.LABEL, theme.BLUE, bold=True), gap=0).next_to(b.column_labels, UP, buff=0.06).set_x(b.image.get_x()) for t,
                 b in (("X = LayerNorm(E)", x), ("V: one value row per source", out))]
        names[1].align_to([STAGE.right, 0, 0], RIGHT)
        shapes = [words(times(m.tokens, w), theme.LABEL, theme.GREY).next_to(b.border, DOWN, buff=0.1) for w, b in ((m.width, x), (m.head_width, out))]
        layer = Box(f"Linear({m.width}, {m.head_width})", math("× W_V + b_V", theme.LABEL, theme.BLUE), width=2.2,
                    height=1.15).move_to([STAGE.left + 8.1, y, 0])
        ways = [arrow([photo.get_right()[0], y, 0], [x.row_labels.get_left()[0], y, 0], theme.BLUE),
                arrow([x.border.get_right()[0], y, 0], layer.get_left(), theme.BLUE),
                arrow(layer.get_right(), [out.row_labels.get_left()[0], y, 0], theme.BLUE)]
        low = STAGE.bottom + 0.35
        crop = photo.crop(self.number, 0.72, theme.AMBER).move_to([STAGE.left + 0.36, low, 0])
        label = row(words(f"{self.nose} →", theme.BODY, bold=True), math(f"v_{self.number} =", theme.CAPTION, theme.BLUE), gap=0.2)
        label.next_to(crop, RIGHT, buff=0.22)
        strip = Strip(v, width=3.6, height=0.42).next_to(label, RIGHT, buff=0.25)
        values = words(vec(v, 2, last=True), theme.BODY, bold=True).next_to(strip, RIGHT, buff=0.25)
        note = words(f"{m.head_width} learned features ·\nrounded, from this dog", theme.SMALL, theme.GREY).move_to([STAGE.right, low, 0], aligned_edge=RIGHT)
        marks = [x.mark_row(self.nose), out.mark_row(self.nose)]
        self.step(FadeIn(local_roles()), photo, FadeIn(told))
        self.go(*draw(ways[0]), Emerge(x.image, photo), FadeIn(x.border), FadeIn(x.row_labels), FadeIn(x.column_labels), FadeIn(names[0]), FadeIn(shapes[0]))
        self.step(*draw(ways[1]), FadeIn(layer))
        self.go(*draw(ways[2]), Emerge(out.image, layer), FadeIn(out.border), FadeIn(out.row_labels), FadeIn(out.column_labels), FadeIn(names[1]),
                FadeIn(shapes[1]))
        self.step(FadeIn(photo.patch(self.number, theme.AMBER)), FadeIn(marks[0]))
        self.go(Emerge(crop, photo.cell(self.number)), marks[0].copy().animate.stretch_to_fit_width(marks[1].width).move_to(marks[1]), run_time=0.9)
        self.step(Emerge(strip, out.row(self.nose)), FadeIn(label))
        self.go(*write(values, note))


class ScaleValueRow(HeadPage):
    route = "reference/s03/21"

    def title(self):
        return f"One weight scales all {self.model.head_width} features in its value row"

    def caption(self):
        return (f"Pick the row of the receiver in A, the column of the source, then the source’s row in V: one number scales {self.model.head_width} features. "
                "What comes out is addressed to CLS.")

    def notes(self):
        return (f"Ask before each click what is chosen next. First the query row of CLS, then the column of {self.nose}: one weight comes out. Then row "
                f"{self.nose} of V. Multiply feature 1 by the weight, "
                f"then feature 2, then all the others by the same weight. {self.nose} is the source of every product, CLS its receiver. The factors are "
                "rounded for display.")

    def build(self):
        m, cls, nose, n = self.model, rows.CLS, self.nose, self.number
        v, c = self.head.v[nose], self.head.contributions[nose]
        y, side = STAGE.top - 1.93, 2.5
        a = self.put(self.square("A", side, f"A · {times(m.tokens, m.tokens)} weights", size=theme.SMALL - 1), STAGE.left + 2.3, y)
        value = self.put(self.tokens("v", side, 2.3, title=f"V · {times(m.tokens, m.head_width)} values", size=theme.SMALL - 1, wide=0.2), STAGE.left + 6.8, y)
        notes = axis_notes(a), axis_notes(value, "Rows = sources", "Columns = value features")
        times_ = words("×", theme.TITLE, theme.GREY).move_to([(a.border.get_right()[0] + notes[1][1].get_left()[0]) / 2, y, 0])
        left = value.border.get_right()[0] + 0.75
        steps = [row(words(f"{i} ·", theme.BODY, color, bold=True), words(text, theme.BODY, bold=True), gap=0.14) for i, (text, color) in
                 enumerate(((f"Pick receiver CLS", theme.VIOLET), (f"Pick source {nose}", theme.INK), (f"Pick {nose}’s value row", theme.AMBER),
                            ("Scale each feature", theme.TEAL)), 1)]
        unders = ["its query row in A", f"A[CLS, {nose}] · one weight", f"V[{nose}, :] · all {m.head_width} features",
                  f"Contribution to CLS · {times(1, m.head_width)}"]
        lines = Group(*(column(s, words(t, theme.SMALL, theme.GREY), gap=0.02, align=LEFT) for s, t in zip(steps, unders)))
        lines.arrange(DOWN, buff=0.2, aligned_edge=LEFT)
        lines.move_to([left, y + 0.05, 0], aligned_edge=LEFT)
        low = STAGE.bottom + 0.5
        pill = column(math(f"a_{n}", theme.BODY, theme.TEAL), weight_pill(self.weight(nose, 6), 0.25, theme.LABEL), gap=0.06)
        pill.shift([STAGE.left + 0.85, low, 0] - pill[1].get_center())
        sign = joint("×", theme.GREY, 0.22).move_to([STAGE.left + 2.0, low, 0])
        one = FeatureRow(v, 4.6, names=[math(f"v_({n},{i})", theme.LABEL, theme.BLUE) for i in (1, 2, v.length)])
        two = FeatureRow(c, 5.3, color=theme.TEAL, digits=6, wide=1.5)
        self.put(one, STAGE.left + 4.75, low)
        self.put(two, STAGE.right - 2.68, low)
        equals = words("=", theme.TITLE, theme.GREY).move_to([(one.border.get_right()[0] + two.border.get_left()[0]) / 2, low, 0])
        marks = a.mark_row(cls, theme.VIOLET), a.mark_column(nose), value.mark_row(nose)
        self.step(FadeIn(local_roles()), FadeIn(a), FadeIn(notes[0]), FadeIn(times_), FadeIn(value), FadeIn(notes[1]))
        self.step(FadeIn(marks[0]), *write(lines[0]))
        self.step(FadeIn(marks[1]), *write(lines[1]))
        cell = a.mark_cell(cls, nose, theme.TEAL)
        self.go(FadeIn(cell), Emerge(pill[1], a.cell(cls, nose)), FadeIn(pill[0]))
        self.step(FadeIn(marks[2]), *write(lines[2]))
        self.go(FadeIn(sign), Emerge(one.image, value.row(nose)), FadeIn(one.border), *write(*one.texts, *one.names, one.dots))
        self.step(*write(lines[3]), FadeIn(equals), FadeIn(two.border))
        covers = [Rectangle(width=p.width, height=p.height, stroke_width=0, fill_color=theme.PAPER, fill_opacity=1).move_to(p)
                  for p in (two.column(0), two.column(1), self.after_second(two))]
        self.add(two.image, *covers)
        self.scale(pill, one, two, 0, covers[0])
        self.step(*self.meet(pill, one, two, 1))
        self.land(two, 1, covers[1])
        for i in range(2, len(two.texts)):
            self.scale(pill, one, two, i, covers[2])
        self.go(FadeOut(covers[2]), FadeIn(two.dots), run_time=0.3)

    def after_second(self, band):
        """The place of all features after the second."""
        left, right = band.column(1).get_right()[0], band.image.get_right()[0]
        return Rectangle(width=right - left, height=band.image.height).move_to([(left + right) / 2, band.image.get_y(), 0])

    def scale(self, pill, one, two, i, cover):
        """The weight meets one value; their product takes its place and uncovers its cell."""
        self.go(*self.meet(pill, one, two, i), run_time=0.6)
        self.land(two, i, cover)

    def meet(self, pill, one, two, i):
        self.flying = [pill[1].copy(), one.texts[i].copy()]
        return [f.animate.move_to(two.texts[i]) for f in self.flying]

    def land(self, two, i, cover):
        self.go(*(FadeOut(f) for f in self.flying), FadeIn(two.texts[i]), FadeOut(cover), run_time=0.35)


class WeightedRows(HeadPage):
    route = "reference/s03/22"

    def title(self):
        return "Each source contributes a weighted value row"

    def caption(self):
        m = self.model
        return (f"The same for other sources: each has its own weight in the CLS row and its own value row. Measured in one head; each result has "
                f"{m.head_width} features, all for CLS.")

    def notes(self):
        rows_ = self.head.attention[rows.CLS].weights
        most = max(rows_, key=rows_.get)
        return (f"Are these messages for {figures.number_word(len(rows_))} receivers? No: all weights stand in the CLS row, so they are parts of one message. "
                f"Of those shown {most} has the largest weight, {num(rows_[most], 4)}. The strips of a column share one colour scale, so pale means small. "
                "Factors and products are rounded for display.")

    def build(self):
        m, h = self.model, self.head
        head_ = lead("Keep the receiver fixed: every weight below comes from the CLS row.")
        names = list(self.names)
        places = (STAGE.left + 3.1, STAGE.left + 6.55, STAGE.right - 1.95)
        values, results = [h.v[n] for n in names], [h.contributions[n] for n in names]
        limits = known_limit(*values), known_limit(*results)
        largest = max(h.attention[rows.CLS].weights[n] for n in names)
        top = STAGE.top - 0.68
        heads = Group(*(words(t, theme.LABEL, c, bold=True).move_to([x, top, 0]) for t, c, x in
                        (("Source", theme.INK, STAGE.left), ("CLS weight", theme.TEAL, places[0]),
                         (f"Value row · {m.head_width} features", theme.BLUE, places[1]),
                         ("Contribution to CLS", theme.TEAL, places[2]))))
        heads[0].align_to([STAGE.left, 0, 0], LEFT)
        pitch = (top - 0.45 - (STAGE.bottom + 0.5)) / len(names)
        lines = []
        photo = Photograph(self.run)
        for i, (name, v, c) in enumerate(zip(names, values, results)):
            y = top - 0.3 - pitch * (i + 0.5)
            share = h.attention[rows.CLS].weights[name] / largest
            line = WeightedRow(name, self.weight(name, 6), 0.06 + 0.6 * share, v, values_text(v), c, values_text(c, digits=6), places, STAGE.left, y, width=3.0,
                               height=0.34, limits=limits)
            if name != rows.CLS:
                line.source.add(photo.crop(name, 0.62, theme.BLUE).move_to([STAGE.left + 1.45, y, 0]))
            lines.append(line)
        foot = words(f"*{figures.number_word(len(names)).capitalize()} source examples.* Every contribution still has {m.head_width} features.",
                     theme.BODY).move_to([STAGE.center[0], STAGE.bottom + 0.1, 0])
        self.step(FadeIn(local_roles()), FadeIn(head_), FadeIn(heads), FadeIn(lines[0].source))
        self.reveal(lines[0])
        self.step(*(FadeIn(line.source) for line in lines[1:]), *(FadeIn(line.weight) for line in lines[1:]))
        self.step(*(FadeIn(line.times) for line in lines[1:]), *(FadeIn(line.value) for line in lines[1:]))
        self.step(*(FadeIn(line.equals) for line in lines[1:]), *(Emerge(line.result[0], line.value[0]) for line in lines[1:]),
                  *(FadeIn(line.result[1]) for line in lines[1:]))
        self.step(*write(foot))

    def reveal(self, line):
        self.go(FadeIn(line.weight), run_time=0.4)
        self.go(FadeIn(line.times), FadeIn(line.value))
        self.go(FadeIn(line.equals), Emerge(line.result[0], line.value[0]), FadeIn(line.result[1]))


class AddContributions(HeadPage):
    route = "reference/s03/23"

    def title(self):
        return "Add the contributions to make one CLS message"

    def caption(self):
        m = self.model
        return (f"Coordinate by coordinate, {m.tokens} weighted value rows become one row of {m.head_width} features: this head’s message for CLS. "
                f"{self.head.others_count} of the sources are added up beforehand, to keep the sum readable.")

    def notes(self):
        m = self.model
        return (f"Why is the result one row, and why with {m.head_width} features? Take feature 1 and go down the column: {m.tokens} numbers, one sum. The "
                f"same for feature 2, and so on to {m.head_width}. "
                "The sources disappear in the sum, the features stay. Every term belongs to the one query of CLS.")

    def build(self):
        m, h = self.model, self.head
        head_ = lead(f"Add the same feature across sources. Keep all {m.head_width} features.")
        under = words(f"Weighted contributions for CLS · each {times(1, m.head_width)}", theme.LABEL, theme.TEAL,
                      bold=True).move_to([STAGE.right, STAGE.top - 0.1, 0], aligned_edge=RIGHT)
        names = [*self.names, f"Other {h.others_count}"]
        vectors = [*(h.contributions[n] for n in self.names), h.others]
        message = self.dog.block1.cls_messages[0]
        limit = known_limit(*vectors, message)
        top, pitch = STAGE.top - 1.05, 0.57
        xs = {"name": STAGE.left + 0.7, "strip": STAGE.left + 5.1, "one": STAGE.left + 9.7, "two": STAGE.left + 11.9}
        lines = [self.line(name, v, top - pitch * i, xs, limit, 6) for i, (name, v) in enumerate(zip(names, vectors))]
        signs = Group(*(words("+", theme.CAPTION, theme.GREY, bold=True).move_to([STAGE.left + 0.2, top - pitch * i, 0]) for i in range(1, len(names))))
        heads = Group(*(words(f"feature {i}", theme.SMALL, theme.GREY).move_to([xs[k], top + 0.42, 0], aligned_edge=RIGHT) for i,
                        k in ((1, "one"), (2, "two"))))
        heads.add(words("one colour scale for all rows", theme.SMALL, theme.GREY).move_to([xs["strip"], top + 0.42, 0]))
        base = top - pitch * (len(names) - 1) - 0.75
        rule = Rectangle(width=STAGE.width, height=0.022, stroke_width=0, fill_color=theme.INK, fill_opacity=1).move_to([STAGE.center[0], base + 0.4, 0])
        total = self.line("Message for CLS", message, base, xs, limit, 3, theme.CAPTION)
        total[0].set_color(theme.TEAL)
        shape = words(times(1, m.head_width), theme.SMALL, theme.GREY).next_to(total[1], DOWN, buff=0.06)
        foot = words(f"*{m.tokens} source contributions* → one message for the receiving CLS query.", theme.BODY)
        foot.move_to([STAGE.right, STAGE.bottom + 0.08, 0], aligned_edge=RIGHT)
        self.step(FadeIn(local_roles()), FadeIn(head_), FadeIn(under), FadeIn(heads), *(FadeIn(p) for line in lines for p in line), FadeIn(signs))
        self.step(FadeIn(rule), FadeIn(total[0]))
        self.fall([line[2] for line in lines], total[2])
        self.step(FadeIn(total[4]), run_time=0.3)
        self.fall([line[3] for line in lines], total[3])
        self.step(FadeIn(shape), run_time=0.3)
        self.fall([line[1] for line in lines], total[1])
        self.step(*write(foot))

    def line(self, name, vector, y, xs, limit, digits, size=theme.LABEL + 1):
        strip = Strip(vector, theme.TEAL, 4.4, 0.34, limit=limit).move_to([xs["strip"], y, 0])
        label = words(name, theme.LABEL, bold=True).move_to([xs["name"], y, 0], aligned_edge=LEFT)
        values = [words(num(vector[i], digits), size, bold=digits == 3).move_to([xs[k], y, 0], aligned_edge=RIGHT) for i, k in ((1, "one"), (2, "two"))]
        return label, strip, *values, words("…", theme.LABEL, theme.GREY, bold=True).move_to([xs["two"] + 0.5, y, 0])

    def fall(self, terms, total):
        """Copies of a column fall into the sum, the lowest first."""
        moving = [t.copy() for t in reversed(terms)]
        self.go(LaggedStart(*(t.animate.move_to(total) for t in moving), lag_ratio=0.12), run_time=1.1)
        self.go(*(FadeOut(t) for t in moving), FadeIn(total), run_time=0.35)


class MessageGoesOn(HeadPage):
    route = "reference/s03/24"

    def title(self):
        return "Where does the CLS message go?"

    def caption(self):
        m = self.model
        return (f"The messages of all heads are combined and projected: a context update of {m.width} features. Added to the CLS row that entered the block, "
                "it gives the same token a new representation.")

    def notes(self):
        m = self.model
        return (f"Can {m.head_width} numbers be added to {m.width}? No, the widths differ. So first the {figures.number_word(m.heads)} messages are combined "
                "and projected; that box is opened on the next pages. "
                f"Then the update and the row that came in are added: for feature 1, {num(self.dog.cls.e[1])} and {num(self.dog.block1.update[1])} make "
                f"{num(self.dog.block1.u[1])}, up to rounding.")

    def build(self):
        m, b = self.model, self.dog.block1
        head_ = lead("Same pattern as text: *current token row + context update → updated token row.*")
        y, low = STAGE.top - 1.5, STAGE.bottom + 1.25
        message = self.named("Head 1 message for CLS", b.cls_messages[0], theme.TEAL, STAGE.left + 1.5, y, 2.6)
        box = Box(f"Combine {m.heads} head messages", words(f"then project to {m.width} features", theme.SMALL, theme.BLUE), width=3.7, height=1.3,
                  size=theme.LABEL).move_to([STAGE.left + 5.45, y, 0])
        next_ = words("We open this box next.", theme.SMALL, theme.GREY, italic=True).next_to(box, DOWN, buff=0.1)
        update = self.named("CLS context update", b.update, theme.TEAL, STAGE.right - 2.6, y, 3.4)
        now = self.named("Current CLS row", self.dog.cls.e, theme.AMBER, STAGE.left + 1.9, low, 3.4)
        plus = joint("+", radius=0.34).move_to([STAGE.left + 7.5, low, 0])
        after = self.named("Updated CLS row", b.u, theme.AMBER, STAGE.right - 2.6, low, 3.4)
        bend = (y + low) / 2 - 0.25
        ways = [arrow(message[1].get_right(), box.get_left(), theme.TEAL), arrow(box.get_right(), update[1].get_left(), theme.TEAL),
                elbow([update.get_x(), update.get_bottom()[1] - 0.04, 0], [update.get_x(), bend, 0], [plus.get_x(), bend, 0], plus.get_top() + 0.05 * UP,
                      color=theme.TEAL),
                arrow(now[1].get_right(), [plus.get_left()[0], low, 0], theme.SKIP), arrow([plus.get_right()[0], low, 0], after[1].get_left(), theme.AMBER)]
        end = words("The CLS representation changes. It is still the same receiving token.", theme.BODY,
                    bold=True).move_to([STAGE.center[0], STAGE.bottom + 0.08, 0])
        self.step(FadeIn(local_roles()), FadeIn(head_), FadeIn(message))
        self.step(*draw(ways[0]), FadeIn(box), *write(next_))
        self.step(*draw(ways[1]), Emerge(update[1], box), FadeIn(update[0]), FadeIn(update[2]))
        self.step(FadeIn(now), *draw(ways[3]), FadeIn(plus))
        self.go(*draw(ways[2]))
        self.go(pulse(ways[2]), pulse(ways[3], theme.SKIP))
        self.step(*draw(ways[4]), Emerge(after[1], plus), FadeIn(after[0]), FadeIn(after[2]))
        self.step(*write(end))

    def named(self, name, vector, color, x, y, width):
        strip = Strip(vector, color, width, 0.42).move_to([x, y, 0])
        top = row(words(name, theme.LABEL, color, bold=True), words(f"· {times(1, vector.length)}", theme.SMALL, theme.GREY), gap=0.1)
        top.next_to(strip, UP, buff=0.1)
        return Group(top, strip, words(vec(vector, 2), theme.LABEL).next_to(strip, DOWN, buff=0.08))


class OwnMessages(HeadPage):
    route = "reference/s03/25"

    def title(self):
        return "Each query gets its own message"

    def caption(self):
        return (f"{self.nose}’s query mixes the same value rows with weights of its own, and so does every row’s. "
                "A receiver’s messages end up in its own input row, over the residual path.")

    def notes(self):
        return (f"Does the message for CLS also change {self.nose}? No. {self.nose} asks with its own query, gets its own weights and its own message. What "
                "the two share is V, the value rows of this head. "
                "All messages of a head come from the rows that entered the block, so none has to wait for another.")

    def build(self):
        m, cls = self.model, rows.CLS
        head_ = lead("Keep the source values. Change the receiving query and its weights.")
        xs = {"name": STAGE.left + 0.95, "weights": STAGE.left + 4.1, "v": STAGE.left + 8.2, "out": STAGE.right - 1.75}
        heads = Group(*(words(t, theme.LABEL, c, bold=True).move_to([xs[k], STAGE.top - 0.7, 0]) for t, c, k in
                        (("Receiver", theme.VIOLET, "name"), (f"Its own {m.tokens} weights", theme.TEAL, "weights"), ("Same V", theme.BLUE, "v"),
                         (f"Its own message · {times(1, m.head_width)}", theme.TEAL, "out"))))
        ys = (STAGE.top - 1.75, STAGE.top - 3.45)
        middle = sum(ys) / 2
        v = self.put(self.tokens("v", 2.5, 1.3, names={n: i for n, i in self.names.items()}, size=theme.SMALLEST_PX, labels=False), xs["v"], middle)
        shape = words(times(m.tokens, m.head_width), theme.SMALL, theme.GREY).next_to(v.border, DOWN, buff=0.1)
        messages = (self.dog.block1.cls_messages[0], self.head.p_message)
        lanes = []
        photo = Photograph(self.run)
        for name, y, message in zip((cls, self.nose), ys, messages):
            attention = self.head.attention[name]
            who = Group(words(f"{name} query", theme.BODY, theme.VIOLET, bold=True).move_to([xs["name"], y, 0]))
            if name != cls:
                who[0].shift(0.42 * DOWN)
                crop = photo.crop(name, 0.75, theme.VIOLET)
                who.add(crop.next_to(who[0], UP, buff=0.1))
            band = TokenRow(attention.values, {cls: 0, "P1": 1}, m.tokens, 3.7, 0.5, theme.TEAL, wide=0.95, weights=True)
            self.put(band, xs["weights"], y)
            texts = Group(*(words(num(attention.weights[n], 4), theme.LABEL, bold=True).next_to(band.column(n), DOWN, buff=0.1) for n in (cls, "P1")))
            texts.add(words("…", theme.BODY, theme.GREY, bold=True).move_to([band.column("P1").get_right()[0] + 0.9, texts.get_y(), 0]))
            sign = joint("×", theme.GREY, 0.22).move_to([(band.border.get_right()[0] + v.border.get_left()[0]) / 2, y, 0])
            into = arrow([sign.get_right()[0], y, 0], [v.border.get_left()[0], y + 0.25 * (middle - y), 0], theme.TEAL, gap=0.06)
            out = Group(Strip(message, theme.TEAL, 2.9, 0.42).move_to([xs["out"], y, 0]))
            out.add(words(values_text(message), theme.BODY, bold=True).next_to(out[0], DOWN, buff=0.1))
            way = arrow([v.border.get_right()[0], y + 0.25 * (middle - y), 0], out[0].get_left(), theme.TEAL)
            lanes.append((who, band, texts, sign, into, way, out))
        end = words(f"CLS’s messages update CLS. {self.nose}’s messages update {self.nose}. Every row has its own.", theme.BODY,
                    bold=True).move_to([STAGE.center[0], STAGE.bottom + 0.08, 0])
        self.step(FadeIn(local_roles()), FadeIn(head_), FadeIn(heads[2]), FadeIn(v), FadeIn(shape))
        for i, (who, band, texts, sign, into, way, out) in enumerate(lanes):
            self.step(*([FadeIn(heads[0]), FadeIn(heads[1])] if i == 0 else []), FadeIn(who))
            self.go(Emerge(band.image, who), FadeIn(band.border), FadeIn(band.column_labels), *write(*texts))
            self.go(FadeIn(sign), *draw(into), run_time=0.5)
            self.go(*draw(way), Emerge(out[0], v.image), *([FadeIn(heads[3])] if i == 0 else []), *write(out[1]))
        self.step(*write(end))
