"""Section 2 of the reference deck, from pixels to patch embeddings (pages 13 to 22: the real picture)."""

import numpy as np
from manim import GrowFromEdge, Rectangle, TransformFromCopy

from scenes.kit import *  # noqa: F403 - the kit is the vocabulary of a storyboard
from vit_data import figures, rows
from vit_data.run import Vector


class PatchPage(NosePage):
    """A page on the way from the nose patch to its row of features."""

    def layer(self, *lines, **style) -> Box:
        return Box(f"nn.Linear({self.model.patch_values}, {self.model.width})", *lines, **style)


class StartWithPhotograph(PatchPage):
    route = "reference/s02/13"

    def title(self):
        return f"Start with the same dog {figures.picture_word(self.run, 'dog')}"

    def caption(self):
        m = self.model
        return (f"From here on, this one {figures.picture_word(self.run, 'dog')} runs through the real model. Resizing and cropping are done: "
                f"{count(m.image)} rows, {count(m.image)} columns, {m.channels} colour values at every pixel.")

    def notes(self):
        m = self.model
        return (f"Ask what each number in {times(m.image, m.image, m.channels)} counts before you reveal it. Walk down the rows, across the columns, "
                "then let the picture fall apart into its red, green and blue values. Nothing has been learned yet; these are the bytes of the image.")

    def build(self):
        m = self.model
        photo = STAGE.place(Photograph(self.run, side=4.32), LEFT + DOWN)
        across = extent(photo, f"{count(m.image)} columns of pixels", UP, theme.INK)
        down = extent(photo, words(f"{count(m.image)} rows\nof pixels", theme.LABEL), RIGHT, theme.INK)
        right = Area(down.get_right()[0] + 0.55, STAGE.bottom, STAGE.right, STAGE.top)
        sizes = sum_line(count(m.image), "×", count(m.image), "×", count(m.channels), size=96, gap=0.36)
        units = Group(*(words(t, theme.LABEL, theme.GREY).next_to(sizes[i], DOWN, buff=-0.04) for t, i in (("rows", 0), ("columns", 2), ("values", 4))))
        shape = column(words("Input image", theme.BODY, theme.BLUE, bold=True), Group(sizes, units), gap=0.12, align=LEFT)
        side = (right.width - 0.5) / 3
        planes = Group(*(self.plane(photo, i, side) for i in range(m.channels))).arrange(RIGHT, buff=0.25)
        letters = row(words(f"{m.channels} values per pixel:"), *(words(t, color=theme.RGB[t[0]], bold=True) for t in ("R,", "G,", "B")), gap=0.16)
        more = words("*Next:* cut this image into equal-sized patches.", theme.LABEL, theme.GREY)
        shape.move_to([right.left, right.top, 0], aligned_edge=UP + LEFT)
        planes.move_to([right.left, photo.get_bottom()[1] + 0.52, 0], aligned_edge=DOWN + LEFT)
        letters.next_to(planes, UP, buff=0.14).align_to(planes, LEFT)
        more.move_to([right.left, photo.get_bottom()[1], 0], aligned_edge=DOWN + LEFT)

        self.step(photo, FadeIn(shape[0]))
        self.step(FadeIn(down), FadeIn(sizes[0]), FadeIn(units[0]))
        self.step(FadeIn(across), FadeIn(sizes[1:3]), FadeIn(units[1]))
        self.step(FadeIn(sizes[3:]), FadeIn(units[2]), FadeIn(letters))
        self.go(*(Emerge(p, photo) for p in planes), lag_ratio=0.15)
        self.step(*write(more))

    def plane(self, photo, channel, side):
        color = theme.RGB["RGB"[channel]]
        if photo.missing:
            return Group(panel(side, side, color, theme.tint(color, 0.08)))
        only = np.zeros_like(photo.array)
        only[..., channel] = photo.array[..., channel]
        return Photograph(self.run, side=side, image=only)


class CutIntoPatches(PatchPage):
    route = "reference/s02/14"

    def title(self):
        return f"Split the image into {times(self.model.patch, self.model.patch)} patches"

    def caption(self):
        m = self.model
        return (f"Pixels count to the right along x and downwards along y, {count(m.image)} each way. A cut every {m.patch} pixels gives equal pieces "
                "that keep all their colour values. How many pieces? That comes next.")

    def notes(self):
        m = self.model
        return (f"Trace x to the right and y downwards, and say where they end. Let the class work out how often {m.patch} goes into {count(m.image)} "
                f"while the cuts appear, but leave the total for the next page. Then follow {self.nose} out of the picture: "
                "same pixels, only enlarged, still three values at each of them.")

    def build(self):
        m = self.model
        photo = STAGE.place(Photograph(self.run, side=4.3), LEFT + DOWN)
        photo.shift(0.62 * RIGHT)
        photo.lines.move_to(photo)
        x, y, marks = photo.axes()
        crop = photo.crop(self.nose, 2.9).move_to([1.6, photo.get_center()[1] + 0.36, 0])
        name = words(f"*One patch:* {self.nose} · enlarged", theme.BODY).next_to(crop, UP, buff=0.2)
        wide, high = extent(crop, f"{m.patch} pixels wide", DOWN, theme.INK), extent(crop, words(f"{m.patch} pixels\nhigh", theme.LABEL), RIGHT, theme.INK)
        planes, letters = Group(*(crop.channel(i) for i in range(m.channels))), Group()
        for p, letter in zip(planes, "RGB"):
            p.scale((crop.height - 0.3) / 3 / p.height)
        planes.arrange(DOWN, buff=0.15).move_to([STAGE.right - 1.0, crop.get_center()[1], 0])
        letters.add(*(words(c, theme.BODY, theme.RGB[c], bold=True).next_to(p, RIGHT, buff=0.2) for p, c in zip(planes, "RGB")))
        legend = words(f"{m.channels} RGB channels", theme.LABEL).move_to([planes.get_center()[0], wide[1].get_center()[1], 0])
        more = words("*Next:* number the pieces, one image row at a time.", theme.LABEL, theme.GREY)
        more.move_to([crop.get_left()[0], photo.get_bottom()[1], 0], aligned_edge=DOWN + LEFT)

        self.step(photo)
        self.go(*draw(x, y), FadeIn(marks))
        self.step(*draw(*photo.lines), lag_ratio=0.05, run_time=1.2)
        self.step(FadeIn(photo.patch(self.nose, theme.AMBER)), run_time=0.4)
        self.go(Emerge(crop, photo.cell(self.nose)), FadeIn(photo.zoom_lines(self.nose, crop)), FadeIn(name))
        self.step(*write(wide, high))
        self.step(*(Emerge(p, crop) for p in planes), FadeIn(letters), FadeIn(legend))
        self.step(*write(more))


