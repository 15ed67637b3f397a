"""Main lecture, fourth question: how rows share information by attention."""

import numpy as np
from manim import RoundedRectangle, Square, TransformFromCopy

from scenes.kit import *  # noqa: F403 - the kit is the vocabulary of a storyboard
from vit_data import block, figures, head, rows, toy
from vit_data.run import Vector

QUERY, KEY, VALUE = (0.8, 0.3, 0.6, 0.15, 0.7), (0.7, 0.2, 0.75, 0.3, 0.5), (0.35, 0.85, 0.55, 0.7, 0.2)  # rows as symbols, nothing measured


class SharePage(Talk):
    """What these pages share: the receiver at the ear, the source that it reads most, block 1's rows where the run has them."""

    @property
    def found(self):
        return self.dog.attention_map(4, 1, self.dog.place("ear"))

    @property
    def receiver(self) -> str:
        return self.found.query

    @property
    def source(self) -> str:
        return self.found.strongest

    @property
    def word(self) -> str:
        return figures.picture_word(self.run, "dog")

    @property
    def last(self) -> str:
        return rows.name(self.model.patches)

    @property
    def names(self) -> dict[str, int]:
        return {rows.CLS: 0, "P1": 1, self.last: self.model.patches}

    def row_of(self, matrix: str, name: str, length: int) -> Vector:
        """One row of a matrix of block 1, or a blank one where the run has none."""
        m = self.dog.matrices
        return Vector.unknown(length) if m is None else Vector.of(getattr(m, matrix).array()[rows.index(name)])

    def symbol(self, shades, name, size, color=theme.BLUE, side=0.34):
        """A row as a symbol with its name and width above it; the first member is the cells."""
        cells = Cells(shades, color, side)
        return Group(cells, words(f"{name} · {count(size)}", theme.BODY, color).next_to(cells, UP, buff=0.1))


class ReuseTheEncoder(SharePage):
    route = "lecture/s05/1"

    def title(self):
        return "From here, reuse the encoder we already know"

    def caption(self):
        return "The small pictures only say which patch a row belongs to. The encoder gets the rows."

    def says(self):
        m = self.model
        return [f"What enters is ready: CLS on top, then one row for each of the {m.patches} patches. I draw small pictures beside the rows so that we know "
                "which is which; the model never sees them again.",
                "And now we need nothing new. This is the encoder from the text lectures: normalization, self-attention, residual additions, an MLP. All of "
                "it works on rows of features, wherever they came from.",
                f"Out come {m.tokens} rows of the same width, one for each row that went in, now informed by the others. How that sharing works for a picture "
                "is our fourth question."]

    def build(self):
        m, depth = self.model, self.dog.depth
        photo = Photograph(self.run, side=1.0)
        ys = [STAGE.center[1] + d for d in (1.75, 0.6, -1.6)]
        names = (rows.CLS, "P1", self.last)
        box = Box(words("the encoder\nwe already know", 44, theme.BLUE, bold=True, width=3.2, align="center"), width=3.5,
                  height=4.7).move_to([STAGE.left + 7.15, STAGE.center[1], 0])
        left, right = [], []
        for name, y in zip(names, ys):
            color = theme.AMBER if name == rows.CLS else theme.BLUE
            token = Box(name, color=theme.AMBER, width=0.95, height=0.95, fill=0.14) if name == rows.CLS else photo.crop(name, 0.95, theme.BLUE)
            token.move_to([STAGE.left + 1.75, y, 0])
            label = words(name, theme.CAPTION, color, bold=True).move_to([token.get_left()[0] - 0.2, y, 0], aligned_edge=RIGHT)
            before, after = (depth.after[n][name] if depth else Vector.unknown(m.width) for n in (0, m.depth))
            into = Strip(before, color, 2.15, 0.62).move_to([token.get_right()[0] + 0.2, y, 0], aligned_edge=LEFT)
            out = Strip(after, color, 2.15, 0.62).move_to([box.get_right()[0] + 0.75, y, 0], aligned_edge=LEFT)
            done = column(words(name, theme.CAPTION, color, bold=True), words("updated", theme.BODY, color), gap=-0.02, align=LEFT)
            done.next_to(out, RIGHT, buff=0.2)
            left.append(Group(*([] if name == rows.CLS else [label]), token, into))
            right.append((out, done))
        dots = [words("⋮", 52, theme.GREY, bold=True).move_to([x, (ys[1] + ys[2]) / 2, 0]) for x in (left[0][-1].get_x(), right[0][0].get_x())]
        ways = [arrow(x[-1].get_right(), [box.get_left()[0], y, 0]) for x, y in zip(left, ys)]
        on = [arrow([box.get_right()[0], y, 0], x[0].get_left()) for x, y in zip(right, ys)]
        self.step(LaggedStart(*(FadeIn(x, shift=0.2 * RIGHT) for x in left), lag_ratio=0.3), FadeIn(dots[0]))
        self.step(*draw(*ways), FadeIn(box))
        self.step(*(pulse(w, theme.BLUE) for w in ways))
        self.go(*draw(*on), *(Emerge(out, box) for out, _ in right), FadeIn(dots[1]), *write(*(done for _, done in right)))


