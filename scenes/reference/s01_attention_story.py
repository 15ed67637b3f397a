"""Section 1 of the reference deck: attention told on the picture itself, and the whole classifier (pages 9 to 16)."""

import numpy as np
from manim import RoundedRectangle, TransformFromCopy

from scenes.kit import *  # noqa: F403 - the kit is the vocabulary of a storyboard
from vit_data import figures, rows
from vit_data.run import Vector

FACE, BRANCH, ROW = (0.9, 0.25, 0.65, 0.4, 0.8), (0.2, 0.7, 0.15, 0.9, 0.35), (0.35, 0.5, 0.75, 0.15, 0.6)  # rows as symbols, nothing measured
SHARES = {"face": 0.75, "branches": 0.25}  # illustrative: said so on the page


class Story(Slide):
    """One receiver, the dark patch, and two sources, the face and the branches, on the run's own picture."""

    @property
    def word(self):
        return figures.picture_word(self.run, "dog")

    def open(self, side=4.9):
        """The picture at the left, the legend, and where the right-hand part may stand."""
        photo = STAGE.place(Photograph(self.run, side=side), LEFT)
        return photo, local_roles(), Area(photo.get_right()[0] + 0.5, STAGE.bottom, STAGE.right, STAGE.top)

    def outlined(self, photo, part):
        return photo.patch(self.dog.place(part), RECEIVER if part == "dark_patch" else SOURCE, 4)

    def crop(self, photo, part, side=1.45):
        return photo.crop(self.dog.place(part), side, RECEIVER if part == "dark_patch" else theme.INK)

    def path(self, photo, part, width=5.0):
        source, receiver = (self.dog.photo.places[p] for p in (part, "dark_patch"))
        side = rows.grid_place(source, self.model.grid)[1] - rows.grid_place(receiver, self.model.grid)[1]
        return message_path(photo, source, receiver, width, -0.6 if side > 0 else 0.6)

    def source(self, photo, part, sends, x, y):
        """A source's crop with its name and what it could tell, centred on a point."""
        texts = column(words(f"source: {part}", theme.LABEL, bold=True), words(sends, theme.LABEL, theme.GREY), gap=0.0)
        return column(self.crop(photo, part), texts, gap=0.1).move_to([x, y, 0])

    def receiver(self, photo, right, y):
        """The receiver's crop, and beside it the numbers that its row holds now."""
        crop = self.crop(photo, "dark_patch")
        numbers = self.numbers(crop, 1.75)
        body = row(numbers, crop, gap=0.3)
        head = column(words("receiver: dark patch", theme.LABEL, RECEIVER, bold=True), words("fur, shadow, background?", theme.LABEL, theme.GREY), gap=0.0)
        label = words("patch numbers", theme.SMALL, theme.BLUE)
        block = Group(column(head, body, gap=0.12))
        block.move_to([right, y, 0], aligned_edge=RIGHT)
        block.add(label.next_to(numbers, DOWN, buff=0.08))
        return block, crop, numbers, head, label

    def numbers(self, crop, width, height=0.4):
        return crop_strip(self.model, crop, width, height)