class NumberPatches(PatchPage):
    route = "reference/s02/15"

    def title(self):
        return "Number the patches row by row"

    def caption(self):
        m = self.model
        return (f"Numbers run left to right and go on at the start of the next row, as in reading. The sizes alone give {m.grid} patches a row, "
                f"{m.grid} rows, and so the last name: {rows.name(m.patches)}.")

    def notes(self):
        m = self.model
        return (
            f"Show the first two pieces and ask for the name of the last one in that row; the division by {m.patch} answers it. "
            f"Ask what starts row 2 before {rows.name(m.grid + 1)} appears, then for the very last name. Multiply both counts and read the whole array shape: "
            "pieces, rows and columns of pixels in each, colour values."
        )

    def build(self):
        m, n = self.model, self.model.grid
        photo = STAGE.place(Photograph(self.run, side=4.4, grid=True), LEFT)
        top, left = photo.get_top()[1], photo.get_right()[0] + 0.35
        xs, ys = [left + d for d in (1.45, 2.46, 3.2, 3.94)], [top - d for d in (0.86, 2.16, 3.86)]
        heads = Group(
            *(words(t, theme.SMALL, theme.GREY).move_to([x, top - 0.16, 0]) for t, x in zip(("column 1", "column 2", "last column"), (xs[0], xs[1], xs[3])))
        )
        lines = [self.line(photo, label, start, left, xs, y) for label, start, y in zip(("row 1", "row 2", "last row"), (1, n + 1, m.patches - n + 1), ys)]
        gaps = Group(*(words("⋮", theme.BODY, theme.GREY, bold=True).move_to([x, ys[2] + 0.62, 0]) for x in (xs[0], xs[1], xs[3])))

        divisions = grid([[words(f"{what}:", color=theme.GREY), words(f"{count(m.image)} ÷ {m.patch}"), words(f"= {n}", bold=True)]
                          for what in ("columns", "rows")], gap=(0.2, 0.24))
        sums = column(words("Use the image axes:", bold=True), divisions, gap=0.26, align=LEFT)
        total = column(
            words("total = columns × rows", theme.BODY, theme.GREY),
            words(f"{n} × {n} = {m.patches} patches", theme.BODY + 4, theme.BLUE, bold=True),
            words(f"shape: {times(m.patches, m.patch, m.patch, m.channels)}"),
            gap=0.26,
            align=LEFT,
        )
        sums.move_to([STAGE.right - 3.3, top, 0], aligned_edge=UP + LEFT)
        total.move_to([STAGE.right - 3.3, photo.get_bottom()[1], 0], aligned_edge=DOWN + LEFT)

        self.step(photo)
        label, cards, dots, band = lines[0]
        self.step(FadeIn(label), FadeIn(heads[:2]), *(Emerge(c[0], photo.cell(i)) for i, c in enumerate(cards[:2], 1)), *(FadeIn(c[1]) for c in cards[:2]))
        self.step(*write(sums[0], divisions[0]), GrowFromEdge(band, LEFT))
        self.go(FadeIn(dots), FadeIn(heads[2]), Emerge(cards[2][0], photo.cell(n)), FadeIn(cards[2][1]))
        self.step(*self.reveal(photo, lines[1], n + 1))
        self.step(*write(divisions[1]), FadeIn(gaps), *self.reveal(photo, lines[2], m.patches - n + 1))
        self.step(*write(*total), lag_ratio=0.3)

    def line(self, photo, label, start, left, xs, y):
        """A row's label, its first, second and last patch with their names, dots, and a bar over it on the picture."""
        cards = Group()
        for number, x in zip((start, start + 1, start + self.model.grid - 1), (xs[0], xs[1], xs[3])):
            crop = photo.crop(number, 0.84, theme.BLUE).move_to([x, y, 0])
            crop.border.set_stroke(width=2)
            cards.add(Group(crop, words(rows.name(number), theme.LABEL, bold=True).next_to(crop, DOWN, buff=0.05)))
        first, last = photo.cell(start), photo.cell(start + self.model.grid - 1)
        band = outline(Group(first, last), theme.AMBER, 4, pad=0.02).set_fill(theme.AMBER, 0.28)
        dots = words("…", color=theme.GREY, bold=True).move_to([xs[2], y, 0])
        return words(label, theme.LABEL, theme.GREY).move_to([left, y, 0], aligned_edge=LEFT), cards, dots, band

    def reveal(self, photo, line, start):
        label, cards, dots, band = line
        numbers = (start, start + 1, start + self.model.grid - 1)
        return [
            GrowFromEdge(band, LEFT),
            FadeIn(label),
            FadeIn(dots),
            *(Emerge(c[0], photo.cell(i)) for i, c in zip(numbers, cards)),
            *(FadeIn(c[1]) for c in cards),
        ]