class WhereFromQkv(SharePage):
    route = "lecture/s05/2"

    def title(self):
        return "Where do Q, K and V come from?"

    def caption(self):
        return f"In translation from two sequences; in a ViT from one, the rows of the {self.word}."

    def says(self):
        return ["Remember how translation uses attention between its two halves. The words written so far, on the target side, make the queries.",
                "Keys and values come from the other sequence, from the encoder that has read the source sentence. That is cross-attention. Translation has "
                "self-attention too; here we compare this one operation.",
                "In a Vision Transformer there is only one sequence, CLS and the patches. Three learned projections read the same rows and make queries, keys "
                "and values of them. Every row can ask, and every row can answer: self-attention."]

    def build(self):
        left, right = STAGE.columns(1, 1, gap=0.45)
        cards = [panel(a.width, a.height, theme.tint(c, 0.4), theme.tint(c, 0.04)).move_to(a.center) for a, c in ((left, theme.PURPLE), (right, theme.BLUE))]
        heads = [words(t, 44, c, bold=True).move_to([a.center[0], a.top - 0.5, 0])
                 for t, a, c in (("Translation: cross-attention", left, theme.PURPLE), ("ViT: self-attention", right, theme.BLUE))]
        ys = [STAGE.center[1] + d for d in (0.95, -0.35, -1.6)]
        target = self.stack((theme.PURPLE,) * 2, "target-prefix states", left.left + 1.75, ys[0])
        source = self.stack((theme.PURPLE,) * 3, "source-encoder states", left.left + 1.75, (ys[1] + ys[2]) / 2)
        one = self.stack((theme.AMBER, theme.BLUE, theme.BLUE, theme.BLUE), "CLS + patch states", right.left + 1.75, ys[1])
        boxes = [[Box(words(letter, 56, c, bold=True), color=c, width=1.25, height=0.95).move_to([a.right - 1.15, y, 0]) for letter, y in zip("QKV", ys)]
                 for a, c in ((left, theme.PURPLE), (right, theme.BLUE))]
        ways = [self.ways(target, boxes[0][:1], theme.PURPLE), self.ways(source, boxes[0][1:], theme.PURPLE), self.ways(one, boxes[1], theme.BLUE)]
        self.step(FadeIn(cards[0]), *write(heads[0]), FadeIn(target))
        self.go(*draw(*ways[0]), FadeIn(boxes[0][0]))
        self.step(FadeIn(source))
        self.go(*draw(*ways[1]), *(FadeIn(b) for b in boxes[0][1:]))
        self.step(FadeIn(cards[1]), *write(heads[1]), FadeIn(one))
        self.go(*draw(*ways[2]), *(FadeIn(b) for b in boxes[1]))
        self.go(*(pulse(w, theme.BLUE) for w in ways[2]))

    def stack(self, colors, label, x, y):
        shades = ((0.3, 0.8, 0.5, 0.2, 0.6), (0.7, 0.2, 0.4, 0.9, 0.3), (0.2, 0.6, 0.9, 0.4, 0.7), (0.5, 0.3, 0.7, 0.6, 0.2))
        lines = Group(*(Cells(s, c, 0.3) for s, c in zip(shades, colors))).arrange(DOWN, buff=0.08)
        return column(lines, words(label, theme.BODY, colors[-1]), gap=0.12).shift([x, y, 0] - lines.get_center())

    def ways(self, stack, boxes, color):
        start = [stack[0].get_right()[0], stack[0].get_y(), 0]
        return [arrow(start, b.get_left(), color, gap=0.15, width=4) for b in boxes]


class ThreeJobs(SharePage):
    route = "lecture/s05/3"

    def title(self):
        return "One patch representation has three jobs"

    def caption(self):
        return f"{self.receiver} asks with its query; with its key and value it answers others."

    def says(self):
        m, n = self.model, self.receiver
        return [f"Let us follow one patch, {n}, as a receiver. Its current state is a row of {m.width} features.",
                f"A first projection makes its query, {m.head_width} features in one head: what context do I seek?",
                "A second one makes the key: what is there in me that others can match?",
                "The third makes the value: what do I send, if somebody reads me? "
                f"The words are an analogy; what was learned are numbers, here those of block 1, head 1. And {n} plays all three parts: query when it "
                "receives, key and value when it is a source."]

    def build(self):
        m, name = self.model, self.receiver
        n = rows.index(name)
        photo = Photograph(self.run, side=3.3).move_to([STAGE.left + 1.65, STAGE.center[1], 0])
        crop = photo.crop(name, 1.45, RECEIVER).move_to([STAGE.left + 5.0, STAGE.center[1] + 0.62, 0])
        label = words(f"receiver {name}", theme.CAPTION, RECEIVER, bold=True).next_to(crop, UP, buff=0.14)
        strip = Strip(self.row_of("e", name, m.width), width=2.5, height=0.55).move_to([crop.get_x(), STAGE.center[1] - 0.68, 0])
        state = column(words("current patch state", theme.BODY), words(f"{m.width} features", theme.BODY, theme.GREY), gap=0.02).next_to(strip, DOWN, buff=0.14)
        cards, ways = [], []
        for letter, job, text, color, y in (("q", "QUERY", "context I seek", theme.VIOLET, 1.7), ("k", "KEY", "what can match", theme.BLUE, 0.0),
                                            ("v", "VALUE", "information I send", theme.BLUE, -1.7)):
            border = Frame(corner_radius=0.14, width=5.35, height=1.45, stroke_color=color, stroke_width=2.6, fill_color=theme.tint(color, 0.05),
                           fill_opacity=1)
            border.move_to([STAGE.right - 2.675, STAGE.center[1] + y, 0])
            said = column(words(job, 46, color, bold=True), words(text, theme.CAPTION), gap=0.02, align=LEFT)
            said.move_to(border.get_left() + 0.3 * RIGHT, aligned_edge=LEFT)
            out = Strip(self.row_of(letter, name, m.head_width), color, 1.55, 0.5)
            out = Group(words(f"${letter}_{n}$ · {m.head_width}", theme.BODY, color), out).arrange(DOWN, buff=0.08)
            out.move_to(border.get_right() + 0.28 * LEFT, aligned_edge=RIGHT)
            cards.append((border, said, out))
            ways.append(arrow(strip.get_right(), border.get_left(), color, gap=0.12, width=4))
        self.step(photo, FadeIn(photo.patch(name, RECEIVER)))
        self.go(Emerge(crop, photo.cell(name)), FadeIn(photo.zoom_lines(name, crop, RECEIVER)), FadeIn(label))
        self.go(Emerge(strip, crop), FadeIn(state))
        for way, (border, said, out) in zip(ways, cards):
            self.step(*draw(way), FadeIn(border), *write(said))
            self.go(FadeIn(out[0]), TransformFromCopy(strip.border, out[1].border), FadeIn(out[1].image))