class AskTheFace(Story):
    route = "reference/s01/9"

    def title(self):
        return "Attention: what can the face tell this patch?"

    def caption(self):
        return ("By itself the dark patch could be many things. Its query meets the keys of other patches and so settles the weights; "
                "their values, here the face’s, are what arrives.")

    def notes(self):
        return (
            "Cover everything but the violet square and ask what it shows: fur, a shadow, the background? Then uncover the face: could it help? That is attention, "
            "the word from the text lessons. The dark patch receives, so it makes the query; the face is a source and brings a key and a value. Follow the "
            "teal path until it ends in the patch’s numbers. Pictures of Q, K and V come next, numbers after that."
        )

    def build(self):
        photo, legend, right = self.open()
        y = STAGE.top - 1.12
        block, crop, numbers, head, label = self.receiver(photo, right.right, y)
        source = self.source(photo, "face", "face information", right.left + 1.15, y)
        way = arrow([source[0].get_right()[0], numbers.get_y(), 0], numbers.get_left(), theme.TEAL, width=6)
        clues = words("send clues", theme.LABEL, theme.TEAL, bold=True).next_to(way, UP, buff=0.06)
        source.shift((numbers.get_y() - source[0].get_y()) * UP)
        recall = self.recall(right)
        self.step(photo, FadeIn(self.outlined(photo, "dark_patch")), FadeIn(legend))
        self.go(Emerge(crop, photo.cell(self.dog.place("dark_patch"))), FadeIn(head))
        self.go(Emerge(numbers, crop), FadeIn(label))
        self.step(FadeIn(self.outlined(photo, "face")), Emerge(source[0], photo.cell(self.dog.place("face"))), FadeIn(source[1]))
        path = self.path(photo, "face")
        self.step(*draw(*path), *draw(way), FadeIn(clues))
        self.go(pulse(path, "#FFFFFF"), pulse(way, theme.tint(theme.TEAL, 0.5)))
        self.step(FadeIn(recall[0]), *write(*recall[1:4]), lag_ratio=0.2)
        self.go(*write(recall[4]))

    def recall(self, right):
        frame = panel(right.width, 1.98).move_to([right.center[0], right.bottom + 0.99, 0])
        head = words("Recall Q, K, V from text", theme.LABEL, theme.PURPLE, bold=True).move_to(
            [frame.get_left()[0] + 0.25, frame.get_top()[1] - 0.3, 0], aligned_edge=LEFT
        )
        items = Group()
        third = (right.width - 0.5) / 3
        for i, (letter, role, job) in enumerate((("Q", "receiver", "what to look for"), ("K", "source", "what can match"), ("V", "source", "information to send"))):
            item = row(
                words(letter, 64, theme.PURPLE, bold=True),
                column(words(f"({role})", theme.SMALL, theme.GREY), words(job, theme.SMALL + 1), gap=0.02, align=LEFT),
                gap=0.16,
            )
            items.add(item.move_to([frame.get_left()[0] + 0.25 + third * i, frame.get_y() - 0.02, 0], aligned_edge=LEFT))
        more = words("*Next:* image versions of all three, then a numerical example", theme.SMALL, theme.GREY).move_to(
            [frame.get_left()[0] + 0.25, frame.get_bottom()[1] + 0.27, 0], aligned_edge=LEFT
        )
        return Group(Group(frame, head), *items, more)


class UnequalSources(Story):
    route = "reference/s01/10"

    def title(self):
        return "Should every source contribute equally?"

    def caption(self):
        return ("For this patch a face is likely to say more than branches do. How much of each source enters the message is what the attention weights "
                "decide.")

    def notes(self):
        return (
            "Nothing about the receiver changes; a second source appears. Let the class vote which of the two would help more to read the dark texture, and only then "
            "draw the arrows. Both end in the same row. Their thickness is made up to show the idea; the weights that the model really computed are "
            "measured later."
        )

    def build(self):
        photo, legend, right = self.open()
        block, crop, numbers, head, label = self.receiver(photo, right.right, STAGE.center[1] + 0.15)
        face = self.source(photo, "face", "face information", right.left + 1.2, STAGE.top - 1.08)
        branches = self.source(photo, "branches", "branch information", right.left + 1.2, STAGE.bottom + 1.08)
        goal = numbers.get_left()
        ways, shares = Group(), Group()
        for source, part, size, side in ((face, "face", "larger share", UP), (branches, "branches", "smaller share", DOWN)):
            start = source[0].get_right() + 0.05 * RIGHT
            ways.add(arrow(start, goal + 0.12 * side, theme.TEAL, gap=0.1, width=16 * SHARES[part]))
            middle = (start + goal) / 2
            shares.add(words(size, theme.LABEL, theme.TEAL, bold=part == "face").next_to(middle, side, buff=0.38).shift(0.55 * RIGHT))
        honest = words("Illustrative shares", theme.LABEL, theme.GREY, italic=True).move_to([right.right, STAGE.bottom + 0.2, 0], aligned_edge=RIGHT)
        path = self.path(photo, "face", 16 * SHARES["face"])
        other = self.path(photo, "branches", 16 * SHARES["branches"])
        self.step(photo, FadeIn(self.outlined(photo, "dark_patch")), FadeIn(block), FadeIn(legend))
        self.go(FadeIn(self.outlined(photo, "face")), Emerge(face[0], photo.cell(self.dog.place("face"))), FadeIn(face[1]))
        self.step(FadeIn(self.outlined(photo, "branches")), Emerge(branches[0], photo.cell(self.dog.place("branches"))), FadeIn(branches[1]))
        self.step(*draw(ways[0]), *draw(*path), FadeIn(shares[0]), FadeIn(honest))
        self.go(pulse(ways[0], "#FFFFFF"))
        self.step(*draw(ways[1]), *draw(*other), FadeIn(shares[1]))
        self.go(pulse(ways[0], "#FFFFFF"), pulse(ways[1], "#FFFFFF", 5))