class ReadRgb(PatchPage):
    route = "reference/s02/16"

    def title(self):
        return f"Read the RGB values inside patch {self.number}"

    def caption(self):
        one, two = self.dog.patches[self.nose].pixels[:2]
        return (f"{self.nose} starts with RGB {triple(one)}, and its right neighbour reads {triple(two)}. With {self.model.channels} values at each of "
                f"{self.pixels} pixels, the patch is {self.model.patch_values} numbers.")

    def notes(self):
        return (f"Zoom into {self.nose} until single pixels show. Read the two outlined ones aloud, channel by channel; the bars have one common end at 255. "
                f"Only then ask how many numbers the whole patch holds: {self.pixels} triples, so {self.model.patch_values} values, "
                "and nobody has to take that number on trust.")

    def build(self):
        m = self.model
        crop = Photograph(self.run, side=3.95).crop(self.nose, 3.95).move_to([STAGE.left + 1.975, STAGE.center[1], 0])
        photo = Photograph(self.run, side=3.95, grid=True).move_to(crop)
        name = words(f"{self.nose} · enlarged", theme.BODY, bold=True).next_to(crop, UP, buff=0.12)
        size = words(f"{times(m.patch, m.patch)} = {self.pixels} pixels").next_to(crop, DOWN, buff=0.12)
        right = Area(crop.get_right()[0] + 1.0, STAGE.bottom, STAGE.right, STAGE.top)
        xs = [right.right - 0.95 - d for d in (4.2, 2.1, 0)]
        head = Group(words(f"Pixel in {self.nose}", theme.BODY, theme.GREY, bold=True).move_to([right.left, right.top - 0.2, 0], aligned_edge=LEFT),
                     *(words(c, theme.BODY, theme.RGB[c], bold=True).move_to([x, right.top - 0.2, 0]) for c, x in zip("RGB", xs)))
        marks, lines = Group(crop.pixel(1), crop.pixel(2)), Group()
        for i, (word, y) in enumerate((("first", right.top - 1.12), ("second", right.top - 2.42))):
            rgb = self.dog.patches[self.nose].pixels[i]
            color = "#" + "".join(f"{v:02X}" for v in rgb)
            swatch = panel(0.84, 0.84, theme.INK, color).move_to([right.left + 0.42, y, 0])
            lines.add(Group(swatch, words(word, theme.BODY).next_to(swatch, RIGHT, buff=0.25), *(self.value(v, c, x, y) for v, c, x in zip(rgb, "RGB", xs))))
        terms = (f"{self.pixels} pixels", "×", f"{m.channels} RGB values", "=", f"*{m.patch_values} numbers*")
        total = row(*(words(t, theme.BODY + 4, theme.BLUE if t == terms[-1] else theme.INK) for t in terms), gap=0.22)
        total = column(total, words("in this patch", theme.LABEL, theme.GREY), gap=0.06)
        frame = panel(right.width, 1.24, theme.tint(theme.BLUE, 0.3), theme.tint(theme.BLUE, 0.05)).move_to([right.center[0], crop.get_bottom()[1] + 0.42, 0])
        total.move_to(frame)

        spot = photo.patch(self.nose, theme.AMBER)
        self.step(photo, spot)
        self.go(Emerge(crop, photo.cell(self.nose)))
        self.remove(photo, spot)
        self.go(FadeIn(name))
        self.step(*write(size))
        for i in (0, 1):
            self.step(FadeIn(marks[i]), *([FadeIn(head)] if i == 0 else []), run_time=0.5)
            self.go(Emerge(lines[i][0], marks[i]), *write(*lines[i][1:]))
        self.step(FadeIn(frame), *write(total))

    def value(self, value, letter, x, y):
        """A value of 0 to 255 over a bar of that length."""
        track = Rectangle(width=1.7, height=0.13, stroke_width=0, fill_color=theme.tint(theme.INK, 0.09), fill_opacity=1).move_to([x, y - 0.36, 0])
        bar = Rectangle(width=max(1.7 * value / 255, 0.01), height=0.13, stroke_width=0, fill_color=theme.RGB[letter], fill_opacity=1).move_to(
            track, aligned_edge=LEFT
        )
        return Group(words(str(value), 54).move_to([x, y + 0.05, 0]), track, bar)