class WhatQueriesGather(SharePage):
    route = "lecture/s05/4"

    def title(self):
        return "What might different queries try to gather?"

    def caption(self):
        return "Illustrative questions. Trained queries are numbers, and no head is given a fixed job."

    def says(self):
        species = self.dog.photo.species
        return [f"What could a query be good for? A patch on the {species} might look for other fur, or for parts of the face.",
                "A patch of the background might gather branches, or the other bright regions around it.",
                f"And CLS, which must sum everything up, could use the telling parts across the whole {self.word}.",
                "These three are invented, to have something to think with. Nobody tells a head what to seek; an ear need not read the other ear. So we first "
                "follow the calculation, "
                "and then look at a map that was measured."]

    def build(self):
        place = self.dog.photo.places
        cards, w = [], (STAGE.width - 0.7) / 3
        for i, (name, color, asks, who, sources) in enumerate((
                (f"a patch on the {self.dog.photo.species}", RECEIVER, "other fur / face regions", place["dark_patch"], ("face", "ear", "other_ear")),
                ("a background patch", RECEIVER, "branches / bright background", place["background"], ("branches", "corner")),
                ("CLS", theme.AMBER, f"useful parts across the {self.word}", None, ("face", "branches", "chest")))):
            x = STAGE.left + w / 2 + i * (w + 0.35)
            border = panel(w, 4.55, theme.tint(color, 0.45), theme.tint(color, 0.04)).move_to([x, STAGE.top - 2.275, 0])
            head_ = words(name, theme.CAPTION, color, bold=True).move_to([x, STAGE.top - 0.38, 0])
            photo = Photograph(self.run, side=2.85).move_to([x if who else x + 0.45, STAGE.top - 2.2, 0])
            text = words(asks, theme.BODY, width=w - 0.2, align="center").move_to([x, STAGE.top - 4.1, 0])
            marks = Group(*(photo.patch(place[s], SOURCE, 3.5) for s in sources))
            if who:
                ways = [message_path(photo, place[s], who, 5, -0.6 if j % 2 else 0.6) for j, s in enumerate(sources)]
                asker = photo.patch(who, RECEIVER)
            else:
                asker = Box("CLS", color=theme.AMBER, width=0.95, height=0.95, fill=0.14).move_to([x - w / 2 + 0.62, photo.get_y(), 0])
                goals = np.linspace(0.32, -0.32, len(sources))
                order = sorted(sources, key=lambda s: -photo.cell(place[s]).get_y())
                ways = [self.long(photo.cell(place[s]).get_center(), asker.get_right() + d * UP) for s, d in zip(order, goals)]
            cards.append((border, head_, photo, asker, marks, ways, text))
        note = words("illustrative, not measured", theme.LABEL, theme.GREY, italic=True).move_to([STAGE.right, STAGE.bottom + 0.05, 0], aligned_edge=RIGHT)
        for border, head_, photo, asker, marks, ways, text in cards:
            self.step(FadeIn(border), *write(head_), FadeIn(photo), FadeIn(asker))
            self.go(FadeIn(marks), *draw(*ways), *write(text))
        self.step(*write(note), *(pulse(way, "#FFFFFF", 5) for *_, ways, _ in cards for way in ways))

    def long(self, start, end):
        """A straight path to the CLS box that shows on dark and light."""
        return Connector(arrow(start, end, SOURCE, gap=0.1, width=8)[0], arrow(start, end, theme.TEAL, gap=0.1, width=4.5)[0])


