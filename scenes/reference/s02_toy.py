"""Section 2 of the reference deck, from pixels to patch embeddings (pages 1 to 12: the route, and a patch of four pixels)."""

import math as maths

import numpy as np
from manim import Circle, Dot, FunctionGraph, GrowFromEdge, Line, Rectangle, RoundedRectangle, Square, TransformFromCopy

from scenes.kit import *  # noqa: F403 - the kit is the vocabulary of a storyboard
from scenes.kit.vectors import NEGATIVE
from vit_data import figures, rows
from vit_data.toy import walk


class PixelsToEmbeddings(SectionCard):
    route = "reference/s02/1"

    def name(self):
        return "From pixels to patch embeddings"

    def before(self):
        return "For each token, attention updates one row of numbers."

    def question(self):
        return "How do we make rows like\nthose from an image?"

    def topics(self):
        return ("RGB pixels", "Shared linear layer", "Patch embeddings")

    def caption(self):
        return f"A patch of {figures.number_word(len(self.run.toy.patches['P1'].pixels))} pixels comes first, small enough for work by hand; then a patch of the dog."

    def notes(self):
        return (
            "The last section treated every token as a row of numbers and never said where such rows come from. Let the room guess how a piece of an image could become one. "
            "We start with a patch so small that every product fits on the board, and only then open a patch of the real picture."
        )

    def art(self):
        nose = self.dog.place("nose")
        crop = Photograph(self.run).crop(nose, 3.0, theme.BLUE)
        strip = Strip(self.dog.patches[nose].c, width=4.1, height=0.5).next_to(crop, DOWN, buff=0.95)
        return Group(crop, arrow(crop.get_bottom(), strip.get_top(), theme.BLUE, gap=0.15, width=4), strip)


class WholeRoute(Slide):
    route = "reference/s02/2"

    def title(self):
        return f"The whole route: {figures.picture_word(self.run, 'dog')} to prediction"

    def caption(self):
        return ("Every later page opens one of these boxes. HERE shows which: this section cuts the image into patches and turns the pixels of each "
                "patch into features.")

    def notes(self):
        return (
            f"Ask where pixels stop and features begin, and where features turn into scores. Follow the arrows from left to right. The {figures.picture_word(self.run, 'dog')} itself never changes; "
            "what changes is the table of rows drawn in each box. The amber row is an image summary for now: its name and its job come just before attention."
        )

    def build(self):
        path = Route.standard(self.run, large=True)
        path.align_to(STAGE.top * UP, UP).shift(0.5 * DOWN)
        cards, arrows = path.stages, path.arrows
        block = path.over(Route.ATTENTION, Route.MLP)
        answer = words("softmax → label", theme.SMALL, theme.GREY, bold=True).next_to(cards[-1], UP, buff=0.16).align_to(cards[-1], RIGHT)
        phases = (path.phase(Route.IMAGE, Route.PREPARE, "First: make the input rows", "pixels → patch features"),
                  path.phase(Route.ATTENTION, Route.MLP, "Then: build context", "patches share information"),
                  path.phase(Route.SUMMARY, Route.SCORES, "Finally: make a prediction", "image summary → label"))
        say = words(f"Along the arrows the rows of features change; the {figures.picture_word(self.run, 'dog')} stays fixed.", theme.BODY)
        say.move_to([STAGE.center[0], STAGE.bottom + 0.24, 0])

        self.step(cards[Route.IMAGE])
        for i in range(Route.PATCHES, Route.PREPARE + 1):
            self.enter(path, i)
        self.go(FadeIn(phases[0], shift=0.1 * UP))
        self.step(FadeIn(block), run_time=0.3)
        self.enter(path, Route.ATTENTION)
        self.enter(path, Route.MLP)
        self.go(FadeIn(phases[1], shift=0.1 * UP))
        self.step(FadeIn(answer), run_time=0.3)
        self.enter(path, Route.SUMMARY)
        self.enter(path, Route.SCORES)
        self.go(FadeIn(phases[2], shift=0.1 * UP))
        self.step(*write(say), LaggedStart(*(pulse(a[0], theme.AMBER, run_time=0.5) for a in arrows), lag_ratio=0.5))
        self.step(FadeIn(path.here(Route.PATCHES, Route.PROJECTION), shift=0.15 * UP))

    def enter(self, path, i):
        """A stage appears, then its icon comes out of the one before."""
        border, text, icon = path.stages[i]
        self.go(*draw(path.arrows[i - 1]), FadeIn(border), FadeIn(text), run_time=0.4)
        self.go(Emerge(icon, path.stages[i - 1][2], run_time=0.6))


class PatchBoundaries(Slide):
    route = "reference/s02/3"
    columns = 4  # coarser than the model's grid, so that each piece can be seen whole

    def title(self):
        return "Where do the patch boundaries go?"

    def caption(self):
        return (
            f"The cuts follow a ruler, not the dog: they fall before the model has seen anything. This grid is coarse, {times(self.columns, self.columns)}; "
            f"the model’s has {self.model.grid} patches a side."
        )

    def notes(self):
        return (
            "Ask whether every patch will hold one whole object. Let the grid come down, then match each enlarged piece with its place in the picture. Follow one outline of the animal "
            "until a cut crosses it: nobody told the grid what is where. "
            f"We draw {self.columns} pieces a side to see them well; the model cuts {self.model.grid}."
        )

    def build(self):
        photo = Photograph(self.run, side=4.75, columns=self.columns).move_to(STAGE.center)
        photo.lines.move_to(photo).set_stroke(width=3.2, opacity=0.95)
        n, middle = self.columns, self.columns // 2
        places = [((middle - 1 + r) * n + middle + c, r, c) for r in (0, 1) for c in (0, 1)]
        side, gap = 2.0, 4.75 - 2 * 2.375
        parts = []
        for number, r, c in places:
            x = photo.get_left()[0] - 1.1 - side / 2 if c == 0 else photo.get_right()[0] + 1.1 + side / 2
            crop = photo.crop(number, side).move_to([x, photo.get_top()[1] - side / 2 - r * (4.75 - side) - gap, 0])
            name = words(rows.name(number), theme.CAPTION, bold=True).next_to(crop, LEFT if c == 0 else RIGHT, buff=0.25)
            parts.append((photo.patch(number, theme.AMBER), photo.cell(number), crop, self.lines(photo.cell(number), crop, c), name))
        self.step(photo)
        self.step(*draw(*photo.lines), lag_ratio=0.15, run_time=1.0)
        for mark, cell, crop, lines, name in parts:
            self.step(FadeIn(mark), run_time=0.3)
            self.go(Emerge(crop, cell), FadeIn(lines), FadeIn(name))

    def lines(self, cell, crop, column_):
        out = LEFT if column_ == 0 else RIGHT
        return Connector(*(link(cell.get_corner(v + out), crop.get_corner(v - out), theme.AMBER, 2.2)[0] for v in (UP, DOWN)))