class RowGetsContext(Story):
    route = "reference/s01/11"

    def title(self):
        return "What changes when the patch gets context?"

    def caption(self):
        return ("The sources’ value rows are scaled by their weights and added up; projected once more, the result joins the dark patch’s row. "
                "Its numbers change, its pixels do not.")

    def notes(self):
        return (
            "Three guesses to offer: we repaint the picture, we write ‘fur’ on the patch, or we change its numbers. Only the last is right. Start below with the row as it is. "
            "Above, two value rows are scaled and added cell by cell, projected, and brought down to the plus sign, where the old row arrives as well. "
            "Shades and weights are symbols here."
        )

    def build(self):
        photo = Photograph(self.run, side=1.0)
        left, top, low = STAGE.left, STAGE.top, STAGE.bottom
        ys, base = (top - 0.6, top - 2.05), low + 0.95
        middle = (ys[0] + ys[1]) / 2
        crops = {p: self.crop(photo, p, 1.1).move_to([left + 0.55, y, 0]) for p, y in (("face", ys[0]), ("branches", ys[1]), ("dark_patch", base))}
        names = Group(
            words("face patch", theme.SMALL, theme.GREY).next_to(crops["face"], DOWN, buff=0.05),
            words("branches", theme.SMALL, theme.GREY).next_to(crops["branches"], DOWN, buff=0.05),
        )
        value = {p: Cells(s, theme.BLUE, 0.36).move_to([left + 2.75, y, 0]) for p, s, y in (("face", FACE, ys[0]), ("branches", BRANCH, ys[1]))}
        value_names = Group(
            *(words(t, theme.LABEL, theme.BLUE, bold=True).next_to(v, UP, buff=0.08) for v, t in zip(value.values(), ("face value", "branch value")))
        )
        into = [arrow(crops[p], value[p], theme.BLUE) for p in value]
        pills = {p: weight_pill("× its weight", SHARES[p], theme.LABEL).move_to([left + 4.95, y, 0]).set_z_index(1) for p, y in zip(value, ys)}
        scaled = {p: value[p].times(SHARES[p]).move_to([left + 7.2, y, 0]) for p, y in zip(value, ys)}
        total = scaled["face"].plus(scaled["branches"]).move_to([left + 9.75, middle, 0])
        total_name = words("weighted context sum", theme.LABEL, theme.TEAL, bold=True).next_to(total, UP, buff=0.1)
        total_note = words("sum values", theme.SMALL, theme.GREY).next_to(total, DOWN, buff=0.08)
        project = Box("project", color=theme.BLUE, size=theme.LABEL, height=0.7).move_to([STAGE.right - 0.7, middle, 0])
        plus = joint("+").move_to([left + 7.2, base, 0]).set_z_index(1)
        
        now = Cells(ROW, theme.BLUE, 0.36).move_to([left + 2.75, base, 0])
        now_name = words("current patch row", theme.LABEL, theme.BLUE, bold=True).next_to(now, UP, buff=0.08)
        updated = now.plus(total.times(0.36)).move_to([left + 9.75, base, 0])
        updated_name = words("updated patch row", theme.LABEL, theme.BLUE, bold=True).next_to(updated, DOWN, buff=0.08)
        head = words("receiver: dark patch", theme.SMALL, RECEIVER, bold=True).next_to(crops["dark_patch"], UP, buff=0.06).align_to(crops["dark_patch"], LEFT)
        same = words("same pixels", theme.SMALL, theme.GREY).next_to(crops["dark_patch"], DOWN, buff=0.05)
        after = self.crop(photo, "dark_patch", 1.1).move_to([STAGE.right - 0.55, base, 0])
        after_note = words("same pixels", theme.SMALL, theme.GREY).next_to(after, DOWN, buff=0.05)
        honest = words(
            "Only two sources are shown;\nall other image rows can contribute.", theme.SMALL, theme.GREY, italic=True, width=3.8, align="right"
        ).move_to([STAGE.right, top, 0], aligned_edge=UP + RIGHT)

        self.step(FadeIn(local_roles()), FadeIn(head), FadeIn(crops["dark_patch"]), FadeIn(same))
        self.go(*draw(arrow(crops["dark_patch"], now, theme.BLUE)), Emerge(now, crops["dark_patch"]), FadeIn(now_name))
        self.step(*(FadeIn(crops[p], shift=0.12 * UP) for p in value), FadeIn(names))
        self.go(*draw(*into), *(Emerge(value[p], crops[p]) for p in value), FadeIn(value_names))
        self.step(*(FadeIn(p) for p in pills.values()), *draw(*(arrow(value[p], pills[p], theme.TEAL, gap=0.08) for p in value)))
        self.go(
            *draw(*(arrow(pills[p], scaled[p], theme.TEAL, gap=0.08) for p in value)), *(TransformFromCopy(value[p], scaled[p]) for p in value), run_time=1.0
        )
        meet = [arrow(scaled[p].get_right(), total.get_left() + dy * UP, theme.TEAL, width=2 + 6 * SHARES[p]) for p, dy in (("face", 0.1), ("branches", -0.1))]
        moving = [scaled[p].copy() for p in value]
        self.step(*draw(*meet), *(m.animate.move_to(total) for m in moving))
        self.go(FadeIn(total), *(FadeOut(m) for m in moving), FadeIn(total_name), FadeIn(total_note), run_time=0.5)
        self.go(*draw(arrow(total, project, theme.BLUE)), FadeIn(project))
        lane = (base + 0.95) * UP
        drop = elbow(
            project.get_bottom() + 0.05 * DOWN, project.get_x() * RIGHT + lane, plus.get_x() * RIGHT + lane, plus.get_top() + 0.06 * UP, color=theme.TEAL
        )
        keep = arrow(now, plus, theme.SKIP)
        self.step(*draw(drop), *draw(keep), FadeIn(plus))
        message = words("message", theme.LABEL, theme.TEAL, bold=True).move_to([(plus.get_x() + project.get_x()) / 2, base + 1.13, 0])
        self.go(pulse(drop), pulse(keep, theme.SKIP), FadeIn(message))
        self.go(*draw(arrow(plus, updated, theme.BLUE)), TransformFromCopy(now, updated), FadeIn(updated_name))
        self.step(
            FadeIn(after), FadeIn(after_note), *draw(link(updated.get_right() + 0.1 * RIGHT, after.get_left() + 0.1 * LEFT, theme.LINE, 2)), *write(honest)
        )