class KeyAndValue(SharePage):
    route = "lecture/s05/5"

    def title(self):
        return "A source supplies both a key and a value"

    def caption(self):
        return "The key decides how much is read, the value what is read. Roles as symbols, nothing measured."

    def says(self):
        m, q, s = self.model, self.receiver, self.source
        root = num(m.head_width**0.5, 0)
        return [f"Now two patches. {q} receives, so it brings a query of {m.head_width} features.",
                f"{s} is a source. Two projections of its one row give a key and a value.",
                f"Query and key are compared: their dot product, divided by the root of {m.head_width}, which is {root}. That is one number, a score.",
                f"Softmax turns it into a weight, in competition with the scores of all sources in this row, CLS among them.",
                "The weight then scales the value. So the key settles how much, and the value what. The shades here are symbols for the roles; no weight on "
                "this page is measured."]

    def build(self):
        m, q, s = self.model, self.receiver, self.source
        i, j = rows.index(q), rows.index(s)
        photo = Photograph(self.run)
        ys = [STAGE.center[1] + d for d in (1.5, -0.15, -1.85)]
        asker = photo.crop(q, 1.25, RECEIVER).move_to([STAGE.left + 0.65, ys[0], 0])
        source = photo.crop(s, 1.25, theme.INK).move_to([STAGE.left + 0.65, (ys[1] + ys[2]) / 2, 0])
        tags = [words(text, theme.BODY, c, bold=True).next_to(crop, UP, buff=0.08).align_to(crop, LEFT)
                for text, c, crop in ((f"receiver {q}", RECEIVER, asker), (f"source {s}", theme.INK, source))]
        x = STAGE.left + 3.25
        query, key, value = (self.symbol(shades, f"{name} ${letter}_{n}$", m.head_width, color).shift([x, y, 0])
                             for shades, name, letter, n, color, y in ((QUERY, "query", "q", i, RECEIVER, ys[0]), (KEY, "key", "k", j, theme.BLUE, ys[1]),
                                                                          (VALUE, "value", "v", j, theme.BLUE, ys[2])))
        mid = (ys[0] + ys[1]) / 2
        score = Box(math(f"(q_{i} dot k_{j}) / sqrt({m.head_width})", 64, theme.INK), words("one score", theme.BODY, theme.GREY), color=theme.INK, width=2.55,
                    height=2.0, fill=0.03).move_to([STAGE.left + 6.6, mid, 0])
        soft = Box(words("row\nsoftmax", theme.CAPTION, theme.TEAL, bold=True, width=1.7, align="center"), color=theme.TEAL, width=1.85,
                   height=1.2).move_to([STAGE.left + 9.45, mid, 0])
        label = math(f"a_({i},{j})", 48, "#FFFFFF")
        pill = Group(Frame(corner_radius=0.3, width=1.55, height=0.8, stroke_width=0, fill_color=theme.TEAL, fill_opacity=1),
                     label).move_to([STAGE.right - 1.2, mid, 0])
        label.move_to(pill[0])
        times_ = joint("×", theme.TEAL, 0.3).move_to([STAGE.left + 9.45, ys[2], 0])
        result = Group(value[0].times(0.45), words(f"$a_({i},{j}) v_{j}$ · {m.head_width}", theme.BODY, theme.TEAL))
        result[0].move_to([STAGE.right - 1.2, ys[2], 0])
        result[1].next_to(result[0], UP, buff=0.1)
        first, second, third = (arrow(a, [x - 1.0, y, 0], c, gap=0.12, width=4)
                                for a, y, c in ((asker.get_right(), ys[0], RECEIVER), (source.get_right(), ys[1], theme.BLUE),
                                                (source.get_right(), ys[2], theme.BLUE)))
        meet = [arrow(query[0].get_right(), score.get_left() + 0.35 * UP, RECEIVER, width=4),
                arrow(key[0].get_right(), score.get_left() + 0.35 * DOWN, theme.BLUE, width=4)]
        bend = (ys[2] + mid) / 2 - 0.2
        drop = elbow(pill.get_bottom() + 0.05 * DOWN, [pill.get_x(), bend, 0], [times_.get_x(), bend, 0], times_.get_top() + 0.05 * UP, color=theme.TEAL,
                     width=4)
        carry = arrow(value[0].get_right(), times_[0].get_left(), theme.BLUE, width=4)
        self.step(FadeIn(asker), FadeIn(tags[0]))
        self.go(*draw(first), Emerge(query[0], asker), FadeIn(query[1]))
        self.step(FadeIn(source), FadeIn(tags[1]))
        self.go(*draw(second, third), *(Emerge(x_[0], source) for x_ in (key, value)), FadeIn(key[1]), FadeIn(value[1]))
        self.step(*draw(*meet), FadeIn(score))
        self.go(pulse(meet[0], RECEIVER), pulse(meet[1], theme.BLUE))
        self.step(*draw(arrow(score, soft)), FadeIn(soft))
        self.go(*draw(arrow(soft, pill, theme.TEAL)), FadeIn(pill, shift=0.2 * RIGHT))
        self.step(*draw(carry, drop), FadeIn(times_))
        self.go(*draw(arrow(times_[0], result[0], theme.TEAL, width=4)), TransformFromCopy(value[0], result[0]), FadeIn(result[1]))