class NormalizeValues(PatchPage):
    route = "reference/s02/17"

    def title(self):
        return "Normalize those same RGB values"

    def formulas(self):
        """The checkpoint's rule for each channel, or once if the channels share it."""
        t = self.model.transform
        rules = [(f"{m:g}", f"{s:g}") for m, s in zip(t.mean, t.std)]
        names = ["Each channel"] if len(set(rules)) == 1 else ["R", "G", "B"]
        return [(n, f"(value / 255 {MINUS} {m}) / {s}") for n, (m, s) in zip(names, rules)]

    def normalized(self, rgb):
        t = self.model.transform
        return [figures.normalize(v, m, s) for v, m, s in zip(rgb, t.mean, t.std)]

    def worked(self):
        red, t = self.dog.patches[self.nose].pixels[0][0], self.model.transform
        return f"({red} / 255 {MINUS} {t.mean[0]:g}) / {t.std[0]:g} ≈ {num(self.normalized((red, 0, 0))[0])}"

    def caption(self):
        rule = "one rule for all channels" if len(self.formulas()) == 1 else "one rule for each channel"
        red = self.dog.patches[self.nose].pixels[0][0]
        return (f"Same pixels on the scale that the checkpoint expects: {rule} turns the first red value, {red}, into "
                f"{num(self.normalized((red, 0, 0))[0])}. {self.nose} still holds {self.model.patch_values} values.")

    def notes(self):
        return ("Bring the first triple over from the page before. Substitute its red value into the rule by hand, then follow the marker from the upper scale "
                "to the lower one. Let the class do the second pixel. The constants belong to the checkpoint: "
                "every input of this model is prepared in exactly this way.")

    def build(self):
        pixels = self.dog.patches[self.nose].pixels[:2]
        crop = Photograph(self.run).crop(self.nose, 2.75).move_to([STAGE.left + 1.375, STAGE.top - 0.5 - 1.375, 0])
        name = words(self.nose, theme.BODY, bold=True).next_to(crop, UP, buff=0.1)
        marks = Group(crop.pixel(1), crop.pixel(2))
        rules = self.formulas()
        if len(rules) == 1:
            rule = column(words(f"{rules[0][0]}:", color=theme.GREY), words(rules[0][1]), gap=0.08)
        else:
            rule = column(*(words(f"{channel}: {formula}") for channel, formula in rules), gap=0.08)
        fit(rule, 2.95, 2)
        card = Group(panel(3.25, rule.height + 0.34, theme.tint(theme.BLUE, 0.3), theme.tint(theme.BLUE, 0.05)), rule)
        card.move_to([STAGE.left + 1.375, 0, 0]).align_to([0, STAGE.bottom + 0.05, 0], DOWN).align_to(crop, LEFT)
        rule.move_to(card[0])

        right = Area(crop.get_right()[0] + 1.1, STAGE.bottom, STAGE.right, STAGE.top)
        say = words(f"The same {self.nose} pixels, after the checkpoint’s normalization", theme.LABEL, theme.GREY)
        say.move_to([right.left, right.top - 0.2, 0], aligned_edge=LEFT)
        xs = (right.left, right.left + 1.35, right.left + 5.0)
        head = Group(*(words(t, color=theme.GREY, bold=True).move_to([x, right.top - 0.86, 0], aligned_edge=LEFT)
                       for t, x in zip(("Pixel", "8-bit RGB", "Normalized RGB"), xs)))
        lines = Group()
        for i, (rgb, y) in enumerate(zip(pixels, (right.top - 1.5, right.top - 2.2))):
            swatch = panel(0.5, 0.5, theme.INK, "#" + "".join(f"{v:02X}" for v in rgb)).move_to([xs[0] + 0.25, y, 0])
            before = words(triple(rgb), theme.BODY + 4).move_to([xs[1], y, 0], aligned_edge=LEFT)
            after = words(bracket(self.normalized(rgb), more=False), theme.BODY + 4, bold=True).move_to([xs[2], y, 0], aligned_edge=LEFT)
            number = words(str(i + 1)).next_to(swatch, RIGHT, buff=0.18)
            lines.add(Group(Group(swatch, number), before, arrow([xs[2] - 1.15, y, 0], [xs[2] - 0.05, y, 0], gap=0.1), after))

        red = pixels[0][0]
        low, high, here = (self.normalized((v, 0, 0))[0] for v in (0, 255, red))
        up = self.scale(right, right.bottom + 1.35, "0", "255")
        down = self.scale(right, right.bottom + 0.3, num(low), num(high))
        x = up[0].get_left()[0] + up[0].width * red / 255
        dots = []
        for bar in (up, down):
            spot = Rectangle(width=0.1, height=bar[0].height).move_to([x, bar[0].get_y(), 0])
            dots.append(VGroup(outline(spot, "#FFFFFF", 6), outline(spot, theme.INK, 3)))
        top = words(f"red {red}", theme.LABEL, bold=True).next_to(dots[0], UP, buff=0.08)
        drop = arrow(dots[0].get_bottom(), dots[1].get_top(), gap=0.05)
        side = RIGHT if red < 128 else LEFT
        sum_ = words(self.worked(), theme.LABEL, bold=True).next_to(drop, side, buff=0.2)

        self.step(crop, name, marks, say, FadeIn(head[:2]), *(FadeIn(line[:2]) for line in lines))
        self.step(*write(card))
        self.step(FadeIn(up), FadeIn(down), FadeIn(dots[0]), FadeIn(top))
        self.go(*draw(drop), FadeIn(dots[1]), *write(sum_))
        for i, line in enumerate(lines):
            self.step(*draw(line[2]), *([FadeIn(head[2])] if i == 0 else []), *write(line[3]))

    def scale(self, right, y, low, high):
        """A red ramp with its end values at both sides."""
        ramp = np.linspace(0, 1, 128)[None, :, None] * theme.rgb(theme.RGB["R"])
        bar = picture(ramp.astype(np.uint8), right.width - 2.1, 0.28, smooth=True).move_to([right.center[0], y, 0])
        return Group(
            bar, words(low, theme.LABEL, theme.GREY).next_to(bar, LEFT, buff=0.15), words(high, theme.LABEL, theme.GREY).next_to(bar, RIGHT, buff=0.15)
        )