class ToyPage(Slide):
    """The four-pixel example: its pixels, its twelve values and its layer, as the run holds them."""

    patch = "P1"

    @property
    def toy(self):
        return self.run.toy

    @property
    def letters(self):
        return [e.split(".")[0] for e in self.toy.entries[: len(self.toy.patches[self.patch].pixels)]]

    @property
    def inputs(self):
        return len(self.toy.entries)

    @property
    def outputs(self):
        return len(self.toy.bias)

    @property
    def layer(self):
        return f"nn.Linear({self.inputs}, {self.outputs})"

    def total(self):
        return f"{len(self.letters)} pixels × {len(Pixels.CHANNELS)} channels = {self.inputs} values"

    def pixels(self, side=2.0, patch=None):
        return Pixels(self.toy.patches[patch or self.patch].pixels, self.letters, side)

    def row(self, side=0.36, gap=0.0, patch=None, size=None):
        """The twelve values of a patch as one row of cells in the flattened order."""
        values = self.toy.patches[patch or self.patch].x
        return Group(*(value_cell(v, e[-1], side, size) for v, e in zip(values, self.toy.entries))).arrange(RIGHT, buff=gap)

    def embedding(self, patch=None):
        return "[" + ", ".join(short(v) for v in self.toy.patches[patch or self.patch].c) + "]"


