"""Main lecture, first question: from pixels to tokens."""

import numpy as np

from scenes.kit import *  # noqa: F403 - the kit is the vocabulary of a storyboard
from scenes.lecture.questions import Progress
from vit_data import rows
from vit_data.cost import Cost
from vit_data.run import Vector


class TokenPage(Talk, NosePage):
    """What these pages share besides the nose patch: the shared projection as one box."""

    def projection(self, width=3.0, height=1.9):
        m = self.model
        return (
            Box(words("shared projection", theme.CAPTION, theme.BLUE, bold=True), math("W_E, b_E", theme.CAPTION, theme.BLUE), width=width, height=height)
            if height > 2.5
            else Box(
                words("shared projection", theme.CAPTION, theme.BLUE, bold=True),
                words(f"$W_E$: {times(m.patch_values, m.width)}", theme.BODY),
                words(f"$b_E$: {m.width}", theme.BODY),
                width=width,
                height=height,
            )
        )


class WhyNotPixels(TokenPage):
    route = "lecture/s02/1"

    def title(self):
        return "Why not make every pixel a token?"

    def caption(self):
        return "Every token is compared with every other, so the score matrix grows as *N*²: patches keep it small."

    def says(self):
        pixels, patches = Cost(self.model.image, 1), Cost(self.model.image, self.model.patch)
        return [
            f"The simplest idea: one token for each pixel. A picture of {count(self.model.image)} by {count(self.model.image)} has {count(pixels.patches)} of them. The fine lattice here is only a sketch.",
            f"If we take squares of {self.model.patch} by {self.model.patch} pixels instead, there are only {patches.patches}.",
            f"Attention compares all with all, so the number of scores is the square of the number of tokens. For pixels that is {count(pixels.patches**2)} scores in every head of every block, "
            f"for patches {count(patches.patches**2)}. The picture is the same, the work is not.",
        ]

    def build(self):
        pixels, patches = Cost(self.model.image, 1), Cost(self.model.image, self.model.patch)
        cards = []
        for cost, columns, head, what in ((pixels, 56, "one token a pixel", f"{times(pixels.grid, pixels.grid)} = *{count(pixels.patches)}* tokens"),
                                          (patches, patches.grid, f"one token a patch of {times(self.model.patch, self.model.patch)}", f"{times(patches.grid, patches.grid)} = *{count(patches.patches)}* tokens")):
            photo = Photograph(self.run, side=3.35, grid=True, columns=columns)
            photo.lines.set_stroke(width=0.7 if columns > 20 else 1.6, opacity=0.75)
            scores = words(f"$N^2$ = {count(cost.patches ** 2)} scores", theme.CAPTION, theme.TEAL, bold=True)
            cards.append((photo, words(head, theme.BODY, theme.GREY), words(what, 44), scores))
        places = STAGE.columns(1, 1, gap=0.8)
        for card, place in zip(cards, places):
            place.place(column(card[1], card[0], card[2], card[3], gap=0.14))
        self.step(cards[0][0], *write(cards[0][1], cards[0][2]))
        self.step(cards[1][0], *write(cards[1][1], cards[1][2]))
        self.step(*write(cards[0][3]))
        self.go(*write(cards[1][3]))

class SplitIntoPatches(TokenPage):
    route = "lecture/s02/2"

    def title(self):
        return f"Split the same {self.word} into {self.model.patches} patches"

    def caption(self):
        return f"The cuts come every {self.model.patch} pixels, wherever they fall on the {self.dog.photo.species}."

    def says(self):
        m = self.model
        return [
            f"The {self.word} has already been resized and cropped to what the checkpoint expects, {count(m.image)} pixels a side.",
            f"We cut every {m.patch} pixels. {count(m.image)} divided by {m.patch} is {m.grid}, so there are {m.grid} pieces along each side.",
            f"{m.grid} times {m.grid} makes {m.patches} patches. They are numbered as you read, from the top left to the bottom right. Nobody asked where the "
            f"{self.dog.photo.species} is: the cuts are the same for every picture, and nothing is lost by them.",
        ]

    def build(self):
        m, n = self.model, self.model.grid
        photo = Photograph(self.run, side=4.25).move_to([STAGE.left + 2.45, STAGE.center[1], 0])
        photo.lines.move_to(photo)
        whole = Tiles.boxes_of(*(photo.cell(i + 1) for i in range(m.patches)))
        tiles = Tiles(photo.blocks(), whole, smooth=not photo.missing)
        centre = np.array([*photo.get_center()[:2], 0, 0])
        apart = centre + (whole - centre) * [1.14, 1.14, 1, 1]
        side = column(
            words(f"{count(m.image)} ÷ {m.patch} = *{n}* per side", 56), words(f"{times(n, n)} = *{m.patches}* patches", 56, theme.BLUE), gap=0.5, align=LEFT
        )
        side.move_to([(STAGE.left + 6.2 + STAGE.right) / 2, STAGE.center[1], 0])
        self.step(photo)
        self.step(*draw(*photo.lines), lag_ratio=0.04, run_time=1.3)
        self.go(*write(side[0]))
        self.step(FadeIn(tiles), run_time=0.4)
        self.remove(photo, *photo.lines)
        self.go(Glide(tiles, apart, run_time=1.0))
        self.go(*write(side[1]))