class FlattenPatch(PatchPage):
    route = "reference/s02/18"

    def title(self):
        return f"Flatten patch {self.number} in the same order as the code"

    def caption(self):
        return (f"Red first, then green, then blue, {self.pixels} values each, make one row of {self.model.patch_values}. "
                "The order matters: `F.unfold` writes rows this way, and the reshaped `Conv2d` weights expect it.")

    def notes(self):
        n = self.pixels
        return (f"Ask at which entry the first green value stands, before the strips join: {n + 1}, because all {n} red ones come first. "
                f"So the three values of one pixel lie far apart in the row: the first pixel owns entries 1, {n + 1} and {2 * n + 1}. "
                "Charcoal marks values below zero.")

    def build(self):
        m, x = self.model, self.dog.patches[self.nose].x
        crop = Photograph(self.run).crop(self.nose, 2.1).move_to([STAGE.left + 1.05, STAGE.top - 0.5 - 1.05, 0])
        name = words(self.nose, theme.BODY, bold=True).next_to(crop, UP, buff=0.1)
        order = (
            words("Within each channel: left to right, top to bottom.", theme.SMALL, theme.GREY, width=2.5).next_to(crop, DOWN, buff=0.15).align_to(crop, LEFT)
        )
        signs = words("Charcoal: below zero.", theme.SMALL, theme.GREY).next_to(order, DOWN, buff=0.1).align_to(crop, LEFT)
        left, side, pitch = STAGE.left + 3.0, 0.94, 1.12
        start = left + side + 0.45
        width = STAGE.right - start
        limit = max(abs(figures.normalize(v, a, s)) for v in (0, 255) for a, s in zip(m.transform.mean, m.transform.std))
        lanes = []
        for i, (letter, part) in enumerate(zip("RGB", (x.red, x.green, x.blue))):
            color, y = theme.RGB[letter], STAGE.top - side / 2 - i * pitch
            plane = crop.channel(i).scale(side / crop.width).move_to([left + side / 2, y, 0])
            printed = vec(part) if part else "[…]"
            part = part or Vector.unknown(self.pixels)
            strip = Strip(part, color, width, 0.36, limit=limit).move_to([start + width / 2, y - side / 2 + 0.18, 0])
            head = row(words(f"{letter} ({part.length})", color=color, bold=True), words(printed), gap=0.3)
            head.next_to(strip, UP, buff=0.07).align_to(strip, LEFT)
            lanes.append((plane, strip, head, part, color))
        third = STAGE.width / 3
        joined, heads = Group(), Group()
        for i, (_, _, _, part, color) in enumerate(lanes):
            cx = STAGE.left + third * (i + 0.5)
            joined.add(Strip(part, color, third, 0.44, limit=limit).move_to([cx, STAGE.bottom + 0.73, 0]))
            joined[i].border.set_stroke(color, 3)
            letter = "RGB"[i]
            heads.add(words(f"{'All' if i == 0 else 'all'} {letter} values", theme.LABEL, color, bold=True).move_to([cx, STAGE.bottom + 1.2, 0]))
        arrows = Group(*(arrow(a, b, gap=0.25) for a, b in zip(heads, heads[1:])))
        n, y = self.pixels, STAGE.bottom + 0.28
        ticks = Group(*(words(count(i * n + 1), theme.SMALL, theme.GREY).move_to([STAGE.left + third * i, y, 0], aligned_edge=LEFT) for i in range(m.channels)),
                      words(count(m.patch_values), theme.SMALL, theme.GREY).move_to([STAGE.right, y, 0], aligned_edge=RIGHT))
        shape = words(f"$x_{self.number}$: {times(1, m.patch_values)}", theme.BODY, theme.BLUE, bold=True).move_to([STAGE.center[0], y - 0.06, 0])

        self.step(crop, name)
        self.step(*(Emerge(lane[0], crop) for lane in lanes), lag_ratio=0.15)
        self.step(FadeIn(order), run_time=0.4)
        self.lay(*lanes[0][:3])
        self.step(FadeIn(signs), run_time=0.3)
        self.lay(*lanes[1][:3])
        self.lay(*lanes[2][:3])
        self.step(*(TransformFromCopy(lane[1], strip) for lane, strip in zip(lanes, joined)), FadeIn(heads), lag_ratio=0.2)
        self.go(*draw(*arrows))
        self.step(*write(ticks, shape))

    def lay(self, plane, strip, head):
        """The rows of pixels leave the channel one after the other and line up as one strip."""
        tiles, way = self.unroll(plane, strip)
        self.add(tiles)
        self.go(way, FadeIn(head))
        self.go(FadeIn(strip), run_time=0.5)
        self.remove(tiles)