class Lanes(Story):
    """Text above, picture below: the same token in both is turned into its query, key or value."""

    letter, role = "Q", "receiver"
    token, part = "bank", "dark_patch"
    sizes = (1.95, 2.3)

    def lane(self, y, color, label):
        frame = panel(STAGE.width, 2.36, theme.tint(color, 0.3), theme.tint(color, 0.05)).move_to([STAGE.center[0], y, 0])
        return Group(
            frame,
            words(f"{label} · {self.role}", theme.LABEL, color, bold=True).move_to(
                [frame.get_left()[0] + 0.25, frame.get_top()[1] - 0.28, 0], aligned_edge=LEFT
            ),
        )

    def build(self):
        low = self.letter.lower()
        ys = (STAGE.top - 1.18, STAGE.bottom + 1.18)
        lanes = [self.lane(y, c, t) for y, c, t in zip(ys, (theme.PURPLE, theme.BLUE), ("Text", "Image"))]
        photo = Photograph(self.run, side=1.62).move_to([STAGE.left + 1.1, ys[1] - 0.2, 0])
        crop = self.crop(photo, self.part, 1.05).move_to([STAGE.left + 2.85, ys[1] - 0.15, 0])
        tokens = (
            Group(*(Box(t, color=theme.PURPLE, width=0.86, height=0.62, size=theme.SMALL, fill=0.14) for t in ("river", "bank")))
            .arrange(RIGHT, buff=0.08)
            .move_to([STAGE.left + 1.1, ys[0] - 0.15, 0])
        )
        small = tokens[0 if self.token == "river" else 1]
        color = RECEIVER if self.role == "receiver" else theme.INK
        mark = Box(self.token, color=theme.PURPLE, width=1.05, height=1.05, fill=0.14).move_to([crop.get_x(), ys[0] - 0.15, 0])
        mark.border.set_stroke(color, 4)
        short = "dark" if self.part == "dark_patch" else self.part
        parts = [self.projected(y - 0.15, color, name, low, start) for y, color, name, start in
                 ((ys[0], theme.PURPLE, self.token, mark), (ys[1], theme.BLUE, short, crop))]
        ends = [self.outcome(y - 0.15, color, name, asks, p[-1]) for y, color, name, asks, p in
                ((ys[0], theme.PURPLE, self.token, "bank", parts[0]), (ys[1], theme.BLUE, short, "dark", parts[1]))]
        self.step(FadeIn(local_roles()), FadeIn(lanes[0]), FadeIn(tokens))
        self.go(small.border.animate.set_stroke(color, 4), Emerge(mark, small))
        self.project(*parts[0])
        self.step(FadeIn(lanes[1]), FadeIn(photo), FadeIn(self.outlined(photo, self.part)))
        self.go(Emerge(crop, photo.cell(self.dog.place(self.part))))
        self.project(*parts[1])
        for index, end in enumerate(ends):
            self.finish(index, end, parts[index][-1])

    def projected(self, y, color, name, low, start):
        """Row, weights and result, with the arrows between them."""
        xs = [STAGE.left + d for d in (4.95, 6.75, 8.35)]
        e = self.named(f'e_"{name}"', Cells(ROW if self.role == "receiver" else FACE, color, 0.3), xs[0], y)
        box = Box(math(f"W_{self.letter}", theme.CAPTION, color), color=color, width=0.95, height=0.95, fill=0.02).move_to([xs[1], y, 0]).set_z_index(1)
        shades = {"Q": (0.8, 0.3, 0.6), "K": (0.7, 0.2, 0.75), "V": (0.35, 0.85, 0.55)}[self.letter]
        out = self.named(f'{low}_"{name}"', Cells(shades, color, 0.3), xs[2], y)
        first, second, third = arrow([start.get_right()[0], y, 0], e[0].get_left(), color), arrow(e[0], box, color), arrow(box, out[0], color)
        return first, e, second, box, third, out

    def named(self, symbol, cells, x, y, color=None):
        cells.move_to([x, y, 0])
        return Group(cells, math(symbol, theme.CAPTION, color or cells.hue).next_to(cells, UP, buff=0.1))

    def project(self, first, e, second, box, third, out):
        self.go(*draw(first), FadeIn(e, shift=0.25 * RIGHT))
        self.go(*draw(second), FadeIn(box))
        self.go(*draw(third), Emerge(out[0], box), FadeIn(out[1]))

    def outcome(self, y, color, name, asks, out):
        """What the projected row is for, as a group for :meth:`finish`."""
        raise NotImplementedError

    def finish(self, index, end, out):
        self.step(*write(end))