class ToyMessage(SharePage):
    route = "lecture/s05/6"
    shows = (False, False)

    @property
    def message(self):
        return self.run.toy.message or toy.message()

    def title(self):
        return "Several source values form one receiver’s message"

    def caption(self):
        return "Chosen toy numbers. One receiver, one message."

    def says(self):
        m, found = self.model, self.message
        w = [short(x) for x in found.weights]
        return [f"A calculation small enough for the blackboard: three sources, values with two features. The numbers are chosen. The first source has weight "
                f"{w[0]}, so its value row is multiplied by {w[0]}.",
                f"The second source gets {w[1]}.",
                f"The third {w[2]}; together the weights make {short(sum(found.weights))}.",
                f"Then we add, feature by feature, and get the message of this one receiver. In a real head there are {m.tokens} sources and {m.head_width} "
                "features, but it is the same sum. "
                "The update of the row comes later, after the heads have been joined."]

    def build(self):
        found = self.message
        ys = [STAGE.top - 0.55 - 1.12 * i for i in range(len(found.weights))]
        xs = [STAGE.left + d for d in (1.75, 4.05, 6.95, 10.75)]
        low, side = STAGE.bottom + 0.55, 0.92
        lines = []
        for n, (weight, value, part, y) in enumerate(zip(found.weights, found.values, found.contributions, ys), 1):
            name = words(f"source {n}", theme.CAPTION, theme.BLUE, bold=True).move_to([xs[0], y, 0])
            share = Group(Frame(corner_radius=0.3, width=1.35, height=0.76, stroke_color=theme.TEAL, stroke_width=2,
                                fill_color=theme.tint(theme.TEAL, 0.15 + 0.85 * weight / max(found.weights)), fill_opacity=1),
                          words(short(weight), 50, "#FFFFFF" if weight > 0.5 * max(found.weights) - 0.01 else theme.INK, bold=True)).move_to([xs[1], y, 0])
            share[1].move_to(share[0])
            given, scaled = self.pair(value, theme.BLUE, side).move_to([xs[2], y, 0]), self.pair(part, theme.TEAL, side).move_to([xs[3], y, 0])
            places = ((xs[1] + 0.7 + given.get_left()[0]) / 2, (given.get_right()[0] + scaled.get_left()[0]) / 2)
            signs = [words(t, 52, theme.GREY).move_to([x, y, 0]) for t, x in zip("×=", places)]
            lines.append((name, share, signs, given, scaled))
        rule = link([xs[3] - 1.55, (ys[-1] + low) / 2, 0], [xs[3] + 1.55, (ys[-1] + low) / 2, 0], theme.TEAL, 4)
        total = self.pair(found.total, theme.TEAL, side, 1.0).move_to([xs[3], low, 0])
        label = row(words("sum", 44, theme.TEAL, bold=True), words("= message $m$", 44, theme.TEAL), gap=0.18)
        label.move_to([total.get_left()[0] - 0.4, low, 0], aligned_edge=RIGHT)
        for name, share, signs, given, scaled in lines:
            self.step(*write(name, share), FadeIn(signs[0]), FadeIn(given))
            self.go(FadeIn(signs[1]), TransformFromCopy(given, scaled))
        falling = [scaled.copy() for *_, scaled in lines]
        self.step(*draw(rule), *write(label))
        self.go(*(f.animate.move_to(total) for f in falling), run_time=1.0)
        self.remove(*falling)
        self.go(FadeIn(total), run_time=0.4)

    def pair(self, values, color, side, strength=0.35):
        """A short row of numbers in brackets, each in a cell as dark as it is large."""
        cells = Group(*(Group(RoundedRectangle(corner_radius=0.12, width=1.25, height=side - 0.08, stroke_color=theme.tint(color, 0.75), stroke_width=2.2,
                                               fill_color=theme.tint(color, 0.04 + strength * min(abs(v) / 2, 1)), fill_opacity=1))
                                               for v in values)).arrange(RIGHT, buff=0.08)
        for i, (cell, v) in enumerate(zip(cells, values)):
            cell.add(words(f"{'[' if i == 0 else ''}{short(v)}{']' if i == len(values) - 1 else ','}", 50, bold=True).move_to(cell))
        return cells