class ThroughLayer(PatchPage):
    route = "reference/s02/19"

    def title(self):
        return "Pass that row through the shared linear layer"

    def caption(self):
        m = self.model
        return (f"{count(m.patch_values)} values go in, {m.width} learned features come out, one row each time. "
                f"Every patch of every picture meets these same weights and biases.")

    def notes(self):
        m = self.model
        return (f"Carry x{self.number} over from the page before. Keep two questions apart: how many rows pass (one), and how wide each is "
                f"({m.patch_values}, then {m.width}). Light up one output: it listens to all {m.patch_values} inputs. There are {m.width} such sums, "
                f"so the weights form a {times(m.patch_values, m.width)} table.")

    def build(self):
        m, patch = self.model, self.dog.patches[self.nose]
        crop = Photograph(self.run).crop(self.nose, 1.2)
        x, c = Strip(pixel_row(patch.x), width=4.5, height=0.5), Strip(patch.c, width=4.5 * m.width / m.patch_values, height=0.5)
        layer = self.layer(words("same for every patch", theme.SMALL, theme.GREY))
        path = row(crop, x, layer, c, gap=0.72).move_to([STAGE.center[0], STAGE.top - 0.72 - 0.45, 0])
        path.shift((STAGE.left - path.get_left()[0]) * RIGHT)
        c.align_to([STAGE.right - 0.5, 0, 0], RIGHT)
        layer.set_x((x.get_right()[0] + c.get_left()[0]) / 2)
        name = words(self.nose, theme.BODY, bold=True).next_to(crop, UP, buff=0.08)
        say = words(f"{self.nose} is now a row of {m.patch_values} normalized pixel values.", theme.LABEL, theme.GREY).next_to(name, RIGHT, buff=0.5)
        say.align_to(x, LEFT)
        heads = [words(f"${symbol}_{self.number}$ · {times(1, n)}", color=theme.BLUE, bold=True).next_to(strip, DOWN, buff=0.1)
                 for symbol, n, strip in (("x", m.patch_values, x), ("c", m.width, c))]
        arrows = [arrow(a, b) for a, b in zip((crop, x, layer), (x, layer, c))]

        inputs, outputs = Layer(["", "", "", None, "", ""], radius=0.16, gap=0.1), Layer(["", "", None, ""], radius=0.16, gap=0.14)
        network = row(inputs, outputs, gap=3.3)
        base = Area(STAGE.left, STAGE.bottom, STAGE.right, path.get_bottom()[1] - 0.35)
        network.move_to([layer.get_x() - 0.2, base.center[1] - 0.1, 0])
        tags = [words(f"{m.patch_values}\ninputs", theme.LABEL, bold=True).next_to(inputs, LEFT, buff=0.25),
                words(f"{m.width}\noutputs", theme.LABEL, bold=True).next_to(outputs, RIGHT, buff=0.25)]
        wires = connections(inputs, outputs)
        first = wires[0].copy().set_stroke(theme.BLUE, 3)
        lens = Connector(
            *(link(layer.get_corner(DOWN + d), network.get_corner(UP + d) + 0.12 * UP + 0.2 * d, theme.tint(theme.BLUE, 0.5))[0] for d in (LEFT, RIGHT))
        )
        facts = grid([[math(f'W_"patch"', theme.BODY + 4, theme.BLUE), words(f"{times(m.patch_values, m.width)} weights")],
                      [words("bias", theme.BODY, theme.BLUE, bold=True), words(f"{m.width} values")]], gap=(0.4, 0.16))
        sense = words(f"*Each output* = a weighted sum of all {m.patch_values} inputs + its own bias.\n*No activation.*", theme.BODY, width=5.2)
        text = column(facts, sense, gap=0.4, align=LEFT)
        Area(STAGE.left, base.bottom, STAGE.left + 5.3, base.top).place(text, LEFT)

        self.step(crop, name)
        self.go(*draw(arrows[0]), Emerge(x, crop), *write(say, heads[0]))
        self.step(*draw(arrows[1]), FadeIn(layer), run_time=0.6)
        self.go(*draw(arrows[2]), Emerge(c, layer), *write(heads[1]))
        self.step(*draw(lens), FadeIn(wires), FadeIn(inputs), FadeIn(outputs), *write(*tags))
        self.step(*(Create(w) for w in first), outputs.units[0][0].animate.set_fill(theme.BLUE, 1), FadeIn(sense), lag_ratio=0.05)
        self.step(*write(*facts))