class InsideOnePatch(TokenPage):
    route = "lecture/s02/3"

    def title(self):
        return "What is inside one patch?"

    def caption(self):
        return f"{self.nose}, magnified. Every square is one pixel with three numbers."

    def says(self):
        m = self.model
        r, c = rows.grid_place(self.number, m.grid)
        return [
            f"Let us take one patch out, number {self.number}, and stay with it for a while. It lies in row {r}, column {c} of the grid.",
            f"Magnified, you see what the model gets: {m.patch} by {m.patch} pixels, each with a red, a green and a blue value.",
            f"Multiplied out that makes {m.patch_values} numbers. Before they go on, each is put on the scale that the checkpoint was trained with: divided by 255, then {num(m.transform.mean[0], 1)} is subtracted and "
            f"the rest divided by {num(m.transform.std[0], 1)}.",
        ]

    def build(self):
        m = self.model
        photo = STAGE.place(Photograph(self.run, side=4.5, grid=True), LEFT)
        crop = photo.crop(self.nose, 3.7).move_to([photo.get_right()[0] + 3.0, STAGE.center[1] + 0.1, 0])
        wide, high = extent(crop, f"{m.patch}", DOWN, theme.INK, theme.CAPTION), extent(crop, f"{m.patch}", RIGHT, theme.INK, theme.CAPTION)
        name = words(self.nose, theme.CAPTION, theme.AMBER, bold=True).next_to(crop, UP, buff=0.12)
        total = column(
            words(times(m.patch, m.patch, m.channels), 56),
            words(f"= {m.patch_values}", 84, theme.BLUE, bold=True),
            words("input numbers", theme.CAPTION, theme.BLUE),
            gap=0.1,
        )
        total.move_to([(high.get_right()[0] + STAGE.right) / 2 + 0.1, STAGE.center[1], 0])
        self.step(photo, FadeIn(photo.patch(self.nose, theme.AMBER)))
        self.step(Emerge(crop, photo.cell(self.nose)), FadeIn(photo.zoom_lines(self.nose, crop)), FadeIn(name))
        self.go(FadeIn(wide), FadeIn(high))
        self.step(*write(*total), lag_ratio=0.3)


class FlattenChannels(TokenPage):
    route = "lecture/s02/4"

    def title(self):
        return "Flatten one channel at a time: R, then G, then B"

    def caption(self):
        return "Inside a channel we read as in a book: row by row, from the left to the right."

    def says(self):
        m = self.model
        n = m.patch**2
        return [
            f"A patch is a small stack of three planes, red, green and blue, with {m.patch} by {m.patch}, that is {n}, values in each.",
            "We read the red plane row by row and lay the rows end to end.",
            "Then the green plane behind it, and then the blue one.",
            f"The result is one long row with {m.patch_values} entries. Any fixed order would do, as long as the weights count in the same order; this one is how PyTorch does it. "
            "From here on the patch is a vector, and its square shape is forgotten.",
        ]

    def build(self):
        m, n = self.model, self.model.patch**2
        crop = Photograph(self.run).crop(self.nose, 2.3).move_to([STAGE.left + 1.3, STAGE.top - 1.75, 0])
        name = words(self.nose, theme.CAPTION, theme.AMBER, bold=True).next_to(crop, UP, buff=0.12)
        third = STAGE.width / 3
        y = STAGE.bottom + 1.0
        planes, strips, labels = Group(), Group(), Group()
        x = pixel_row(self.dog.patches[self.nose].x)
        parts = [self.dog.patches[self.nose].x.red, self.dog.patches[self.nose].x.green, self.dog.patches[self.nose].x.blue]
        for i, letter in enumerate("RGB"):
            color = theme.RGB[letter]
            plane = crop.channel(i).scale(1.75 / crop.width).move_to([STAGE.left + 4.6 + i * 3.1 + 0.9, crop.get_y(), 0])
            planes.add(Group(plane, words(f"*{letter}*  {times(m.patch, m.patch)} = {n}", theme.BODY, color).next_to(plane, UP, buff=0.12)))
            part = parts[i] or Vector.unknown(n)
            strips.add(Strip(part, color, third, 0.62, limit=1.0).move_to([STAGE.left + third * (i + 0.5), y, 0]))
            strips[i].border.set_stroke(color, 3)
            labels.add(words(f"{n}", theme.BODY, color).next_to(strips[i], UP, buff=0.08))
        total = words(f"$x_{self.number} in RR^{x.length}$", 52, theme.BLUE).move_to([STAGE.center[0], STAGE.bottom + 0.22, 0])
        self.step(crop, FadeIn(name))
        self.go(*(Emerge(p[0], crop) for p in planes), *write(*(p[1] for p in planes)), lag_ratio=0.1)
        self.lay(planes[0][0], strips[0], labels[0])
        self.lay(planes[1][0], strips[1], labels[1], planes[2][0], strips[2], labels[2])
        self.step(*write(total))

    def lay(self, *parts):
        """Rows of pixels leave their planes one after the other and lie down as strips; one step."""
        first = True
        for plane, strip, label in zip(parts[::3], parts[1::3], parts[2::3]):
            tiles, way = self.unroll(plane, strip, 1.4)
            self.add(tiles)
            (self.step if first else self.go)(way, FadeIn(label))
            self.go(FadeIn(strip), run_time=0.5)
            self.remove(tiles)
            first = False