class FullAttention(SharePage):
    route = "lecture/s05/7"
    n = 6

    def title(self):
        return "ViT uses full attention, not causal attention"

    def caption(self):
        return f"A filled cell is an allowed pair, whatever its weight. The {self.word} is there all at once."

    def says(self):
        m = self.model
        return ["Who may read whom? Queries go down, source keys across. A model that writes the next word must not look ahead, so everything right of the "
                "diagonal is blocked.",
                f"An encoder has its whole picture from the start. Nothing is hidden from anybody: CLS and {m.patches} patches give {m.tokens} by {m.tokens} "
                "allowed pairs, each row with itself included.",
                f"So CLS reads {self.last}, and {self.last} reads CLS. Allowed does not mean strong, and the two weights differ, because one uses the query "
                "of CLS and the other its key. "
                "The order of the patches is no order in time."]

    def build(self):
        m, y = self.model, STAGE.center[1] - 0.48
        text = [f"$t_{i}$" for i in range(1, self.n + 1)]
        image = [rows.CLS, "P1", "P2", "P3", "…", self.last]
        left = self.board(text, [STAGE.left + 2.75, y], 0.44, theme.PURPLE, lambda i, j: j <= i)
        right = self.board(image, [STAGE.right - 2.45, y], 0.5, theme.BLUE, lambda i, j: True)
        heads = [column(words(a, 44, c, bold=True), words(b, theme.BODY), gap=-0.02).move_to([board[0].get_x(), STAGE.top - 0.3, 0]) for a, b, c, board in
                 (("causal", "earlier + current tokens", theme.PURPLE, left),
                  (f"full: {times(m.tokens, m.tokens)}", "CLS + every patch token", theme.BLUE, right))]
        sides = [[words("queries →", theme.LABEL, theme.GREY).rotate(-np.pi / 2).next_to(b[2], LEFT, buff=0.16).set_y(y),
                  words("source keys →", theme.LABEL, theme.GREY).next_to(b[0], DOWN, buff=0.1)] for b in (left, right)]
        key = column(row(self.cell(0.4, theme.PURPLE, True), words("allowed", theme.BODY), gap=0.2),
                     row(self.cell(0.4, theme.PURPLE, False), words("blocked", theme.BODY), gap=0.2), gap=0.3, align=LEFT)
        key.move_to([(left[0].get_right()[0] + sides[1][0].get_left()[0]) / 2, y, 0])
        self.step(*write(heads[0]), FadeIn(left[1]), FadeIn(left[2]), *write(*sides[0]))
        self.go(LaggedStart(*(FadeIn(left[0][i * self.n : (i + 1) * self.n]) for i in range(self.n)), lag_ratio=0.25, run_time=1.2))
        self.go(FadeIn(key))
        self.step(*write(heads[1]), FadeIn(right[1]), FadeIn(right[2]), *write(*sides[1]))
        self.go(LaggedStart(*(FadeIn(right[0][i * self.n : (i + 1) * self.n]) for i in range(self.n)), lag_ratio=0.25, run_time=1.2))
        self.step(*(FadeIn(spot(right[0][k], theme.AMBER, 6)) for k in (self.n - 1, self.n * (self.n - 1))))

    def cell(self, side, color, on):
        square = Square(side, stroke_color=theme.tint(color, 0.6), stroke_width=1.8, fill_color=theme.tint(color, 0.6 if on else 0.02), fill_opacity=1)
        return Group(square, *([] if on else [words("×", theme.LABEL, theme.GREY).move_to(square)]))

    def board(self, names, place, side, color, open_):
        """Cells, names on top, names at the left."""
        step, cells = side + 0.06, Group()
        for i in range(self.n):
            for j in range(self.n):
                cells.add(self.cell(side, color, open_(i, j)).move_to([j * step, -i * step, 0]))
        cells.move_to([*place, 0])
        size = theme.LABEL
        top = Group(*(words(t, size).next_to(cells[j], UP, buff=0.1) for j, t in enumerate(names)))
        left = Group(*(words("⋮" if t == "…" else t, size).next_to(cells[i * self.n], LEFT, buff=0.16) for i, t in enumerate(names)))
        return cells, top, left