class QueryInImage(Lanes):
    route = "reference/s01/12"

    def title(self):
        return "What could a query be in the image?"

    def caption(self):
        return "The row that is to be updated asks. Learned weights turn it into a query and so fix which kinds of sources it will match."

    def notes(self):
        return (
            "Who asks, if the dark patch is to be updated? The dark patch itself, as *bank* did in the sentence. Follow each receiver row through W_Q. The questions at the right are "
            "for us: a query is a learned vector that no user types, and the cells here only stand for its numbers."
        ).replace("*", "")

    def outcome(self, y, color, name, asks, out):
        question = "Could some context help *bank* here?" if color == theme.PURPLE else "Does this dark texture belong to the animal?"
        text = words(question, theme.BODY, italic=True, width=2.8)
        bubble = around(text, RECEIVER, 0.22, theme.PAPER)
        group = Group(bubble, text).move_to([STAGE.right - 0.25, y, 0], aligned_edge=RIGHT)
        return Group(link(out[0].get_right() + 0.1 * RIGHT, bubble.get_left(), RECEIVER, 2.4), group)


class KeyInImage(Lanes):
    route = "reference/s01/13"
    letter, role, token, part = "K", "source", "river", "face"

    def title(self):
        return "What could a key be in the image?"

    def caption(self):
        return "Every source row makes its own key. The receiver’s query is compared with each key, and out of the scores come the attention weights."

    def notes(self):
        return ("The query stays where it was, with the receiver. What is new belongs to the source: river above, the face below, and each has its own key. "
                "Ask how the dark patch would compare the face with the branches: the same query against a second key. One pair of rows gives one number, "
                "a score; nothing has been sent yet.")

    def outcome(self, y, color, name, asks, out):
        x = STAGE.left + 10.35
        query = self.named(f'q_"{asks}"', Cells((0.8, 0.3, 0.6), color, 0.3), x, y + 0.27)
        ring = outline(query[0], RECEIVER, 3.5, pad=0.07)
        query[1].next_to(ring, UP, buff=0.04)
        key = out[0].copy().move_to([x, y - 0.23, 0])
        score = Box("score", color=theme.TEAL, height=0.74, size=theme.LABEL, fill=0.12).move_to([STAGE.right - 0.3, y, 0], aligned_edge=RIGHT)
        formula = math(f'q_"{asks}" dot.op k_"{name}"', theme.BODY, color).next_to(key, DOWN, buff=0.1)
        return Group(
            query,
            ring,
            key,
            arrow(out[0].get_right(), [key.get_left()[0], y, 0], color),
            arrow([query[0].get_right()[0] + 0.12, score.get_y(), 0], score.get_left(), theme.TEAL, gap=0.08),
            score,
            formula,
        )

    def finish(self, index, end, out):
        query, ring, key, near, way, score, formula = end
        self.step(FadeIn(query), FadeIn(ring))
        self.go(*draw(near), TransformFromCopy(out[0], key), run_time=0.9)
        self.go(FadeIn(formula), *draw(way), FadeIn(score, shift=0.15 * RIGHT))