class HowPixelsBecomeFeatures(TokenPage):
    route = "lecture/s02/5"

    def title(self):
        return f"How do {self.model.patch_values} pixel values become {self.model.width} features?"

    def caption(self):
        return "One weighted sum for each feature, and no activation after it."

    def says(self):
        m = self.model
        return [
            f"On the left our row of {m.patch_values} pixel values.",
            f"In the middle a learned linear layer: a matrix with {m.patch_values} rows and {m.width} columns, and a bias for each column.",
            f"Out come {m.width} numbers, the content of the patch, which we call c.",
            f"In one line: c is x times W plus b. Each of the {m.width} features is one weighted sum of all {m.patch_values} pixel values. No activation follows; the patch layer is as simple as a layer can be.",
        ]

    def build(self):
        m, names = self.model, self.nose
        x, c = pixel_row(self.dog.patches[names].x), self.dog.patches[names].c
        y = STAGE.center[1] + 0.75
        crop = Photograph(self.run).crop(names, 1.3).move_to([STAGE.left + 0.7, y, 0])
        left = Strip(x, width=3.3, height=0.72).move_to([crop.get_right()[0] + 0.4 + 1.65, y, 0])
        layer = self.projection(3.2, 2.1).move_to([left.get_right()[0] + 0.85 + 1.6, y, 0])
        right = Strip(c, width=2.5, height=0.72).move_to([STAGE.right - 1.25, y, 0])
        heads = [
            words(t, theme.CAPTION, theme.BLUE).next_to(part, UP, buff=0.16)
            for t, part in ((f"$x_i$ · {m.patch_values} values", left), (f"$c_i$ · {m.width} features", right))
        ]
        rule = words("$c_i = x_i W_E + b_E$", 76, theme.BLUE).move_to([STAGE.center[0], STAGE.bottom + 0.75, 0])
        self.step(crop)
        self.go(Emerge(left, crop), FadeIn(heads[0]))
        into, out = arrow(left, layer), arrow(layer, right)
        self.step(*draw(into), FadeIn(layer))
        self.step(pulse(into, theme.BLUE))
        self.go(*draw(out), Emerge(right, layer), FadeIn(heads[1]))
        self.step(*write(rule))