class OneMessage(SharePage):
    route = "lecture/s05/8"

    def title(self):
        return "How does one CLS query collect one message?"

    def caption(self):
        return f"Block 1, head 1. The same {self.model.tokens} rows supply the keys and the values."

    def says(self):
        m = self.model
        return [f"Now with whole matrices, those of block 1, head 1. CLS asks, with one query of {m.head_width} features.",
                f"It is compared with the key of every row, its own too; that gives {m.tokens} scores.",
                f"Softmax along this row makes {m.tokens} weights of them. They sum to one.",
                f"Each weight scales one value row. Watch the pair go down together: first CLS, last {self.last}.",
                f"All {m.tokens} scaled rows are added, and one message of {m.head_width} features is left. That is what CLS has collected in this head, in "
                "one step."]

    def build(self):
        m, mats = self.model, self.dog.matrices
        y, high = STAGE.center[1] - 0.34, 3.75
        keys, values = (None if mats is None else getattr(mats, x).array() for x in "kv")
        scores, weights = (None if mats is None else f(mats)[0][:, None] for f in (head.scores, head.weights))
        q = self.dog.block1.head1.q[rows.CLS] if rows.CLS in self.dog.block1.head1.q else self.row_of("q", rows.CLS, m.head_width)
        message = (self.dog.block1.cls_messages or [Vector.unknown(m.head_width)])[0]
        query = Strip(q, RECEIVER, 1.75, 0.55).move_to([STAGE.left + 0.875, y, 0])
        style = {"down": self.names, "wide": 0.34, "size": theme.LABEL}
        k = TokenMatrix(keys, (m.tokens, m.head_width), 1.3, high, theme.BLUE, **style)
        s = TokenMatrix(scores, (m.tokens, 1), 0.62, high, theme.BLUE, labels=False, **style)
        a = TokenMatrix(weights, (m.tokens, 1), 0.62, high, theme.TEAL, weights=True, labels=False, **style)
        v = TokenMatrix(values, (m.tokens, m.head_width), 1.3, high, theme.BLUE, labels=False, **style)
        for matrix, x in zip((k, s, a, v), (3.95, 6.0, 8.15, 9.6)):
            matrix.shift(np.array([STAGE.left + x, y, 0]) - matrix.image.get_center())
        out = Strip(message, theme.TEAL, 1.75, 0.55).move_to([STAGE.right - 0.875, y, 0])
        times_ = words("×", 52, theme.GREY, bold=True).move_to([(a.border.get_right()[0] + v.border.get_left()[0]) / 2, y, 0])

        def over(part, *texts, color):
            return column(*(words(t, theme.BODY, color, bold=i == 0) for i, t in enumerate(texts)), gap=-0.02).next_to(part, UP, buff=0.12)

        tops = [over(query, "CLS query", color=RECEIVER), over(k.border, f"{m.tokens} keys", color=theme.BLUE),
                over(s.border, f"{m.tokens}", "scores", color=theme.BLUE),
                over(a.border, f"{m.tokens}", "weights", color=theme.TEAL), over(v.border, f"{m.tokens} values", color=theme.BLUE),
                over(out, "one CLS", "message", color=theme.TEAL)]
        width, first = (words(f"{m.head_width} features", theme.BODY, c).next_to(part, DOWN, buff=0.12) for part, c in ((out, theme.TEAL), (query, RECEIVER)))
        compare, soft, total = (arrow([x0, y, 0], [x1, y, 0], c, gap=0.1, width=4) for x0, x1, c in
                                ((k.border.get_right()[0], s.border.get_left()[0], theme.INK), (s.border.get_right()[0], a.border.get_left()[0], theme.TEAL),
                                 (v.border.get_right()[0], out.get_left()[0], theme.TEAL)))
        into = arrow([query.get_right()[0], y, 0], [k.row_labels.get_left()[0] - 0.02, y, 0], RECEIVER, gap=0.1, width=4)
        notes = [words(t, theme.LABEL, c, width=1.4, align="center").next_to(way, UP, buff=0.14)
                 for t, c, way in (("compare", theme.GREY, compare), ("row softmax", theme.TEAL, soft), ("sum", theme.TEAL, total))]
        last = self.last
        self.step(query, FadeIn(tops[0]), FadeIn(first))
        self.step(*draw(into), FadeIn(k), FadeIn(tops[1]))
        self.go(*draw(compare), FadeIn(notes[0]), FadeIn(s.border), FadeIn(tops[2]))
        self.add(s.image)
        cover = self.cover(s)
        self.add(cover)
        line, cell = k.mark_row(rows.CLS), s.mark_row(rows.CLS)
        self.go(FadeIn(line), FadeIn(cell), run_time=0.3)
        self.go(line.animate.move_to(k.row(last)), cell.animate.move_to(s.row(last)), self.uncover(cover), run_time=1.5)
        self.remove(cover)
        self.go(FadeOut(line), FadeOut(cell), run_time=0.3)
        self.step(*draw(soft), FadeIn(notes[1]))
        self.go(Emerge(a.image, s.image), FadeIn(a.border), FadeIn(tops[3]))
        self.step(FadeIn(v), FadeIn(tops[4]), FadeIn(times_))
        line, cell = v.mark_row(rows.CLS, theme.TEAL), a.mark_row(rows.CLS, theme.TEAL)
        self.go(FadeIn(line), FadeIn(cell), run_time=0.3)
        self.go(line.animate.move_to(v.row(last)), cell.animate.move_to(a.row(last)), run_time=1.5)
        self.step(*draw(total), FadeIn(notes[2]), FadeOut(line), FadeOut(cell))
        self.go(Emerge(out, v.image), FadeIn(tops[5]), FadeIn(width))

    def cover(self, matrix):
        return outline(matrix.image, theme.PAPER, 0).set_fill(theme.PAPER, 1)

    def uncover(self, cover):
        return cover.animate.stretch_to_fit_height(0.001).move_to(cover.get_bottom(), aligned_edge=DOWN)


class ThreeMessages(SharePage):
    route = "lecture/s05/9"

    def title(self):
        word = figures.number_word(self.model.heads)
        return f"{word.capitalize()} heads gather {word} messages for each token"

    def caption(self):
        return "Heads work side by side. Joined, they are as wide as the sequence was."

    def says(self):
        m = self.model
        heads = figures.number_word(m.heads)
        return [f"One head gave one message for every token. All of this happens {heads} times at once, on the same normalized sequence.",
                f"Each head has projections of its own, so it may gather other things, and returns {m.tokens} rows of {m.head_width} features. Do not expect "
                "an ear head or a fur head; training hands out no such jobs.",
                f"We put the {heads} results side by side. {m.heads} times {m.head_width} is {m.width} again; the rows are still the same {m.tokens} tokens.",
                "A last learned matrix, the output projection, mixes what the heads have found into one update for each token."]

    def build(self):
        m, found = self.model, block.heads(self.run) or [None] * self.model.heads
        y = STAGE.center[1] - 0.1
        x = None if self.dog.matrices is None else self.dog.matrices.x.array()
        same = TokenMatrix(x, (m.tokens, m.width), 1.75, 3.3, theme.BLUE, down=self.names, wide=0.34, size=theme.LABEL)
        same.shift(np.array([STAGE.left + 1.75, y, 0]) - same.image.get_center())
        wide, narrow = times(m.tokens, m.width), times(m.tokens, m.head_width)
        top = words("same sequence", theme.BODY, theme.BLUE, bold=True).next_to(same.border, UP, buff=0.12)
        shapes = [words(wide, theme.BODY, theme.GREY).next_to(same.border, DOWN, buff=0.12)]
        limit = None if found[0] is None else float(np.quantile(np.abs(np.concatenate([h.h for h in found])), 0.98))
        heads, outs = Heads(m.heads, width=1.9, height=0.9, gap=0.3, size=theme.CAPTION), []
        heads.move_to([STAGE.left + 4.65, y, 0])
        one = 1.75 / m.heads
        for h, b in enumerate(heads.boxes, 1):
            out = TokenMatrix(found[h - 1] and found[h - 1].h, (m.tokens, m.head_width), one, 0.95, head_color(h), scale=limit)
            outs.append(out.move_to([STAGE.left + 6.65, b.get_y(), 0]))
        each = words(f"{narrow} each", theme.BODY, theme.GREY).move_to([STAGE.left + 6.25, shapes[0].get_y(), 0])
        parts = [TokenMatrix(f and f.h, (m.tokens, m.head_width), one, 3.3, head_color(h), scale=limit) for h, f in enumerate(found, 1)]
        for h, part in enumerate(parts):
            part.shift(np.array([STAGE.left + 8.75 + (h - 1) * (one + 0.05), y, 0]) - part.image.get_center())
        joined_ = Group(*parts)
        name = words("concatenate", theme.BODY, theme.BLUE, bold=True).next_to(joined_, UP, buff=0.12)
        shapes.append(words(wide, theme.BODY, theme.GREY).move_to([joined_.get_x(), shapes[0].get_y(), 0]))
        last = Box(words("output\nprojection", theme.CAPTION, theme.BLUE, bold=True, width=1.9, align="center"), math("W_O", theme.CAPTION, theme.BLUE),
                   width=2.15, height=2.0).move_to([STAGE.right - 1.35, y, 0])
        fan = [arrow(same.border.get_right(), b.get_left(), head_color(h), gap=0.1, width=4) for h, b in enumerate(heads.boxes, 1)]
        on = [arrow(b.get_right(), o.border.get_left(), head_color(h), gap=0.06, width=4) for h, (b, o) in enumerate(zip(heads.boxes, outs), 1)]
        self.step(same, FadeIn(top), FadeIn(shapes[0]))
        self.go(*draw(*fan), *(FadeIn(b) for b in heads.boxes))
        self.step(*(pulse(f, theme.BLUE) for f in fan))
        self.go(*draw(*on), *(Emerge(o, b) for o, b in zip(outs, heads.boxes)), FadeIn(each))
        self.step(*(Emerge(p, o) for p, o in zip(parts, outs)), run_time=1.1)
        self.go(*write(name), FadeIn(shapes[1]))
        into = arrow(joined_.get_right(), last.get_left(), gap=0.1, width=4)
        self.step(*draw(into), FadeIn(last))
        self.go(*draw(arrow(last.get_right(), last.get_right() + 0.36 * RIGHT, gap=0.02, width=4)))