class ReadFeatures(PatchPage):
    route = "reference/s02/20"

    def title(self):
        return f"Read the {self.model.width} output features for patch {self.number}"

    def caption(self):
        c = self.dog.patches[self.nose].c
        return (f"One patch in, one row of {c.length} numbers out: its content embedding. The weights computed these values, "
                f"from {num(c[1])} to {num(c.last)}; here they are rounded.")

    def notes(self):
        return (f"All {self.model.width} numbers describe {self.nose} and no other patch. Follow the crop into the layer, read the first coordinates "
                "and the last one on the strip, then gather them in the bracket. Blue cells are positive, charcoal ones negative. "
                "No single feature has a name such as fur or nose; the model learned them as a set.")

    def build(self):
        c = self.dog.patches[self.nose].c
        left, right = STAGE.columns(1, 1.85, gap=0.6)
        photo = left.place(Photograph(self.run, side=4.6), LEFT)
        crop = photo.crop(self.nose, 1.4).move_to([right.left + 0.72, photo.get_top()[1] - 0.7, 0])
        layer = self.layer(words("same weights for every patch", theme.LABEL, theme.GREY)).move_to([right.right, crop.get_center()[1], 0], aligned_edge=RIGHT)
        into = arrow(crop, layer)
        name = words(f"{self.nose} · {times(self.model.patch, self.model.patch, self.model.channels)}", theme.LABEL, theme.GREY).next_to(into, UP, buff=0.08)
        strip = Strip(c, width=right.width, height=0.6).move_to([right.center[0], photo.get_bottom()[1] + 1.76, 0])
        head = words(f"$c_{self.number}$ · {c.length} output features", theme.BODY, theme.BLUE, bold=True).next_to(strip, UP, buff=0.1).align_to(strip, LEFT)
        values = features(c, (1, 2, 3, c.length))
        values.move_to([right.center[0], photo.get_bottom()[1] + 0.86, 0])
        values[-1].align_to(strip, RIGHT)
        values[:3].align_to(strip, LEFT).shift(0.05 * RIGHT)
        values[3].set_x((values[2].get_right()[0] + values[4].get_left()[0]) / 2)
        leads = [link(strip.cell(i).get_bottom(), v.get_top() + 0.02 * DOWN, theme.BLUE) for i, v in zip((1, 2, 3, -1), (*values[:3], values[4]))]
        line = row(words(f"$c_{self.number}$ = {vec(c, last=True)}", bold=True), words(f"shape: {times(1, c.length)}", theme.BODY, theme.GREY), gap=0.6)
        line.move_to([right.left, photo.get_bottom()[1] + 0.16, 0], aligned_edge=LEFT)
        key = sign_key().next_to(layer, DOWN, buff=0).match_y(head).set_x(layer.get_x() - 0.4, RIGHT)

        self.step(photo, photo.patch(self.nose, theme.AMBER))
        self.go(Emerge(crop, photo.cell(self.nose)), FadeIn(photo.zoom_lines(self.nose, crop)))
        self.step(*draw(into), FadeIn(name), FadeIn(layer))
        self.go(*draw(arrow(layer.get_bottom(), strip.get_top() * UP + layer.get_center() * RIGHT)), Emerge(strip, layer), FadeIn(head), FadeIn(key))
        self.step(*draw(*leads), *write(*values), lag_ratio=0.1)
        self.step(*write(line))


class SameLayerAgain(PatchPage):
    route = "reference/s02/21"

    def title(self):
        return f"Pass patch {self.number + 1} through the very same layer"

    def same(self):
        """Whether both patches happen to give the same features."""
        a, b = (self.dog.patches[n].c for n in (self.nose, self.neighbour))
        return (a.values or a.first) == (b.values or b.first)

    def caption(self):
        other = "the same features, because its pixels are the same" if self.same() else "other features"
        return (
            f"{self.neighbour} lies just right of {self.nose}. The one set of weights and biases turns its {self.model.patch_values} pixel values into {other}: "
            f"{self.model.width} of them again."
        )

    def notes(self):
        found = "Here the two rows agree, since the pixels do." if self.same() else "The values differ only because the pixels do."
        return (f"Ask whether {self.neighbour} needs a layer of its own. Leave {self.nose}’s path on the page, send {self.neighbour} the same way, "
                f"and point at the single box in the middle. Compare the two input rows and the two output rows value by value. {found}")

    def build(self):
        m, names = self.model, (self.nose, self.neighbour)
        photo = STAGE.place(Photograph(self.run, side=2.5), LEFT)
        ys = [STAGE.top - 1.4, STAGE.top - 3.35]
        photo.set_y(sum(ys) / 2)
        xs = {"crop": photo.get_right()[0] + 1.3, "in": photo.get_right()[0] + 3.7, "layer": STAGE.right - 4.0, "out": STAGE.right - 1.3}
        layer = Box(
            "same layer",
            words(f"{count(m.patch_values)} → {m.width}", color=theme.BLUE),
            words("same W and b", theme.LABEL, theme.GREY),
            width=1.95,
            height=3.5,
        )
        layer.move_to([xs["layer"], sum(ys) / 2, 0])
        tops = [words(t, theme.LABEL, theme.GREY, bold=True).move_to([xs[key], STAGE.top - 0.2, 0])
                for key, t in (("crop", "patch"), ("in", f"input row · {times(1, m.patch_values)}"), ("out", f"output row · {times(1, m.width)}"))]
        inputs = [pixel_row(self.dog.patches[n].x) for n in names]
        outputs = [self.dog.patches[n].c for n in names]
        limits = [max(float(np.nanquantile(np.abs(known(v)), 0.98)) for v in vectors) for vectors in (inputs, outputs)]
        lanes = []
        for name, y, x, c in zip(names, ys, inputs, outputs):
            crop = photo.crop(name, 1.25).move_to([xs["crop"], y, 0])
            label = words(name, theme.BODY, bold=True).next_to(crop, DOWN, buff=0.06)
            ends = []
            for vector, at_, limit in ((x, xs["in"], limits[0]), (c, xs["out"], limits[1])):
                strip = Strip(vector, width=2.6, height=0.5, limit=limit).move_to([at_, y + 0.12, 0])
                ends.append(Group(strip, words(vec(vector, 2), theme.BODY).next_to(strip, DOWN, buff=0.12)))
            stops = ((crop, ends[0][0]), (ends[0][0], layer), (layer, ends[1][0]))
            hops = [arrow([a.get_right()[0], y + 0.12, 0], [b.get_left()[0], y + 0.12, 0], gap=0.1) for a, b in stops]
            lanes.append((crop, label, ends, hops))
        verdict = "agree here: their pixels are the same" if self.same() else "produce different features"
        say = words(f"*{names[0]} and {names[1]}* {verdict}, using the same learned parameters.", theme.BODY).move_to([STAGE.center[0], STAGE.bottom + 0.22, 0])

        self.step(photo, *(FadeIn(t) for t in tops))
        for name, (crop, label, ends, hops) in zip(names, lanes):
            self.step(FadeIn(photo.patch(name, theme.AMBER)), Emerge(crop, photo.cell(name)), FadeIn(label))
            self.go(*draw(hops[0]), Emerge(ends[0][0], crop), FadeIn(ends[0][1]))
            self.go(*draw(hops[1]), *([FadeIn(layer)] if name == names[0] else []), run_time=0.6)
            self.go(*draw(hops[2]), Emerge(ends[1][0], layer), FadeIn(ends[1][1]))
        self.step(*write(say))