class ValueInImage(Lanes):
    route = "reference/s01/14"
    letter, role, token, part = "V", "source", "river", "face"

    def title(self):
        return "What information would a value send?"

    def caption(self):
        return "Queries and keys have settled the weights. A source’s value is what those weights scale; the sum of all of them updates the receiver."

    def notes(self):
        return (
            "Same sources and the same crop as with the key; only the weights of the projection changed, W_V in place of W_K. Once a source has its weight, the value is what gets sent: "
            "every cell is multiplied by that one number, and the paler row goes to the receiver. A small weight sends little of a value, "
            "however much the value has to say."
        )

    def outcome(self, y, color, name, asks, out):
        x = STAGE.left + 10.15
        pill = weight_pill("weight", 0.6, theme.LABEL).move_to([x, y, 0]).set_z_index(1)
        sent = out[0].times(0.45).move_to([STAGE.right - 1.3, y, 0])
        formula = words(f'weight × $v_"{name}"$', theme.BODY, color).next_to(sent, UP, buff=0.14)
        goal = words("into the message", theme.SMALL, theme.GREY).next_to(sent, DOWN, buff=0.12)
        return Group(
            words("×", theme.CAPTION, theme.GREY).move_to([(out[0].get_right()[0] + pill.get_left()[0]) / 2, y, 0]),
            pill,
            arrow(pill, sent, theme.TEAL, gap=0.1),
            sent,
            formula,
            goal,
        )

    def finish(self, index, end, out):
        sign, pill, way, sent, formula, goal = end
        self.step(FadeIn(sign), FadeIn(pill, shift=0.15 * RIGHT))
        self.go(*draw(way), TransformFromCopy(out[0], sent), FadeIn(formula), FadeIn(goal), run_time=1.0)