class Pixels(Group):
    """A toy patch: pixels in their own colours with their letters; ``cells[i]`` is square and letter."""

    CHANNELS = "RGB"

    def __init__(self, pixels, letters, side=2.0):
        n = maths.isqrt(len(pixels))
        step = side / n
        self.cells = Group()
        for i, (rgb, letter) in enumerate(zip(pixels, letters)):
            color = np.clip(np.array(rgb, dtype=float), 0, 1)
            square = Square(step, stroke_color=theme.INK, stroke_width=2, fill_color="#" + "".join(f"{round(255 * v):02X}" for v in color), fill_opacity=1)
            light = color @ (0.299, 0.587, 0.114) > 0.5
            name = words(letter, min(64, 0.42 * step / theme.PX), theme.INK if light else "#FFFFFF", bold=True)
            self.cells.add(Group(square, name.move_to(square)).move_to([(i % n) * step, -(i // n) * step, 0]))
        super().__init__(self.cells)
        self.center()


def value_cell(value, channel, side=0.62, size=None):
    """One colour value in a square: full in its channel's colour at 1, pale at 0. ``size`` prints the value."""
    color = theme.RGB[channel]
    share = min(max(float(value), 0.0), 1.0)
    square = RoundedRectangle(
        corner_radius=0.12 * side,
        width=side,
        height=side,
        stroke_color=color,
        stroke_width=1.8,
        fill_color=theme.tint(color, 0.08 + 0.84 * share),
        fill_opacity=1,
    )
    return VGroup(square, *([words(short(value), size, "#FFFFFF" if share > 0.5 else theme.INK, bold=True).move_to(square)] if size else []))


def blank_cells(n, side=0.36, color=theme.BLUE):
    """Places for numbers that are still to be computed."""
    return Group(*(Square(side, stroke_color=color, stroke_width=2.2, fill_color=theme.tint(color, 0.06), fill_opacity=1) for _ in range(n))).arrange(
        RIGHT, buff=0
    )


class ReadPixels(ToyPage):
    route = "reference/s02/4"

    def title(self):
        return "Read the RGB values of each pixel"

    def caption(self):
        return (f"Colour values are divided by 255 here, so they run from 0 to 1. Letters follow the reading order: "
                f"{' and '.join(self.letters[:2])} above, {' and '.join(self.letters[2:])} below.")

    def notes(self):
        one = self.toy.patches[self.patch].pixels[0]
        return (
            f"Ask how many numbers pixel {self.letters[0]} brings. Point at it, read its triple, {', '.join(short(v) for v in one)}, then uncover the other pixels one by one and let the class say the "
            "triple before it appears." + self.white()
        )

    def white(self):
        """A word on the pixel with every channel at its largest value, if the patch has one."""
        full = [letter for letter, rgb in zip(self.letters, self.toy.patches[self.patch].pixels) if min(rgb) == 1]
        return f" {full[0]} is the one to wait for: it is white because every channel is at its largest value." if full else ""

    def build(self):
        pixels, letters = self.toy.patches[self.patch].pixels, self.letters
        n, channels = maths.isqrt(len(pixels)), len(Pixels.CHANNELS)
        image = self.pixels(4.25)
        STAGE.place(image, LEFT + UP).shift(0.35 * RIGHT)
        size = words(times(n, n, channels), theme.CAPTION, theme.GREY, bold=True).next_to(image, DOWN, buff=0.2)
        x0, pitch, top = 0.15, 1.35, image.get_top()[1]
        lines, high = Group(), 0.89
        heads = Group(
            words("pixel", theme.BODY, theme.GREY).move_to([x0, top - 0.22, 0]),
            *(words(c, theme.CAPTION, theme.RGB[c], bold=True).move_to([x0 + pitch * (i + 1) + 0.2, top - 0.22, 0]) for i, c in enumerate(Pixels.CHANNELS)),
        )
        for r, (rgb, letter) in enumerate(zip(pixels, letters)):
            y = top - 0.9 - r * high
            swatch = Pixels([rgb], [letter], 0.74).move_to([x0, y, 0])
            cells = Group(
                *(value_cell(v, c, 0.74, theme.CAPTION).move_to([x0 + pitch * (i + 1) + 0.2, y, 0]) for i, (v, c) in enumerate(zip(rgb, Pixels.CHANNELS)))
            )
            lines.add(Group(swatch, cells))
        sum_ = words(self.total(), theme.CAPTION, theme.BLUE, bold=True).move_to([Group(heads, lines).get_center()[0], size.get_y(), 0])
        table = Group(heads, lines, sum_)
        table.shift((Area(image.get_right()[0], 0, STAGE.right, 1).center[0] - table.get_center()[0]) * RIGHT)

        self.step(image, FadeIn(size))
        for i, (swatch, cells) in enumerate(lines):
            self.step(*([FadeIn(heads)] if i == 0 else []), Emerge(swatch, image.cells[i], run_time=0.7))
            self.go(*(Emerge(c, swatch, run_time=0.6) for c in cells), lag_ratio=0.25)
        self.step(*write(sum_))


class SortChannels(ToyPage):
    route = "reference/s02/5"
    asked = "B.G"

    def title(self):
        return "Flatten one channel at a time: R, then G, then B"

    def caption(self):
        return (
            f"All {len(self.letters)} red values come first, then green, then blue. Pixel by pixel would do as well, if the weight columns kept that order; "
            "PyTorch’s `unfold` goes channel by channel."
        )

    def notes(self):
        pixel = self.asked.split(".")[0]
        return (
            f"Before the last movement, ask at which entry the green value of pixel {pixel} ends up. It is entry {self.entry()}, counted from one: all the reds stand before it, and green {self.letters[0]}. "
            f"Inside each channel the pixels keep their reading order. Say that the order is a convention, and that weights are useless under another one. The amber outline marks the answer."
        )

    def entry(self):
        return self.toy.entries.index(self.asked) + 1

    def build(self):
        pixels, letters = self.toy.patches[self.patch].pixels, self.letters
        image = self.pixels(1.75)
        STAGE.place(image, LEFT + UP).shift(0.1 * RIGHT + 0.02 * DOWN)
        name = words("one RGB patch", theme.LABEL, theme.GREY).next_to(image, DOWN, buff=0.1)
        left = image.get_right()[0] + 0.75
        width = STAGE.right - left
        side = 0.66
        groups = []
        for i, (rgb, letter) in enumerate(zip(pixels, letters)):
            x = left + width * (i + 0.5) / len(pixels)
            swatch = Pixels([rgb], [letter], 0.7).move_to([x, image.get_top()[1] - 0.35, 0])
            cells = Group(*(value_cell(v, c, side, theme.BODY) for v, c in zip(rgb, Pixels.CHANNELS))).arrange(RIGHT, buff=0.08)
            groups.append((swatch, cells.next_to(swatch, DOWN, buff=0.3)))
        sum_ = words(self.total(), theme.BODY, bold=True).move_to([left + width / 2, name.get_y(), 0])

        third = (STAGE.width - 0.4) / len(Pixels.CHANNELS)
        top, low = STAGE.bottom + 2.5, STAGE.bottom + 0.6
        slots, heads, tags, numbers = Group(), Group(), Group(), Group()
        for c, channel in enumerate(Pixels.CHANNELS):
            x = STAGE.left + third / 2 + c * (third + 0.2)
            card = panel(third, top - low, theme.tint(theme.RGB[channel], 0.55), theme.tint(theme.RGB[channel], 0.05)).move_to([x, (top + low) / 2, 0])
            head = words(f"{channel} values", theme.LABEL, theme.RGB[channel], bold=True).move_to([x, top - 0.24, 0])
            heads.add(Group(card, head))
            for p in range(len(letters)):
                k = c * len(letters) + p
                cell = value_cell(pixels[p][c], channel, side, theme.BODY).move_to([x + (p - (len(letters) - 1) / 2) * 0.98, low + 0.74, 0])
                slots.add(cell)
                tags.add(words(self.toy.entries[k], theme.SMALL, theme.GREY).next_to(cell, UP, buff=0.08))
                numbers.add(words(str(k + 1), theme.SMALL, bold=True).next_to(cell, DOWN, buff=0.08))
        order = words(" → ".join(letters) + " inside each channel", theme.LABEL, theme.GREY).move_to([STAGE.left, STAGE.bottom + 0.22, 0], aligned_edge=LEFT)
        say = words("*One row* $x_1$: the weights count its inputs in this same order.", theme.LABEL).move_to(
            [STAGE.right, STAGE.bottom + 0.22, 0], aligned_edge=RIGHT
        )
        asked = outline(slots[self.entry() - 1], theme.AMBER, 6, pad=0.04)

        self.step(image, FadeIn(name))
        self.go(LaggedStart(*(Emerge(s, image.cells[i], run_time=0.7) for i, (s, _) in enumerate(groups)), lag_ratio=0.2))
        self.go(LaggedStart(*(FadeIn(c, target_position=s, scale=0.5, run_time=0.6) for s, c in groups), lag_ratio=0.3), FadeIn(sum_))
        m = len(letters)
        for c in range(len(Pixels.CHANNELS)):
            own = slice(c * m, (c + 1) * m)
            self.step(FadeIn(heads[c]), *([FadeIn(order)] if c == 0 else []), run_time=0.4)
            self.go(
                LaggedStart(
                    *(AnimationGroup(TransformFromCopy(groups[p][1][c], slots[own][p]), groups[p][1][c].animate.set_opacity(0.22)) for p in range(m)),
                    lag_ratio=0.35,
                    run_time=1.6,
                ),
                LaggedStart(*(FadeIn(Group(t, k)) for t, k in zip(tags[own], numbers[own])), lag_ratio=0.5, run_time=1.6),
            )
        self.step(FadeIn(asked), *write(say))


def gelu_box(width, height, color=theme.INK):
    """GELU as a box with its curve."""
    title = words("GELU", theme.BODY, color, bold=True)
    box = Frame(corner_radius=0.14, width=width, height=height, stroke_color=color, stroke_width=2.4, fill_color=theme.PAPER, fill_opacity=1)
    axis = Line(LEFT, RIGHT, stroke_color=theme.LINE, stroke_width=2)
    curve = FunctionGraph(gelu, x_range=[-3, 1.6, 0.05], color=color, stroke_width=3.4)
    axis.scale(2.3).move_to([-0.7, 0, 0])
    plot = Group(axis, curve)
    plot.scale(min((width - 0.3) / plot.width, (height - 0.75) / plot.height))
    inside = Group(title, plot).arrange(DOWN, buff=0.06).move_to(box)
    return Group(box, inside)


def gelu(x):
    return x * (1 + maths.erf(x / maths.sqrt(2))) / 2


def signed_cells(values, side=0.3, limit=1.0):
    """Numbers of a row as a symbol: blue for positive, charcoal for negative, paler near zero."""
    return Group(*(Cells([min(abs(v) / limit, 1.0)], theme.BLUE if v >= 0 else NEGATIVE, side) for v in values)).arrange(RIGHT, buff=0.05)


class NoActivation(ToyPage):
    route = "reference/s02/6"
    HIDDEN = (0.9, -0.8, 0.4, -1.0, 0.7, -0.5)  # stands for H features of both signs, nothing measured

    def title(self):
        return "Do we apply an activation after the patch layer?"

    def caption(self):
        return ("No: the patch embedding is one affine layer and nothing else. The MLP in a block comes later and has GELU between two linear layers; "
                "D is its row’s width, H its hidden width.")

    def notes(self):
        return (
            "Ask which of the two paths applies an activation function. Walk the upper one first: values, one layer, coordinates, done. Then build the lower one and stop at the curve. "
            "Charcoal cells are negative features; watch them fade when they pass it. Students who know convolutional networks expect a ReLU after every layer, so say plainly that none is missing."
        )

    def build(self):
        upper, lower = STAGE.rows(1, 1.22, gap=0.28)
        cards = [panel(a.width, a.height).move_to(a.center) for a in (upper, lower)]
        heads = [words(t, theme.BODY, bold=True).move_to([STAGE.left + 0.3, a.top - 0.36, 0], aligned_edge=LEFT)
                 for t, a in zip(("Patch embedding · at the image input", "Later, after attention · the block MLP"), (upper, lower))]

        y = upper.bottom + 0.86
        values = self.row(0.32).move_to([STAGE.left + 0.3, y, 0], aligned_edge=LEFT)
        layer = Box(self.layer, width=2.7, height=0.95).move_to([values.get_right()[0] + 0.75, y, 0], aligned_edge=LEFT)
        out = blank_cells(self.outputs, 0.44).move_to([layer.get_right()[0] + 0.75, y, 0], aligned_edge=LEFT)
        counts = [
            words(t, theme.SMALL, theme.GREY).next_to(part, DOWN, buff=0.1)
            for t, part in ((f"{self.inputs} pixel values", values), (f"{self.outputs} coordinates", out))
        ]
        formula = math("c_1 = x_1 W + b", 44, theme.BLUE)
        rule = words("The bias makes it affine;\nno ReLU, no GELU follows.", theme.SMALL + 2)
        column(formula, rule, gap=0.2, align=LEFT).move_to([STAGE.right - 0.3, upper.center[1], 0], aligned_edge=RIGHT)

        y = lower.bottom + 0.96
        row_, back = signed_cells((0.7, -0.5, 0.9), 0.25), signed_cells((0.4, 0.8, -0.6), 0.25)
        before, after = signed_cells(self.HIDDEN, 0.25), signed_cells([gelu(2.2 * v) / 2.2 for v in self.HIDDEN], 0.25)
        first, second = (Box(f"Linear({a}, {b})", width=1.62, height=0.95, size=theme.LABEL) for a, b in ("DH", "HD"))
        curve = gelu_box(1.5, 1.68)
        line = Pipeline(row_, first, before, curve, after, second, back, gap=0.41)
        line.move_to([STAGE.center[0], y, 0])
        labels = [
            words(t, theme.SMALL, theme.GREY).next_to(part, DOWN, buff=0.12)
            for t, part in zip(("D features", "H features", "H features", "D features"), (row_, before, after, back))
        ]
        one = words("one row", theme.SMALL, theme.GREY).next_to(row_, UP, buff=0.1)

        self.step(cards[0], FadeIn(heads[0]), FadeIn(values), FadeIn(counts[0]))
        self.go(*draw(arrow(values, layer)), FadeIn(layer))
        self.go(*draw(arrow(layer, out)), Emerge(out, layer), FadeIn(counts[1]))
        self.step(*write(formula, rule))
        arrows = line.arrows
        self.step(FadeIn(cards[1]), FadeIn(heads[1]), FadeIn(row_), FadeIn(one), FadeIn(labels[0]))
        self.go(*draw(arrows[0]), FadeIn(first))
        self.go(*draw(arrows[1]), Emerge(before, first), FadeIn(labels[1]))
        self.step(*draw(arrows[2]), FadeIn(curve))
        self.go(*draw(arrows[3]), TransformFromCopy(before, after), FadeIn(labels[2]))
        self.step(*draw(arrows[4]), FadeIn(second))
        self.go(*draw(arrows[5]), Emerge(back, second), FadeIn(labels[3]))


class WhatProjectionMeans(ToyPage):
    route = "reference/s02/7"

    def title(self):
        return "What does “projection” mean here?"

    def caption(self):
        return (
            f"To project is to form weighted sums of the pixel values, each with its bias. Here one linear layer forms {figures.number_word(self.outputs)} of them "
            f"from {figures.number_word(self.inputs)} inputs."
        )

    def notes(self):
        return (
            f"Ask how many weighted sums give {figures.number_word(self.outputs)} output coordinates. Match {self.inputs} with in_features and {self.outputs} with out_features in the call, then read the shapes from right to left: "
            f"the two {self.inputs}s meet and vanish. Light up one column of W at a time; each column is the recipe of one coordinate. The geometric meaning of the word plays no part here."
        )

    def build(self):
        n, k = self.inputs, self.outputs
        y = STAGE.top - 0.95
        values = self.row(0.42, size=theme.SMALLEST_PX).move_to([STAGE.left + 0.2, y, 0], aligned_edge=LEFT)
        layer = Box(self.layer, width=3.2, height=1.0, size=theme.CAPTION).move_to([values.get_right()[0] + 2.55, y, 0])
        out = blank_cells(k, 0.62).move_to([layer.get_right()[0] + 1.15, y, 0], aligned_edge=LEFT)
        heads = [words(t, theme.BODY, theme.BLUE, bold=True).next_to(part, UP, buff=0.14) for t, part in (("Input: $x_1$", values), ("Output: $c_1$", out))]
        counts = [
            words(t, theme.LABEL, theme.GREY).next_to(part, DOWN, buff=0.14)
            for t, part in ((f"{n} values · (1, {n})", values), (f"{k} coordinates · (1, {k})", out))
        ]
        for text in (heads[1], counts[1]):
            text.align_to(out, LEFT)

        side, mid, low = 0.175, STAGE.bottom + 1.5, STAGE.bottom + 0.14
        weights = Group(*(Group(*(self.weight(self.toy.weights[j][i], side).move_to([j * side, -i * side, 0]) for i in range(n))) for j in range(k)))
        bias = Group(*(self.weight(v, 0.36) for v in self.toy.bias)).arrange(RIGHT, buff=0)
        parts = [blank_cells(k, 0.36), self.row(0.36), weights, bias]
        signs = [math(s, size) for s, size in (("=", 48), ("dot.op", 72), ("+", 48))]
        Group(parts[0], signs[0], parts[1], signs[1], parts[2], signs[2], parts[3]).arrange(RIGHT, buff=0.62).move_to([STAGE.center[0], mid, 0])
        names = [math(s, 44, theme.BLUE).next_to(part, UP, buff=0.14) for s, part in zip(("c_1", "x_1", "W", "b"), parts)]
        shapes = [words(s, theme.BODY).move_to([part.get_x(), low, 0]) for s, part in zip((f"(1, {k})", f"(1, {n})", f"({n}, {k})", f"(1, {k})"), parts)]
        between = [words(s, theme.BODY, theme.GREY).move_to([sign.get_x(), low, 0]) for s, sign in zip("=×+", signs)]

        self.step(values, FadeIn(heads[0]), FadeIn(counts[0]))
        self.go(*draw(arrow(values, layer)), FadeIn(layer))
        self.go(*draw(arrow(layer, out)), Emerge(out, layer), FadeIn(heads[1]), FadeIn(counts[1]))
        key = sign_key().move_to([weights.get_right()[0] + 0.4, mid - 0.85, 0], aligned_edge=LEFT)
        self.step(TransformFromCopy(values, parts[1]), FadeIn(names[1]))
        self.go(*write(signs[1], weights, names[2], key))
        self.go(*write(signs[2], parts[3], names[3]))
        self.go(*write(signs[0], parts[0], names[0]))
        self.step(*write(*shapes, *between))
        self.go(*(FadeIn(outline(s, theme.AMBER, 4, pad=0.06)) for s in shapes[1:3]))
        for j in range(k):
            marks = [outline(part, theme.AMBER, 4.5) for part in (weights[j], parts[0][j])]
            self.step(FadeIn(marks[0]))
            self.go(TransformFromCopy(marks[0], marks[1]))

    def weight(self, value, side):
        """A weight as a small cell: blue for positive, charcoal for negative, white at zero."""
        color = theme.BLUE if value > 0 else NEGATIVE
        return Square(side, stroke_color=theme.tint(theme.BLUE, 0.5), stroke_width=1.4, fill_color=theme.tint(color, 0.8 * min(abs(value), 1)), fill_opacity=1)


class ToyLayer(Group):
    """All connections of the toy's layer, the same on three pages: pixels, twelve inputs, two outputs.

    ``lines[j][i]`` runs from input i to output j; ``inputs`` and ``outputs`` are the circles, ``names`` stand beside
    them. An output's circle is empty until its value is known (:meth:`value`).
    """

    def __init__(self, page, area):
        toy = page.toy
        values, k = toy.patches[page.patch].x, len(toy.bias)
        self.patch = page.pixels(1.5).move_to([area.left + 0.75, area.center[1] - 0.2, 0])
        self.patch_name = words("one patch", theme.SMALL, theme.GREY).next_to(self.patch, DOWN, buff=0.1)
        top, pitch = area.top - 0.62, (area.height - 0.62) / len(values)
        x_in, x_out = area.left + 3.05, area.right - 1.05
        self.inputs, self.outputs, self.names, self.output_names = Group(), Group(), Group(), Group()
        for i, (v, entry) in enumerate(zip(values, toy.entries)):
            color = theme.RGB[entry[-1]]
            circle = Circle(0.165, stroke_color=color, stroke_width=2.2, fill_color=theme.tint(color, 0.08 + 0.84 * min(max(v, 0), 1)), fill_opacity=1)
            circle.move_to([x_in, top - pitch * (i + 0.5), 0])
            self.inputs.add(VGroup(circle, words(short(v), theme.SMALLEST_PX, "#FFFFFF" if v > 0.5 else theme.INK, bold=True).move_to(circle)))
            self.names.add(words(entry, theme.SMALL, theme.INK).next_to(circle, LEFT, buff=0.12))
        for j in range(k):
            circle = Circle(0.46, stroke_color=theme.BLUE, stroke_width=3, fill_color=theme.PAPER, fill_opacity=1)
            circle.move_to([x_out, top - pitch * len(values) * (0.25 + 0.5 * j), 0])
            self.outputs.add(circle)
            self.output_names.add(math(f"y_{j + 1}", 44, theme.BLUE).next_to(circle, RIGHT, buff=0.15))
        self.lines = VGroup(
            *(VGroup(*(Line(a[0].get_right(), b.get_left(), stroke_color=theme.SKIP, stroke_width=1.4) for a in self.inputs)) for b in self.outputs)
        )
        y = area.top - 0.2
        self.heads = Group(words(f"{len(values)} inputs", theme.LABEL, theme.GREY, bold=True).move_to([x_in - 0.3, y, 0]),
                           words(page.layer, theme.BODY, theme.BLUE, bold=True).move_to([(x_in + x_out) / 2 + 0.05, y, 0]),
                           words(f"{k} outputs", theme.LABEL, theme.GREY, bold=True).move_to([x_out, y, 0]))
        self.feed = arrow(self.patch.get_right(), [self.names.get_left()[0], self.patch.get_y(), 0], gap=0.1)
        super().__init__(self.lines, self.patch, self.patch_name, self.feed, self.inputs, self.outputs, self.names, self.output_names, self.heads)

    def value(self, j, text, color=theme.INK):
        """A number for the inside of output ``j``'s circle."""
        label = words(text, theme.CAPTION, color, bold=True)
        return fit(label, 0.78, 0.6).move_to(self.outputs[j])

    def tag(self, i, j, text, color):
        """A weight on the line from input ``i`` to output ``j``, near the input."""
        label = words(text, theme.SMALL, color, bold=True)
        body = RoundedRectangle(corner_radius=0.08, width=label.width + 0.12, height=0.26, stroke_width=0, fill_color=theme.PAPER, fill_opacity=1)
        return Group(body, label).move_to(self.lines[j][i].point_from_proportion(0.2))


class LayerPage(ToyPage):
    """A page around the drawn layer, with room at the right for ``panel``."""

    def areas(self):
        return Area(STAGE.left, STAGE.bottom, STAGE.left + 8.25, STAGE.top), Area(STAGE.left + 8.65, STAGE.bottom, STAGE.right, STAGE.top)


class TwelveIntoTwo(LayerPage):
    route = "reference/s02/8"

    def title(self):
        return f"{self.inputs} input numbers, {self.outputs} output numbers"

    def caption(self):
        return (f"Every colour value has its own input, and each output hears all {self.inputs} of them. The pair that comes out, $y_1$ and $y_2$, "
                "is this patch’s embedding.")

    def notes(self):
        n, k = self.inputs, self.outputs
        return (
            f"Let the class count the {n} values of the patch. Then draw the lines into the first output only and ask how many arrive there: {n}, so {n} weights, and one bias on top. "
            f"The second output repeats this with weights of its own. {n} times {k} weights and {k} biases make {self.toy.parameters} numbers that training may change."
        )

    def build(self):
        n, k = self.inputs, self.outputs
        area, side = self.areas()
        layer = ToyLayer(self, area)
        say = column(words(f"One patch goes in,\n{figures.number_word(k)} features come out.", 40, bold=True),
                     words("A weight on each line,\na bias at each output.", theme.BODY), gap=0.35, align=LEFT)
        per = column(*(words(f"$y_{j + 1}$:  {n} weights + 1 bias", theme.BODY, theme.GREY) for j in range(k)), gap=0.12, align=LEFT)
        total = words(f"{n * k} weights + {k} biases", theme.CAPTION, theme.BLUE, bold=True)
        result = words("$c_1 = [" + ", ".join(f"y_{j + 1}" for j in range(k)) + "]$", 48, theme.BLUE)
        block = column(say, per, total, result, gap=0.42, align=LEFT)
        side.place(block, LEFT)

        self.step(layer.patch, FadeIn(layer.patch_name))
        self.go(
            *draw(layer.feed),
            LaggedStart(
                *(FadeIn(u, target_position=layer.patch.cells[i % len(self.letters)], scale=0.5, run_time=0.6) for i, u in enumerate(layer.inputs)),
                lag_ratio=0.15,
            ),
            LaggedStart(*(FadeIn(t) for t in layer.names), lag_ratio=0.3),
            FadeIn(layer.heads[0]),
        )
        self.step(FadeIn(layer.outputs), FadeIn(layer.output_names), FadeIn(layer.heads[1:]), *write(say[0]))
        for j in range(k):
            self.step(LaggedStart(*(Create(x) for x in layer.lines[j]), lag_ratio=0.25, run_time=1.4), *([FadeIn(say[1])] if j == 0 else []))
            self.go(*write(per[j]))
        self.step(*write(total, result))


class WalkPage(LayerPage):
    """One output worked out: its nonzero weights light up one by one while the sum in its circle grows."""

    output = 1

    def caption(self):
        return ("Input times weight along each lit line; the products add up, and the bias comes last. "
                f"{self.lit().capitalize()} of the {self.inputs} weights into this output are not zero.")

    def result(self):
        return self.toy.patches[self.patch].c[self.output - 1]

    def lit(self):
        return figures.number_word(len(self.terms()))

    def terms(self):
        return walk(self.toy, self.patch, self.output)

    def letters_sum(self):
        """The output as a formula of its inputs: A.R + B.R − …"""
        return self.joined([("" if abs(t.weight) == 1 else short(abs(t.weight)) + " ") + t.entry for t in self.terms()])

    def numbers_sum(self):
        return self.joined([short(abs(t.product)) for t in self.terms()])

    def joined(self, parts):
        signs = [MINUS if t.weight < 0 else "+" for t in self.terms()]
        first = MINUS if signs and signs[0] == MINUS else ""
        return first + "".join(p if i == 0 else f" {s} {p}" for i, (s, p) in enumerate(zip(signs, parts)))

    def build(self):
        j, terms = self.output - 1, self.terms()
        bias, result = self.toy.bias[j], self.result()
        area, side = self.areas()
        layer = ToyLayer(self, area)
        layer.lines.set_stroke(theme.LINE)
        for i, (circle, name) in enumerate(zip(layer.outputs, layer.output_names)):
            if i != j:
                circle.set_stroke(theme.LINE)
                name.ink.set_fill(theme.SKIP)
        head = words(f"Output {self.output}", 44, theme.BLUE, bold=True)
        formula = words(self.letters_sum(), theme.BODY)
        zeros = words("Other incoming weights: 0", theme.LABEL, theme.GREY)
        text = column(head, formula, zeros, gap=0.18, align=LEFT)
        scale = SumLine(self, side.width - 0.3)
        numbers = words(self.numbers_sum(), theme.CAPTION)
        plus = words(f"{MINUS if bias < 0 else '+'} {short(abs(bias))} (bias)", theme.CAPTION)
        sum_ = row(numbers, plus, gap=0.12)
        equals = words(f"= {short(result)}", 72, theme.BLUE, bold=True)
        text.move_to([side.left, side.top, 0], aligned_edge=UP + LEFT)
        scale.move_to([side.left, side.center[1] - 0.42, 0], aligned_edge=LEFT)
        for part, y in ((sum_, 1.06), (equals, 0.34)):
            part.move_to([side.left, side.bottom + y, 0], aligned_edge=LEFT)
        for part in (formula, sum_):
            fit(part, side.width, 1).align_to(side.left * RIGHT, LEFT)

        start = layer.value(j, short(0.0), theme.GREY)
        self.step(layer, *write(head, formula, zeros))
        self.go(FadeIn(scale), FadeIn(start))
        shown = start
        for share in np.array_split(np.arange(len(terms)), min(4, len(terms))):
            self.step(*self.light(layer, j, terms[share[0]]), run_time=0.5)
            for n, t in enumerate(share):
                if n:
                    self.go(*self.light(layer, j, terms[t]), run_time=0.5)
                shown = self.add_term(layer, j, terms[t], scale, shown)
        self.go(*write(numbers))
        self.step(*write(plus))
        now = layer.value(j, short(result), theme.BLUE)
        self.go(FadeOut(shown), FadeIn(now), *scale.move(terms[-1].total if terms else 0.0, result, theme.AMBER, "bias"))
        self.go(*write(equals))

    def light(self, layer, j, term):
        color = theme.BLUE if term.weight > 0 else NEGATIVE
        line = layer.lines[j][term.index - 1]
        ring = Circle(0.2, stroke_color=theme.AMBER, stroke_width=4).move_to(layer.inputs[term.index - 1][0])
        return [line.animate.set_stroke(color, 4), FadeIn(layer.tag(term.index - 1, j, short(term.weight, sign=True), color)), FadeIn(ring)]

    def add_term(self, layer, j, term, scale, shown):
        """What the line carries arrives: nothing travels where the product is zero."""
        color = theme.BLUE if term.product > 0 else NEGATIVE
        if term.product:
            self.go(pulse(layer.lines[j][term.index - 1], theme.AMBER, run_time=0.7))
        now = layer.value(j, short(term.total))
        self.go(FadeOut(shown), FadeIn(now), *scale.move(term.total - term.product, term.total, color, term.entry), run_time=0.6)
        return now


class SumLine(Group):
    """A number line on which a sum moves: bars from total to total, a dot at the last."""

    def __init__(self, page, width):
        ends = [0.0, *page.toy.patches[page.patch].c, *(t.total for j in range(page.outputs) for t in walk(page.toy, page.patch, j + 1))]
        self.low, self.high = maths.floor(min(ends)), maths.ceil(max(ends))
        self.unit = width / (self.high - self.low)
        line = Line(ORIGIN, width * RIGHT, stroke_color=theme.GREY, stroke_width=2.6)
        ticks = Group(
            *(
                Group(
                    Line(0.08 * UP, 0.08 * DOWN, stroke_color=theme.GREY, stroke_width=2.6), words(short(v), theme.SMALL, theme.GREY).move_to(0.3 * DOWN)
                ).shift((v - self.low) * self.unit * RIGHT)
                for v in range(self.low, self.high + 1)
            )
        )
        self.line, self.jumps = line, 0
        self.dot = Dot(self.at(0.0), radius=0.11, color=theme.INK)
        super().__init__(line, ticks, self.dot)

    def at(self, value):
        return self.line.get_left() + (value - self.low) * self.unit * RIGHT

    def move(self, before, after, color, name):
        """The dot goes from total to total and leaves a bar; a term of nothing leaves the dot where it is."""
        self.dot.move_to(self.at(before))
        if before == after:
            return []
        bar = Rectangle(width=abs(after - before) * self.unit, height=0.3, stroke_width=0, fill_color=color, fill_opacity=1)
        bar.move_to((self.at(before) + self.at(after)) / 2 + (0.34 + 0.34 * self.jumps) * UP)
        label = words(name, theme.SMALLEST_PX, "#FFFFFF", bold=True).move_to(bar)
        self.jumps += 1
        return [GrowFromEdge(bar, LEFT if after > before else RIGHT), FadeIn(label), self.dot.animate.move_to(self.at(after))]


class FollowOutputOne(WalkPage):
    route = "reference/s02/9"
    output = 1

    def title(self):
        return f"Follow the connections into output {self.output}"

    def notes(self):
        return (
            f"Ask what this output receives before its bias. Light one line after the other, read the input, multiply by the weight and let the sum in the circle grow; where the input is zero nothing travels. "
            f"The sum stands at {short(self.terms()[-1].total)} before the bias and at {short(self.result())} after it. Then ask what the output measures, with {self.letters_sum()} as the only hint."
        )


class FollowOutputTwo(WalkPage):
    route = "reference/s02/10"
    output = 2

    def title(self):
        return f"Now follow the connections into output {self.output}"

    def notes(self):
        below = "below zero, and nothing will change that" if self.result() < 0 else "the second coordinate"
        return (
            f"The same walk with other weights. Let the class predict which way the dot moves before each line lights up, and stop before the bias to ask for the sum. "
            f"The result, {short(self.result())}, is {below}. Then ask what the formula {self.letters_sum()} compares, and send the students back to the letters of the patch for the answer."
        )


class PairIsEmbedding(ToyPage):
    route = "reference/s02/11"

    def title(self):
        return f"These {figures.number_word(self.outputs)} numbers are the patch embedding"

    def caption(self):
        return (f"$c_1$ stands for the content of patch 1. Its {figures.number_word(self.outputs)} coordinates are features for the blocks that follow; "
                "no class has been predicted yet.")

    def notes(self):
        return (
            f"Ask whether one of these numbers still has to pass an activation. Collect both results and point at the empty place after the layer: no ReLU, no GELU. "
            f"{short(min(self.toy.patches[self.patch].c))} is as good a coordinate as any other. The curve below belongs to the MLP inside a block, "
            "and a class score is far away: these coordinates only describe what the patch looks like."
        )

    def build(self):
        low = min(self.toy.patches[self.patch].c)
        y = STAGE.top - 1.12
        image = self.pixels(1.9).move_to([STAGE.left + 0.95, y, 0])
        values = self.row(0.35, size=theme.SMALLEST_PX).move_to([image.get_right()[0] + 0.7, y, 0], aligned_edge=LEFT)
        layer = Box(self.layer, width=2.6, height=1.0).move_to([values.get_right()[0] + 0.7, y, 0], aligned_edge=LEFT)
        pair = words(self.embedding(), 52, theme.BLUE, bold=True)
        fit(pair, STAGE.right - layer.get_right()[0] - 0.8, 1).move_to([layer.get_right()[0] + 0.75, y, 0], aligned_edge=LEFT)
        shapes = [
            words(t, theme.BODY, theme.GREY).next_to(part, DOWN, buff=0.2)
            for t, part in ((f"$x_1$: (1, {self.inputs})", values), (f"$c_1$: (1, {self.outputs})", pair))
        ]

        left, right = Area(STAGE.left, STAGE.bottom, STAGE.right, STAGE.bottom + 2.35).columns(1, 1, gap=0.35)
        cards = [panel(a.width, a.height).move_to(a.center) for a in (left, right)]
        straight, bent = Response(lambda x: x, low, theme.BLUE), Response(gelu, None, theme.INK)
        stays = column(
            words("No activation:", theme.BODY, theme.BLUE, bold=True),
            words(f"{short(low)} stays {short(low)}.", theme.CAPTION, bold=True),
            gap=0.12,
            align=LEFT,
        )
        straight.move_to([left.left + 1.45, left.center[1], 0])
        stays.move_to([straight.get_right()[0] + 0.4, left.center[1], 0], aligned_edge=LEFT)
        bent.move_to([right.left + 1.45, right.center[1], 0])
        later = column(words("Later block MLP:", theme.BODY, bold=True), words("Linear → GELU → Linear", theme.BODY), gap=0.12, align=LEFT)
        later.move_to([bent.get_right()[0] + 0.4, right.center[1], 0], aligned_edge=LEFT)

        self.step(image)
        self.go(Emerge(values, image), FadeIn(shapes[0]))
        self.step(*draw(arrow(image, values)), *draw(arrow(values, layer)), FadeIn(layer))
        self.go(*draw(arrow(layer, pair)), Emerge(pair, layer), FadeIn(shapes[1]))
        self.step(FadeIn(cards[0]), FadeIn(straight), *write(stays))
        self.step(FadeIn(cards[1]), FadeIn(bent), *write(later))


class Response(Group):
    """What becomes of a value: a small plot of output over input, with one value followed if given."""

    def __init__(self, function, value, color, side=1.95, reach=1.5):
        unit = side / 2 / reach
        axes = VGroup(Line(side / 2 * LEFT, side / 2 * RIGHT), Line(side / 2 * DOWN, side / 2 * UP)).set_stroke(theme.SKIP, 2)
        curve = FunctionGraph(function, x_range=[-reach, reach, 0.05], color=color, stroke_width=4.5).scale(unit, about_point=ORIGIN)
        ends = Group(
            words("in", theme.SMALLEST_PX, theme.GREY).next_to(side / 2 * RIGHT, DOWN + LEFT, buff=0.02),
            words("out", theme.SMALLEST_PX, theme.GREY).next_to(side / 2 * UP, DOWN + LEFT, buff=0.04),
        )
        super().__init__(axes, curve, ends)
        if value is not None:
            x = min(max(value, -reach), reach)
            spot = np.array([x * unit, function(x) * unit, 0])
            self.add(
                Line([spot[0], 0, 0], spot, stroke_color=theme.AMBER, stroke_width=3.5),
                Line([0, spot[1], 0], spot, stroke_color=theme.AMBER, stroke_width=3.5),
                Dot(spot, radius=0.1, color=theme.AMBER),
            )


class SecondPatch(ToyPage):
    route = "reference/s02/12"

    def title(self):
        return "Apply the very same layer to another patch"

    def caption(self):
        return (f"Other pixels, the same {self.toy.parameters} parameters. Stacked into X, both rows go through in one call, "
                "and row by row the embeddings come out as C.")

    def notes(self):
        return (
            f"Ask whether patch 2 needs an nn.Linear of its own. Reveal its pixels, send its row through the box that already stands there, and point at the words same W, same b. "
            f"Then draw the brackets: {len(self.toy.patches)} rows in, {len(self.toy.patches)} rows out, one call. With the real picture the stack is {self.model.patches} rows high and nothing else changes."
        )

    def build(self):
        names = list(self.toy.patches)
        k = len(names)
        ys = [STAGE.top - 1.55, STAGE.top - 3.3]
        lanes = []
        box = Box(self.layer, words("same W", theme.BODY, theme.BLUE), words("same b", theme.BODY, theme.BLUE), width=2.6, height=ys[0] - ys[1] + 1.4)
        x_box = STAGE.left + 2.75 + 4.32 + 0.85
        box.move_to([x_box, (ys[0] + ys[1]) / 2, 0], aligned_edge=LEFT)
        for i, (name, y) in enumerate(zip(names, ys), 1):
            image = self.pixels(1.4, name).move_to([STAGE.left + 1.2, y, 0])
            label = words(name, theme.BODY, bold=True).next_to(image, LEFT, buff=0.15)
            values = self.row(0.36, patch=name, size=theme.SMALLEST_PX).move_to([STAGE.left + 2.75, y, 0], aligned_edge=LEFT)
            shape = words(f"$x_{i}$ · (1, {self.inputs})", theme.LABEL, theme.GREY).next_to(values, DOWN, buff=0.14)
            pair = words(self.embedding(name), 46, theme.BLUE, bold=True)
            fit(pair, STAGE.right - box.get_right()[0] - 1.1, 1).move_to([box.get_right()[0] + 0.85, y, 0], aligned_edge=LEFT)
            lanes.append((image, label, values, shape, pair))
        first = words("Create once:  `proj = " + self.layer + "`", theme.BODY).move_to([STAGE.left, STAGE.top - 0.2, 0], aligned_edge=LEFT)
        call = words(f"`C = proj(X)`:  ({k}, {self.inputs}) → ({k}, {self.outputs})", theme.CAPTION).move_to([STAGE.center[0], STAGE.bottom + 0.2, 0])

        self.step(*write(first), FadeIn(box))
        for image, label, values, shape, pair in lanes:
            y = image.get_y()
            self.step(image, FadeIn(label))
            self.go(*draw(arrow(image.get_right(), values.get_left() + 0.14 * LEFT)), Emerge(values, image), FadeIn(shape))
            self.go(*draw(arrow(values.get_right() + 0.14 * RIGHT, [box.get_left()[0], y, 0])))
            self.go(*draw(arrow([box.get_right()[0], y, 0], pair.get_left() + 0.14 * LEFT)), FadeIn(pair, shift=0.4 * RIGHT))
        frames = [around(Group(*(lane[i] for lane in lanes for i in part)), theme.BLUE, 0.14) for part in ((2, 3), (4,))]
        marks = [words(t, theme.CAPTION, theme.BLUE, bold=True).next_to(f, UP, buff=0.06) for t, f in zip("XC", frames)]
        self.step(*(Create(f) for f in frames), *write(*marks))
        self.go(*write(call))