class SameProjection(TokenPage):
    route = "lecture/s02/6"

    def title(self):
        return "Should every patch get a different projection?"

    def caption(self):
        return f"No: one set of weights for all {self.model.patches} patches. Only the pixels differ."

    def says(self):
        m = self.model
        return [
            f"Here are three of our {m.patches} patches: the first, our nose patch, and the last. Each is a row of {m.patch_values} values.",
            "Should each get weights of its own? Then a nose would have to be learned again at every place, and most weights would hardly ever meet one.",
            f"So all of them go through the same box. The weights are learned once and shared; different pixels give different features. The price: the box cannot know where a patch came from. "
            "That will be our second question.",
        ]

    def build(self):
        m = self.model
        names = [rows.name(1), self.nose, rows.name(m.patches)]
        photo = Photograph(self.run, side=3.0).move_to([STAGE.left + 1.5, STAGE.center[1], 0])
        ys = [STAGE.center[1] + d for d in (1.75, 0, -1.75)]
        layer = self.projection(3.0, 4.6).move_to([STAGE.left + 8.95, STAGE.center[1], 0])
        shared = [self.dog.patches[n].c for n in names]
        limit = max(float(np.nanquantile(np.abs(known(c)), 0.98)) for c in shared)
        lanes = []
        for name, y, c in zip(names, ys, shared):
            i = rows.index(name)
            crop = photo.crop(name, 1.05).move_to([STAGE.left + 4.0, y, 0])
            strip = crop_strip(m, crop, 1.95, 0.55).move_to([STAGE.left + 5.85, y, 0])
            out = Strip(c, width=2.2, height=0.55, limit=limit).move_to([STAGE.right - 1.1, y, 0])
            labels = [
                words(f"$x_{i}$", theme.CAPTION, theme.BLUE).next_to(strip, UP, buff=0.08),
                words(f"$c_{i}$", theme.CAPTION, theme.BLUE).next_to(out, UP, buff=0.08),
            ]
            sizes = [
                words(f"{m.patch_values}", theme.LABEL, theme.GREY).next_to(strip, DOWN, buff=0.08),
                words(f"{m.width}", theme.LABEL, theme.GREY).next_to(out, DOWN, buff=0.08),
            ]
            lanes.append(
                (
                    name,
                    crop,
                    strip,
                    out,
                    labels,
                    sizes,
                    arrow(strip.get_right(), [layer.get_left()[0], y, 0]),
                    arrow([layer.get_right()[0], y, 0], out.get_left()),
                )
            )
        self.step(photo)
        for name, crop, strip, _, labels, sizes, _, _ in lanes:
            self.go(
                FadeIn(photo.patch(name, theme.AMBER, 3.5)), Emerge(crop, photo.cell(name)), FadeIn(strip), FadeIn(labels[0]), FadeIn(sizes[0]), run_time=0.7
            )
        self.step(FadeIn(layer), *draw(*(lane[6] for lane in lanes)))
        self.step(*(pulse(lane[6], theme.BLUE) for lane in lanes))
        self.go(*(a for lane in lanes for a in (*draw(lane[7]), Emerge(lane[3], layer), FadeIn(lane[4][1]), FadeIn(lane[5][1]))))


class StackIntoMatrix(TokenPage):
    route = "lecture/s02/7"

    def title(self):
        return "Stack the patches into one feature matrix"

    def caption(self):
        return f"All rows at once: *C* = *X* $W_E$ + $b_E$. The order of the rows stays."

    def says(self):
        m = self.model
        return [
            f"In practice nobody loops over patches. All {m.patches} rows are stacked under each other into one matrix X, {m.patch_values} numbers wide.",
            "The projection is applied to the whole stack in one multiplication, and the same bias is added to every row.",
            f"Out comes the matrix C: still {m.patches} rows, in the same order, now {m.width} features wide. Row {self.number} of C belongs to patch {self.number}, "
            "as row one belongs to patch one. This matrix is the first half of what the encoder will get.",
        ]

    def build(self):
        m = self.model
        names = [rows.name(1), None, self.nose, None, rows.name(m.patches)]
        ys = [STAGE.top - 1.25 - i * 0.78 for i in range(5)]
        photo = Photograph(self.run, side=1.0)
        layer = self.projection(3.1, 1.9)
        shared = [self.dog.patches[n].c for n in names if n]
        limit = max(float(np.nanquantile(np.abs(known(c)), 0.98)) for c in shared)
        left, right, dots = [], [], Group()
        for name, y in zip(names, ys):
            if name is None:
                dots.add(*(words("⋮", theme.CAPTION, theme.GREY).move_to([x, y, 0]) for x in (STAGE.left + 3.05, STAGE.right - 1.7)))
                continue
            i = rows.index(name)
            crop = photo.crop(name, 0.7).move_to([STAGE.left + 1.15, y, 0])
            crop.border.set_stroke(width=2.5)
            strip = crop_strip(m, crop, 2.9, 0.52).move_to([STAGE.left + 3.05, y, 0])
            left.append(Group(math(f"x_{i}", theme.BODY, theme.BLUE).next_to(crop, LEFT, buff=0.12), crop, strip))
            out = Strip(self.dog.patches[name].c, width=2.9, height=0.52, limit=limit).move_to([STAGE.right - 1.65, y, 0])
            right.append(Group(out, math(f"c_{i}", theme.BODY, theme.BLUE).next_to(out, LEFT, buff=0.16)))
        box_l, box_r = (around(Group(*side), theme.BLUE, 0.18) for side in (left, right))
        layer.move_to([(box_l.get_right()[0] + box_r.get_left()[0]) / 2, ys[2], 0])
        heads = [
            words(f"*{s}*: {times(m.patches, w)}", 44, theme.BLUE).next_to(box, UP, buff=0.14)
            for s, w, box in (("X", m.patch_values, box_l), ("C", m.width, box_r))
        ]
        self.step(*write(*left), FadeIn(dots[::2]), lag_ratio=0.15)
        self.go(FadeIn(box_l), FadeIn(heads[0]))
        into, out = arrow(box_l.get_right(), layer.get_left()), arrow(layer.get_right(), box_r.get_left())
        self.step(*draw(into), FadeIn(layer))
        self.step(pulse(into, theme.BLUE), *draw(out))
        self.go(*(Emerge(r, layer) for r in right), FadeIn(dots[1::2]), lag_ratio=0.15)
        self.go(FadeIn(box_r), FadeIn(heads[1]))