class PhotographIntoRows(Story):
    route = "reference/s01/15"

    def title(self):
        return f"How can we give this {self.word} to attention?"

    def caption(self):
        return f"Attention takes rows of numbers, and a {self.word} is none yet. So we will cut it into patches and make one row out of the pixels of each."

    def notes(self):
        return (
            f"What did attention get in the text lessons? A row of numbers for each token. Keep the {self.word} in view and take three patches out of it, one after the other; each becomes one row. "
            "The strips are the real pixel values of those patches. How a row of pixels becomes a row of features is the next section."
        )

    def build(self):
        photo = STAGE.place(Photograph(self.run, side=4.4, grid=True), UP + LEFT)
        whole = words(f"whole {self.word}", theme.BODY, bold=True).next_to(photo, DOWN, buff=0.1)
        parts = sorted(("branches", "face", "dark_patch"), key=lambda p: self.dog.photo.places[p])
        ys = [photo.get_top()[1] - d for d in (0.65, 2.0, 3.35)]
        x = photo.get_right()[0]
        lines = [self.line(photo, part, x, y) for part, y in zip(parts, ys)]
        dots = words("⋮", theme.CAPTION, theme.GREY, bold=True).move_to([x + 1.2, photo.get_bottom()[1] + 0.2, 0])
        rule = words("one row per patch", theme.BODY, theme.BLUE, bold=True)
        rule.move_to([lines[0][1].get_x(), whole.get_y(), 0])
        box = self.attention(photo)
        ways = [arrow(line[1].get_right(), [box[0].get_left()[0], line[1].get_y(), 0], theme.BLUE) for line in lines]
        self.step(photo, FadeIn(whole))
        for i, (part, line) in enumerate(zip(parts, lines)):
            mark = photo.patch(self.dog.place(part), theme.AMBER, 4)
            (self.step if i in (0, 1) else self.go)(FadeIn(mark), Emerge(line[0], photo.cell(self.dog.place(part))))
            self.go(Emerge(line[1], line[0]), FadeIn(line[2]))
        self.go(FadeIn(dots), *write(rule))
        self.step(*draw(*ways), FadeIn(box[:2]), FadeIn(box[3]))
        self.go(*draw(*box[2]), lag_ratio=0.1)
        self.bring_to_front(box[1])

    def line(self, photo, part, x, y):
        crop = photo.crop(self.dog.place(part), 1.0, theme.AMBER).move_to([x + 1.2, y, 0])
        strip = self.numbers(crop, 2.75, 0.44).move_to([x + 3.5, y - 0.12, 0])
        return crop, strip, words("numbers for a patch", theme.LABEL, theme.BLUE).next_to(strip, UP, buff=0.07)

    def attention(self, photo):
        """A box in which every row reads every other."""
        width = 2.35
        frame = panel(width, photo.height, theme.TEAL, theme.tint(theme.TEAL, 0.06)).move_to([STAGE.right - width / 2, photo.get_y(), 0])
        head = column(words("attention", theme.CAPTION, theme.TEAL, bold=True), words("share information", theme.SMALL, theme.GREY), gap=0.02).move_to(
            [frame.get_x(), frame.get_top()[1] - 0.5, 0]
        )
        angles = np.pi / 2 + 2 * np.pi * np.arange(5) / 5
        spots = [frame.get_center() + 0.35 * DOWN + 0.82 * np.array([np.cos(a), np.sin(a), 0]) for a in angles]
        nodes = Group(*(joint("", theme.BLUE, 0.2).move_to(s) for s in spots))
        for node in nodes:
            node[0].set_fill(theme.tint(theme.BLUE, 0.25))
        links = [link(a, b, theme.TEAL, 2.4) for i, a in enumerate(spots) for b in spots[i + 1 :]]
        return Group(frame, nodes, Group(*links), head)