class StackRows(PatchPage):
    route = "reference/s02/22"

    def title(self):
        return f"Stack the {self.model.patches} output rows into C"

    def caption(self):
        m = self.model
        return (f"One projection for all {m.patches} patches, order kept: X with {m.patch_values} columns becomes C with {m.width}. "
                "Only the width changes; row n still belongs to patch n.")

    def notes(self):
        m = self.model
        return (f"Let one crop after another pass the layer and settle in its place in C. Ask which axis changes between X and C: "
                f"the width, from {m.patch_values} to {m.width}; the {m.patches} rows stay. C knows what each patch shows, but nothing yet about where it was.")

    def build(self):
        m = self.model
        shown = [n for n in sorted({1, self.number, self.number + 1, m.patches}) if rows.name(n) in self.dog.patches]
        entries = [n for before, n in zip((0, *shown), shown) for n in ([None, n] if n > before + 1 else [n])]
        photo = Photograph(self.run)
        names = [rows.name(n) for n in shown]
        contents = [self.dog.patches[n].c for n in names]
        limit = max(float(np.nanquantile(np.abs(known(c)), 0.98)) for c in contents)
        top, bottom = STAGE.top - 0.98, STAGE.bottom + 0.62
        heights = [0.4 if n is None else 1.0 for n in entries]
        scale = (top - bottom) / sum(heights)
        side = min(0.74, 0.86 * scale)
        xs = {"crop": STAGE.left + 1.35, "layer": STAGE.left + 4.05, "frame": STAGE.left + 6.2, "strip": STAGE.left + 8.45}
        layer = Box("same", words(f"Linear({m.patch_values}, {m.width})", color=theme.BLUE, bold=True), width=2.75, height=top - bottom)
        layer.move_to([xs["layer"], (top + bottom) / 2, 0])
        y, lanes, dots = top, {}, Group()
        for n, h in zip(entries, heights):
            y -= h * scale / 2
            if n is None:
                dots.add(*(words("⋮", theme.BODY, theme.GREY, bold=True).move_to([xs[k], y, 0]) for k in ("crop", "strip")))
            else:
                lanes[n] = self.lane(photo, rows.name(n), y, xs, side, layer, limit)
            y -= h * scale / 2
        Group(*(lane["row"] for lane in lanes.values()))
        frame = Area(xs["frame"], bottom, STAGE.right, top)
        border = Frame(corner_radius=0.1, width=frame.width, height=frame.height, stroke_color=theme.BLUE, stroke_width=3).move_to(frame.center)
        head = words("One content embedding for every image patch", theme.LABEL, theme.GREY)
        heads = [words(f"{symbol}: {times(m.patches, width)}", theme.BODY + 4, theme.BLUE, bold=True).move_to([x, STAGE.top - 0.62, 0])
                 for symbol, width, x in (("X", m.patch_values, xs["crop"] - 0.2), ("C", m.width, frame.center[0]))]
        head.move_to([STAGE.left, STAGE.top - 0.14, 0], aligned_edge=LEFT)
        foot = words(f"*{m.patches}* patch rows in, *{m.patches}* rows out, *{m.width}* features each", theme.BODY).move_to(
            [frame.center[0], STAGE.bottom + 0.2, 0]
        )

        self.step(head, heads[0], *(FadeIn(lane["patch"]) for lane in lanes.values()), FadeIn(dots[::2]))
        self.step(FadeIn(layer), *(Create(lane["in"]) for lane in lanes.values()))
        self.step(FadeIn(border), FadeIn(heads[1]))
        for lane in lanes.values():
            self.go(Emerge(lane["row"][1], lane["patch"][1]), FadeIn(lane["row"][0]), FadeIn(lane["row"][2]), *draw(lane["out"]), run_time=0.7)
        self.go(FadeIn(dots[1::2]))
        self.step(*write(foot))

    def lane(self, photo, name, y, xs, side, layer, limit):
        """What one patch needs: its crop and name, the arrows, and its row of C with name, strip and values."""
        crop = photo.crop(name, side).move_to([xs["crop"], y, 0])
        crop.border.set_stroke(width=2.5)
        c = self.dog.patches[name].c
        strip = Strip(c, width=2.3, height=0.4, limit=limit).move_to([xs["strip"], y, 0])
        label = words(name, theme.BODY, bold=True).next_to(strip, LEFT, buff=0.2)
        patch = Group(words(name, theme.BODY, bold=True).next_to(crop, LEFT, buff=0.2), crop)
        return {"patch": patch, "row": Group(label, strip, words(vec(c), theme.BODY).next_to(strip, RIGHT, buff=0.25)),
                "in": arrow(crop.get_right(), [layer.get_left()[0], y, 0]), "out": arrow([layer.get_right()[0], y, 0], [xs["frame"], y, 0])}