class TrainedProjection(TokenPage):
    route = "lecture/s02/8"

    def title(self):
        return "What does the trained projection return?"

    def caption(self):
        return f"Measured: the {self.model.width} features of {self.nose}, before position is added."

    def says(self):
        m, c = self.model, self.dog.patches[self.nose].c
        values = ", ".join(num(v) for v in c.first[:3])
        return [
            f"Enough symbols; these are the real numbers. Patch {self.number} of our {self.word} goes into the trained layer.",
            f"What returns is a row of {m.width} features. You see all of them as colours: blue for positive, charcoal for negative, pale near zero.",
            f"The first three are {values}. Do not try to give a single one a meaning; nobody did during training. What counts is that patches that look alike get rows that are alike.",
        ]

    def build(self):
        m, c = self.model, self.dog.patches[self.nose].c
        photo = STAGE.place(Photograph(self.run, side=4.4), LEFT)
        y = photo.get_top()[1] - 0.85
        crop = photo.crop(self.nose, 1.7).move_to([photo.get_right()[0] + 1.75, y, 0])
        layer = Box(
            words("trained projection", theme.CAPTION, theme.BLUE, bold=True), words(f"{m.patch_values} → {m.width}", theme.BODY), width=3.4, height=1.25
        ).move_to([STAGE.right - 1.7, y, 0])
        left = photo.get_right()[0] + 0.9
        strip = Strip(c, width=STAGE.right - left, height=0.8).move_to([(left + STAGE.right) / 2, photo.get_bottom()[1] + 1.45, 0])
        head = row(
            words(f"$c_{self.number}$ · {m.width} features", theme.CAPTION, theme.BLUE, bold=True), sign_key(size=theme.LABEL), gap=0.7
        )
        head.next_to(strip, UP, buff=0.14).align_to(strip, LEFT)
        line = words(f"$c_{self.number}$ = {vec(c)}", 52).next_to(strip, DOWN, buff=0.3).align_to(strip, LEFT)
        self.step(photo, FadeIn(photo.patch(self.nose, theme.AMBER)))
        self.go(Emerge(crop, photo.cell(self.nose)), FadeIn(photo.zoom_lines(self.nose, crop)))
        into = arrow(crop, layer)
        self.step(*draw(into), FadeIn(words(f"{m.patch_values} inputs", theme.BODY, theme.GREY).next_to(into, UP, buff=0.08)), FadeIn(layer))
        self.go(Emerge(strip, layer), FadeIn(head))
        self.step(*write(line))


class ATokenForEachPatch(TokenPage):
    route = "lecture/s02/9"

    def title(self):
        return "We now have a token for each patch"

    def caption(self):
        return "First question answered. Next: where did each row come from?"

    def says(self):
        m = self.model
        return [
            f"Here is the whole path on one line, and we have done the first part. From the {self.word}, {m.patches} crops.",
            f"From the crops, through the shared projection, {m.patches} rows of {m.width} features. That is where we are now.",
            "Everything to the right still lies ahead. The next stop adds two things at once: where each patch was, and one extra row that will become the summary. "
            "We take location first, because without it our rows are a heap of pieces with no picture.",
        ]

    def build(self):
        line = Progress(self.run, 2).move_to(STAGE.center + 0.2 * DOWN)
        self.step(*write(*line.cards[:2]), *draw(line.arrows[0]), lag_ratio=0.2)
        self.step(*draw(line.arrows[1]), FadeIn(line.cards[2], scale=0.8))
        self.go(FadeIn(line.marker, shift=0.2 * UP))
        self.step(*(a for card, way in zip(line.cards[3:], line.arrows[2:]) for a in (*draw(way), FadeIn(card))), lag_ratio=0.15)