class WholePipeline(Story):
    route = "reference/s01/16"

    def title(self):
        return "The image classifier, drawn as one encoder pipeline"

    def caption(self):
        m = self.model
        return (f"Pixels become {m.patches} rows; learned CLS and position rows complete the sequence. {m.depth} blocks build context, "
                f"and the final CLS row alone is what the class head sees.")

    def notes(self):
        m = self.model
        return (
            f"Ask where the picture turns into a sequence: at the patch projection, which gives {m.patches} rows. CLS makes them {m.tokens}; the position table adds a row to every "
            f"row and changes no shape. Blocks keep the shape as well. At the end one row of {m.width} numbers is read and becomes {count(m.classes)} scores. Every later page "
            "enlarges one part of this figure."
        )

    def build(self):
        m = self.model
        top, low = STAGE.top - 0.87, STAGE.bottom + 1.27
        left, right = STAGE.left, STAGE.right
        photo = Photograph(self.run, side=1.74).move_to([left + 0.87, top, 0])
        photo_name = self.under(photo, f"{times(m.image, m.image)} RGB")
        layer = Box("Shared patch", words("projection", theme.BODY, theme.BLUE, bold=True), height=1.2).move_to([left + 3.75, top, 0])
        body = self.rows_picture(2.1, 1.4).move_to([left + 6.85, top, 0])
        body_name = self.under(body, f"{m.patches} rows · {m.width} features")
        full = self.rows_picture(2.1, 1.4).move_to([right - 1.15, top - 0.1, 0])
        cls = Frame(corner_radius=0.03, width=2.1, height=0.18, stroke_width=0, fill_color=theme.AMBER, fill_opacity=1).next_to(full, UP, buff=0.05)
        place = Frame(
            corner_radius=0.06, width=2.3, height=full.height + 0.43, stroke_color=theme.AMBER, stroke_width=2, fill_color=theme.AMBER, fill_opacity=0.18
        ).move_to(Group(cls, full))
        added = Group(
            *(
                words(t, theme.LABEL, theme.AMBER, bold=True).move_to([place.get_left()[0] - 0.2, y, 0], aligned_edge=RIGHT)
                for t, y in (("+ learned CLS", cls.get_y()), ("+ learned position", full.get_bottom()[1] + 0.2))
            )
        )

        blocks = VGroup(
            *(
                RoundedRectangle(
                    corner_radius=0.12,
                    width=1.5,
                    height=1.2,
                    stroke_color=theme.tint(theme.BLUE, 0.8),
                    stroke_width=1.6,
                    fill_color=theme.tint(theme.BLUE, 0.06),
                    fill_opacity=1,
                ).shift(0.05 * i * (RIGHT + UP))
                for i in reversed(range(m.depth))
            )
        ).move_to([left + 1.03, low, 0])
        blocks_name = column(words("Encoder", theme.BODY, theme.BLUE, bold=True), words(f"× {m.depth}", theme.BODY, theme.BLUE, bold=True), gap=0.02).move_to(
            blocks[-1]
        )
        norm = Box("Final", words("LayerNorm", theme.BODY, theme.BLUE, bold=True), height=1.2).move_to([left + 4.05, low, 0])
        h = Strip(self.dog.h or Vector.unknown(m.width), width=2.1, height=0.44).move_to([left + 7.0, low, 0])
        h_name = self.under(h, f"read CLS: {m.width} features")
        head = Box("Linear", words("class head", theme.BODY, theme.BLUE, bold=True), height=1.2).move_to([left + 9.75, low, 0])
        scores = all_scores(self.dog.prediction.logits, 1.9, 1.3).move_to([right - 0.95, low, 0])
        scores_name = self.under(scores, f"{count(m.classes)} class scores")
        credit = words("ViT: Dosovitskiy et al., 2020 · dimensions shown for our ViT-Tiny checkpoint", theme.SMALL, theme.GREY).move_to(
            [STAGE.center[0], STAGE.bottom + 0.02, 0]
        )

        self.step(photo, FadeIn(photo_name))
        self.step(*draw(arrow(photo, layer)), FadeIn(layer))
        self.go(*draw(arrow(layer, body)), Emerge(body, layer), FadeIn(body_name))
        way = arrow(body.get_right(), [place.get_left()[0], body.get_y(), 0])
        self.step(*draw(way), TransformFromCopy(body, full))
        self.go(FadeIn(cls, shift=0.3 * DOWN), *write(added[0]))
        self.go(FadeIn(place, shift=0.4 * UP), *write(added[1]))
        turn, entry = photo_name.get_bottom()[1] - 0.14, blocks.get_top() + 0.3 * LEFT
        down = elbow(place.get_bottom(), np.array([place.get_x(), turn, 0]), np.array([entry[0], turn, 0]), entry + 0.06 * UP, color=theme.INK)
        self.step(*draw(down), FadeIn(blocks, lag_ratio=0.1), FadeIn(blocks_name))
        self.step(*draw(arrow([blocks.get_right()[0], low, 0], norm.get_left())), FadeIn(norm))
        self.go(*draw(arrow(norm, h)), Emerge(h, norm), FadeIn(h_name))
        self.step(*draw(arrow(h, head)), FadeIn(head))
        self.go(*draw(arrow(head, scores)), Emerge(scores, head), FadeIn(scores_name))
        self.go(*write(credit))

    def under(self, mobject, text):
        return words(text, theme.LABEL, theme.GREY).next_to(mobject, DOWN, buff=0.12)

    def rows_picture(self, width, height, n=9):
        """Many rows as a symbol: bars of the same width, in slightly different shades."""
        shades = 0.35 + 0.4 * np.abs(np.sin(1.7 * np.arange(n)))
        bar = height / n
        return VGroup(
            *(Frame(corner_radius=0.03, width=width, height=0.7 * bar, stroke_width=0, fill_color=theme.tint(theme.BLUE, s), fill_opacity=1) for s in shades)
        ).arrange(DOWN, buff=0.3 * bar)