class WhereItLooks(SharePage):
    route = "lecture/s05/10"

    def title(self):
        return f"Where does the {'trained' if self.run.provenance.checkpoint.source != 'random' else 'untrained'} query look?"

    def caption(self):
        return f"Measured weights of one head: what is mixed into the message, not an outline of the {self.dog.photo.species}."

    def says(self):
        m, found = self.model, self.found
        own = f" CLS gets {pct_least(found.cls_weight)}; it has no place on the {self.word}, so it stands beside it." if found.cls_weight is not None else ""
        return [f"Back to {found.query}, with the violet outline. What does it read?",
                f"These are its weights in block {found.block}, head {found.head}. The darker the teal, the more of that patch enters the message.",
                f"No other patch gets more than {found.strongest}, with {pct(found.strongest_weight)}.",
                f"{own.strip()} All {m.tokens} weights together are one hundred percent. Enjoy the map with care: it shows how values are mixed, in one head "
                "of one block. It is neither a segmentation nor an explanation of the answer.".strip()]

    def build(self):
        found = self.found
        limit = found.largest or found.strongest_weight
        y = STAGE.center[1] - 0.12
        photo = Photograph(self.run, side=4.15).move_to([STAGE.left + 2.075, y, 0])
        view = MapView(self.run, found.values and found.values[1:], limit, (None, theme.TEAL), side=4.15).move_to([photo.get_right()[0] + 0.5 + 2.075, y, 0])
        tops = [row(words(t, theme.CAPTION, c, bold=True), words(more, theme.CAPTION, theme.GREY), gap=0.2).next_to(part, UP, buff=0.12) for t, more, c, part in
                (("query", found.query, theme.VIOLET, photo), ("source weights", f"block {found.block}, head {found.head}", theme.TEAL, view.photo))]
        mark, again = photo.patch(found.query), view.photo.patch(found.query)
        side = Area(view.get_right()[0] + 0.55, STAGE.bottom, STAGE.right, STAGE.top)
        named = column(words(f"source {found.strongest}", 44, bold=True), words(pct(found.strongest_weight), 92, theme.TEAL, bold=True), gap=0.0, align=LEFT)
        cls = column(words("CLS, kept apart", theme.CAPTION, theme.AMBER, bold=True),
                     words(pct_least(found.cls_weight) if found.cls_weight is not None else "", 52, theme.AMBER, bold=True), gap=0.04, align=LEFT)
        bar = column(words("teal: weight of a patch", theme.BODY, theme.GREY), scale_bar("0", pct(limit), (None, theme.TEAL), width=1.9, size=theme.LABEL),
                     gap=0.1, align=LEFT)
        column(named, cls, bar, gap=0.42, align=LEFT).move_to([side.left, y, 0], aligned_edge=LEFT)
        self.step(photo, *write(tops[0]), FadeIn(mark))
        self.step(FadeIn(view.photo), *write(tops[1]), TransformFromCopy(mark, again))
        self.go(*view.reveal(), FadeIn(bar))
        self.bring_to_front(again)
        self.step(FadeIn(view.photo.patch(found.strongest, SOURCE)), *write(named))
        self.step(*write(cls))
