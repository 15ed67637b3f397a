"""Section 6 of the reference deck, the implementation lab: the same ViT in PyTorch, shown in the code that ran (lab.py)."""

import numpy as np
from manim import Rectangle, RoundedRectangle, TransformFromCopy

from scenes.kit import *  # noqa: F403 - the kit is the vocabulary of a storyboard
from vit_data import figures, lab_source, rows, tensors
from vit_data.run import Vector


def sheet(values, width, height, color=theme.BLUE, **style):
    """A matrix as one image; neutral where the run knows nothing of it."""
    values = np.asarray(values, dtype=float)
    return Matrix(values, width, height, color, limit=None if np.isfinite(values).any() else 1.0, **style)


def batch(part, copies=2, step=0.09, color=theme.BLUE):
    """The part in front of pale sheets: the axis that counts pictures."""
    backs = Group(*(Rectangle(width=part.width, height=part.height, stroke_color=theme.tint(color, 0.45), stroke_width=1.6, fill_color=theme.tint(color, 0.06),
                              fill_opacity=1).move_to(part).shift(i * step * (UP + RIGHT)) for i in range(copies, 0, -1)))
    return Group(backs, part)


class LabPage(Slide):
    """A page of code: the listing on top in full width, what its lines do below."""

    def piece(self, name, first=None, last=None):
        found = lab_source.piece(name)
        return found.part(first, last) if first else found

    def listing(self, piece, width=STAGE.width, size=theme.LABEL + 3, **style):
        return STAGE.place(Listing(piece if not isinstance(piece, str) else self.piece(piece), self.run.lab, width, size, **style), UP + LEFT)

    def shape(self, name, start):
        """A shape as the run of the code gave it."""
        return axes(gives(self.run.lab, self.piece(name), start))

    def below(self, part, gap=0.34):
        return Area(STAGE.left, STAGE.bottom, STAGE.right, part.get_bottom()[1] - gap)

    def lines(self, text, size=theme.LABEL, color=theme.GREY):
        """Words with each line centred."""
        return column(*(words(t, size, color) for t in text.split("\n")), gap=0.0)

    def chain(self, area, *items, most=1.7):
        """Parts on one line with an arrow between neighbours and their names under them: parts, names, arrows."""
        parts, names = Group(*(p for p, _ in items)), Group(*(self.lines(n) if isinstance(n, str) else n for _, n in items))
        wide = [max(p.width, n.width) for p, n in zip(parts, names)]
        gap = min(most, (area.width - sum(wide)) / max(len(wide) - 1, 1))
        x = area.center[0] - (sum(wide) + gap * (len(wide) - 1)) / 2
        tall, under = max(p.height for p in parts), max(n.height for n in names) + 0.1
        y = area.center[1] + under / 2
        for part, name, w in zip(parts, names, wide):
            part.move_to([x + w / 2, y, 0])
            name.move_to([x + w / 2, y - tall / 2 - 0.1, 0], aligned_edge=UP)
            x += w + gap
        return parts, names, Group(*(arrow([a.get_right()[0], y, 0], [b.get_left()[0], y, 0]) for a, b in zip(parts, parts[1:])))


class LabCard(SectionCard):
    route = "reference/s06/1"

    def over(self):
        return "IMPLEMENTATION LAB · OPTIONAL"

    def name(self):
        return "Build the same ViT in PyTorch"

    def title(self):
        return "Implementation lab · optional"

    def before(self):
        return "Use this lab in class, or work through it after the conceptual lecture."

    def question(self):
        m = self.model
        return f"One image B × {times(m.channels, m.image, m.image)} → the same prediction B × {count(m.classes)}"

    def topics(self):
        return ("Code + tensor shapes", "Linear and Conv2d", "The same prediction")

    def art(self):
        page = Listing(lab_source.piece("ViT.forward"), self.run.lab, 4.15, theme.SMALL, shapes=False, gap=0.08).full()
        return column(Photograph(self.run, side=2.1), page, gap=0.3)

    def caption(self):
        ran = self.run.lab
        if ran is None:
            return "Every line on these pages stands in one short file, and tests compare each shape beside it with what really flows."
        return (f"Every line on these pages ran on this checkpoint. Its logits and those of timm’s model differ by at most {tiny(ran.logit_difference)} on "
                "both pictures, which is rounding.")

    def notes(self):
        return ("Nothing new is learned here; we write down what we already understand. All pages show one file that a test runs, so no line is decoration. "
                "Keep one question in mind from the start: if a Linear layer and a convolution carry the same numbers, what could make their outputs differ?")


class BatchAxis(LabPage):
    route = "reference/s06/2"

    def title(self):
        return f"Keep the same {figures.picture_word(self.run, 'dog')} and add the batch axis"

    def caption(self):
        m = self.model
        return (f"The {figures.picture_word(self.run, 'dog')} already has {times(m.image, m.image)} pixels. PyTorch wants its {m.channels} channels in front, "
                "and before them one more axis, B, that counts pictures and never patches.")

    def notes(self):
        return ("Run the function by hand: first the axes change places, then a new one appears at the front. Ask which axis says how many pictures there are. "
                "For a single one it has length one, and every picture of a larger batch meets the same parameters.")

    def build(self):
        m = self.model
        listing = self.listing("to_batch")
        area = self.below(listing)
        photo = Photograph(self.run, side=2.2)
        planes = Group(*(self.plane(photo, i) for i in range(m.channels)))
        for i, plane in enumerate(reversed(planes)):
            plane.shift(i * 0.3 * (RIGHT + 0.55 * UP))
        order = Group(*reversed(planes))
        frame = RoundedRectangle(corner_radius=0.14, width=order.width + 0.5, height=order.height + 0.36, stroke_color=theme.BLUE,
                                 stroke_width=3).move_to(order)
        one = Group(batch(frame.copy().set_fill(theme.PAPER, 1), 2, 0.1), order.copy())
        parts, names, arrows = self.chain(area, (photo, f"Height × width × RGB\n{times(m.image, m.image, m.channels)}"),
                                          (order, f"channels first: all R, then G, then B\n{times(m.channels, m.image, m.image)}"),
                                          (one, f"PyTorch: B × C × H × W\nB × {times(m.channels, m.image, m.image)}"), most=1.4)
        self.step(photo, FadeIn(names[0]), *listing.open())
        self.step(*listing.read("x = rgb.permute"), *draw(arrows[0]))
        self.go(*(Emerge(p, photo) for p in order), lag_ratio=0.25)
        self.go(FadeIn(names[1]))
        self.step(*listing.read("return x.unsqueeze"), *draw(arrows[1]))
        self.go(FadeIn(one[0][1]))
        self.go(TransformFromCopy(order, one[1]))
        self.step(FadeIn(one[0][0], shift=0.1 * (UP + RIGHT)), *write(names[2]))
        self.bring_to_front(one[0][1], one[1])

    def plane(self, photo, channel):
        color = theme.RGB["RGB"[channel]]
        if photo.missing:
            body = panel(1.75, 1.75, color, theme.tint(color, 0.1))
            return Group(body)
        only = np.zeros_like(photo.array)
        only[..., channel] = photo.array[..., channel]
        return Photograph(self.run, side=1.75, image=only)


class Target(LabPage):
    route = "reference/s06/3"

    def title(self):
        return f"Our target: turn every patch into {self.model.width} features"

    def caption(self):
        m = self.model
        return (f"A patch brings {m.patch_values} numbers and leaves with {m.width} features. The same projection serves all {m.patches} places, so one "
                f"picture gives {m.patches} rows. Two ways to write it follow.")

    def notes(self):
        return (f"This is the projection that we already used for the {figures.picture_word(self.run, 'dog')}; only the writing is new. Let one patch take "
                "the whole way before you show the table of rows. Ask whether each place needs a projection of its own: no, the input differs, the "
                "parameters are shared, with the cat and every other picture too.")

    def build(self):
        m, nose = self.model, self.dog.place("nose")
        number = self.dog.photo.places["nose"]
        upper, lower = STAGE.rows(3.4, 1, gap=0.2)
        head = words("Implement the same patch projection we used for the dog.", theme.BODY, theme.GREY)
        head.move_to([upper.left, upper.top, 0], aligned_edge=UP + LEFT)
        photo = Photograph(self.run, side=2.5, grid=True)
        crop = photo.crop(nose, 1.6)
        layer = Box("Shared projection", words(f"{m.patch_values} → {m.width}", theme.CAPTION, bold=True), size=theme.LABEL, height=1.5, width=2.6)
        table = sheet(tensors.content(self.run), 2.3, 2.5)
        area = Area(upper.left, upper.bottom, upper.right, head.get_bottom()[1] - 0.15)
        parts, names, arrows = self.chain(area, (photo, f"{times(m.image, m.image, m.channels)}\n{m.patches} patches"),
                                          (crop, f"One RGB patch\n{times(m.channels, m.patch, m.patch)} = {m.patch_values} numbers"),
                                          (layer, "the same learned weights\nand biases at every location"),
                                          (table, f"Patch row: {m.width} features\none image → {m.patches} rows"))
        spot = photo.patch(nose, theme.AMBER, 3.5)
        mark = table.mark(number - 1)
        routes = row(words("Two implementations:", bold=True), Box("flatten + Linear", size=theme.BODY), words("or", color=theme.GREY),
                     Box("Conv2d", size=theme.BODY), gap=0.4)
        lower.place(routes)
        self.step(FadeIn(head), photo, FadeIn(names[0]))
        self.step(FadeIn(spot), Emerge(crop, photo.cell(nose)), FadeIn(names[1]), *draw(arrows[0]))
        self.step(*draw(arrows[1]), FadeIn(layer), FadeIn(names[2]))
        strip = Strip(Vector(length=m.width, first=self.dog.patches[nose].c.first, last=self.dog.patches[nose].c.last,
                             values=self.dog.patches[nose].c.values), width=table.image.width, height=0.3)
        strip.move_to(table.row(number - 1))
        self.go(*draw(arrows[2]), Emerge(strip, layer))
        self.step(FadeIn(table), FadeIn(names[3]), FadeOut(strip), FadeIn(mark))
        self.step(*write(*routes), lag_ratio=0.2)


class LayerOfNeurons(LabPage):
    route = "reference/s06/4"

    def title(self):
        return "See the patch projection as a layer of neurons"

    def caption(self):
        m = self.model
        return (f"All {m.patch_values} inputs reach every output neuron, which weighs them, adds them up and adds its own bias. That is the whole layer: the "
                "MLP with its hidden units comes later.")

    def notes(self):
        p = self.model.parameters
        return ("Open one neuron first: its weights are one row of the matrix. Then say that the other outputs do the same with weights of their own. Ask "
                f"where the bias count comes from: one for each output, not for each pixel or patch. So {count(p.patch_weights)} weights and "
                f"{count(p.patch_biases)} biases.")

    def build(self):
        m, p = self.model, self.model.parameters
        left, right = STAGE.columns(1.05, 1, gap=0.5)
        last_in, last_out = _sub(m.patch_values), _sub(m.width)
        inputs = Layer(["x₁", "x₂", None, f"x{last_in}"], radius=0.42, gap=0.2, size=theme.LABEL, color=theme.GREY)
        outputs = Layer(["c₁", "c₂", None, f"c{last_out}"], radius=0.42, gap=0.2, size=theme.LABEL)
        net = Group(inputs, outputs).arrange(RIGHT, buff=3.4)
        heads = Group(words(f"{m.patch_values} inputs", theme.BODY, theme.GREY, bold=True).next_to(inputs, UP, buff=0.18),
                      words(f"{m.width} outputs", theme.BODY, theme.BLUE, bold=True).next_to(outputs, UP, buff=0.18))
        picture_ = Group(net, heads)
        left.place(picture_, shrink=False).shift(0.15 * DOWN)
        lines = connections(inputs, outputs, theme.LINE, 1.8)
        first = lines[0].copy().set_color(theme.AMBER).set_stroke(width=4)
        bias = words("+ b₁", theme.BODY, theme.AMBER, bold=True).next_to(outputs.units[0], RIGHT, buff=0.15)
        code_ = Code(lab_source.piece("make_layers").part("linear =").text.replace("linear = ", ""), theme.LABEL + 2)
        one = column(words("Open just the first output neuron", theme.LABEL, theme.GREY),
                     math(f"c_1 = w_(1,1) x_1 + w_(1,2) x_2 + dots.h + w_(1,{m.patch_values}) x_{m.patch_values} + b_1", theme.BODY + 2),
                     words(f"its weights: $w_(1,1), w_(1,2), dots.h, w_(1,{m.patch_values})$", theme.LABEL, theme.AMBER), gap=0.14, align=LEFT)
        each = words(f"Every output has its own {m.patch_values} weights + 1 bias.", theme.BODY, bold=True, width=right.width)
        total = column(words(f"{m.width} × {m.patch_values} weights + {count(p.patch_biases)} biases", theme.BODY),
                       words(f"= {count(p.patch_total)} parameters", theme.TITLE - 8, theme.BLUE, bold=True), gap=0.06, align=LEFT)
        no = words("Patch projection: no hidden layer or activation.\nLater MLP: Linear → GELU → Linear.", theme.LABEL, theme.GREY)
        name = column(words("One affine layer:", theme.LABEL, theme.GREY), code_, gap=0.1, align=LEFT)
        right.place(column(name, one, each, total, no, gap=0.36, align=LEFT), LEFT)
        self.step(FadeIn(inputs), FadeIn(outputs), FadeIn(heads), *write(name))
        self.step(*draw(*first), *write(*one), FadeIn(bias), lag_ratio=0.15)
        self.step(*draw(*(x for group in lines[1:] for x in group)), *write(each), lag_ratio=0.06, run_time=1.2)
        self.bring_to_front(first)
        self.step(*write(*total))
        self.step(*write(no))


def _sub(number):
    """A number as subscript digits, which the kit sets as mathematics."""
    return str(number).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))


class WithLinear(LabPage):
    route = "reference/s06/5"

    def title(self):
        return "Implementation 1: extract patches, then use Linear"

    def caption(self):
        m = self.model
        return (f"Unfold lifts each patch out as a column, transpose lays the columns down as rows, and Linear turns the last axis from {m.patch_values} "
                f"numbers into {m.width}, with one set of weights for every row of every picture.")

    def notes(self):
        return (f"Point at the last axis all the time: that is the only one a Linear layer touches. Do {self.model.patches} rows mean {self.model.patches} "
                "copies of the weights? No. The layer is one object, and the axes in front of the last are only repeated use. What grows with the batch is "
                "the output, not the layer.")

    def build(self):
        m = self.model
        listing = self.listing(self.piece("project_with_linear").after(self.piece("make_layers", "linear =")), gap=0.09)
        area = self.below(listing)
        values = tensors.pixel_rows(self.run)
        photo = Photograph(self.run, side=1.5, grid=True)
        columns = sheet(values.T, 1.2, 1.6, theme.GREY)
        lying = sheet(values, 2.7, 1.2, theme.GREY)
        features_ = sheet(tensors.content(self.run), 1.5, 1.2)
        parts, names, arrows = self.chain(Area(area.left, area.bottom + 0.62, area.right, area.top),
                                          (batch(photo, color=theme.GREY), f"images · B × {times(m.channels, m.image, m.image)}"),
                                          (batch(columns, color=theme.GREY), "unfold: flattened columns"),
                                          (batch(lying, color=theme.GREY), "transpose: patch rows"), (batch(features_), "Linear: project each row"), most=1.0)
        third = m.patch_values // m.channels
        bar = row(*(Group(panel(1.75, 0.4, theme.RGB[c], theme.tint(theme.RGB[c], 0.14))) for c in "RGB"), gap=0)
        for box, c in zip(bar, "RGB"):
            box.add(words(f"{third} {c} values", theme.SMALL, theme.RGB[c], bold=True).move_to(box[0]))
        strip = row(words("One patch row:", theme.LABEL, theme.GREY), bar, gap=0.3)
        strip.move_to([area.center[0], area.bottom + 0.22, 0])
        nose = self.dog.place("nose")
        number = self.dog.photo.places["nose"] - 1
        marks = [photo.patch(nose, theme.AMBER, 3), self._column_mark(columns, number), lying.mark(number), features_.mark(number)]
        self.step(*listing.open(), *(FadeIn(p) for p in parts[0]), FadeIn(names[0]))
        self.go(*listing.read("linear ="), FadeIn(marks[0]))
        within = words("Within each channel: left to right, top to bottom", theme.LABEL, theme.GREY)
        within.next_to(strip, RIGHT, buff=0.4)
        Group(strip, within).set_x(area.center[0])
        self.step(*listing.read("patches = F.unfold"), *draw(arrows[0]), FadeIn(parts[1]), FadeIn(names[1]))
        self.go(TransformFromCopy(marks[0], marks[1]))
        self.step(*listing.read("patches = patches.transpose"), *draw(arrows[1]), FadeIn(parts[2]), FadeIn(names[2]))
        self.go(TransformFromCopy(marks[1], marks[2]))
        self.go(*write(strip, within))
        self.step(*listing.read("return linear"), *draw(arrows[2]), FadeIn(parts[3]), FadeIn(names[3]))
        self.go(TransformFromCopy(marks[2], marks[3]))

    def _column_mark(self, matrix, index):
        place = matrix.column(index)
        return Rectangle(width=max(place.width, 0.09), height=matrix.image.height + 0.1, stroke_color=theme.AMBER, stroke_width=3.5).move_to(place)


class WithConv(LabPage):
    route = "reference/s06/6"

    def title(self):
        return "Implementation 2: the same projection with Conv2d"

    def caption(self):
        m = self.model
        return (f"Fold one neuron’s {m.patch_values} weights into {times(m.channels, m.patch, m.patch)} and call it a filter: same pixels, same weights, same "
                f"bias. Conv2d slides all {m.width} filters over the picture, one patch at a time.")

    def notes(self):
        m = self.model
        return ("The three small squares are the learned weights of the first neuron, one for each colour channel. Follow the window: because the stride "
                f"equals the kernel size, no pixel is read twice. Then ask what one output channel is: one of the {m.width} features at all "
                f"{times(m.grid, m.grid)} places, made by one filter.")

    def build(self):
        m = self.model
        listing = self.listing(self.piece("make_layers", "conv ="), shapes=False)
        listing.full()
        area = self.below(listing)
        values, grid_ = tensors.filters(self.run), tensors.content(self.run).reshape(m.grid, m.grid, m.width)
        photo = Photograph(self.run, side=2.75, grid=True)
        planes = row(*(sheet(values[0, i], 0.78, 0.78, theme.RGB["RGB"[i]]) for i in range(m.channels)), gap=0.12)
        bias = math("+ b_j", theme.CAPTION)
        filter_ = column(words("One filter = one output neuron", theme.LABEL, theme.BLUE, bold=True), row(planes, bias, gap=0.2),
                         words(f"{times(m.channels, m.patch, m.patch)} weights", theme.LABEL),
                         words(f"all {m.patch_values} pixels contribute", theme.LABEL, theme.GREY), gap=0.14)
        front = sheet(grid_[:, :, 0], 2.2, 2.2)
        sheets = Group(*(sheet(grid_[:, :, i], 2.2, 2.2).shift(i * 0.13 * (RIGHT + UP)) for i in (4, 3, 2, 1)), front)
        parts, names, arrows = self.chain(area, (photo, f"{times(m.grid, m.grid)} locations\nSame filters at every location."),
                                          (filter_, f"Kernel size = stride = {m.patch};\npatches do not overlap."),
                                          (sheets, f"{m.width} filters → {m.width} features\nat each patch location"), most=1.2)
        window, cell = photo.patch(1, theme.AMBER, 3.5), self._cell(front, 0)
        stride = words(f"Stride {m.patch}: move by one patch.", theme.LABEL, theme.AMBER, bold=True)
        out = words(f"Output: {self.shape('project_with_conv', 'grid')}", theme.BODY, theme.BLUE, bold=True)
        row(stride, out, gap=0.6).move_to([listing.frame.get_right()[0] - 0.3, listing.frame.get_center()[1], 0], aligned_edge=RIGHT)
        note = Group(stride, out)
        if note.get_left()[0] < listing.lines.get_right()[0] + 0.3:
            note.arrange(RIGHT, buff=0.8).move_to([area.center[0], area.top - 0.05, 0])
            Group(parts, names, arrows, window, cell).shift(0.2 * DOWN)
        self.step(FadeIn(listing.frame), FadeIn(listing.lines), photo, FadeIn(names[0]))
        self.step(FadeIn(window), *draw(arrows[0]), *(FadeIn(x) for x in filter_), FadeIn(names[1]))
        self.step(*draw(arrows[1]), FadeIn(front), FadeIn(cell))
        for n in (2, 3, m.grid + 1, self.dog.photo.places["nose"]):
            self.go(window.animate.move_to(photo.cell(n)), cell.animate.move_to(self._cell(front, n - 1)), run_time=0.5)
        self.go(*write(stride))
        self.step(*(FadeIn(s, shift=0.1 * (UP + RIGHT)) for s in sheets[:-1]), FadeIn(names[2]), *write(out))
        self.bring_to_front(*sheets, cell)

    def _cell(self, matrix, index):
        r, c = divmod(index, matrix.values.shape[1])
        step = matrix.image.width / matrix.values.shape[1]
        return Rectangle(width=step, height=step, stroke_color=theme.AMBER, stroke_width=3.5).move_to(matrix.image.get_corner(UP + LEFT) + [(c + 0.5) * step,
                                                                                                              -(r + 0.5) * step, 0])


class SameCount(LabPage):
    route = "reference/s06/7"

    def title(self):
        return "Reshape the weights; keep the same parameter count"

    def caption(self):
        p = self.model.parameters
        return (f"Either way the layer holds {count(p.patch_weights)} weights and {count(p.patch_biases)} biases. Copied over in the right order they compute "
                "the same thing, and more patches or pictures add outputs, never parameters.")

    def notes(self):
        return ("Equal counts are not equal functions: two layers with their own random start differ. What makes them the same is equal numbers in equal "
                "order. Flatten a filter, red plane first, and you hold the row of the Linear matrix that belongs to the same output.")

    def build(self):
        m, p = self.model, self.model.parameters
        left, right = STAGE.columns(1.15, 1, gap=0.6)
        table = Table(["Parameter", "Linear", "Conv2d"],
                      [["Weight shape", times(m.width, m.patch_values), times(m.width, m.channels, m.patch, m.patch)],
                       ["Weights", count(p.patch_weights), count(p.patch_weights)],
                       ["Biases", count(p.patch_biases), count(p.patch_biases)],
                       ["Total", words(f"*{count(p.patch_total)}*", theme.LABEL), words(f"*{count(p.patch_total)}*", theme.LABEL)]], gap=(0.6, 0.24))
        head = words("Identical numbers, stored with different shapes", theme.BODY, bold=True)
        left_ = column(head, table, gap=0.28, align=LEFT)
        listing = Listing(self.piece("copy_weights"), self.run.lab, STAGE.width, theme.LABEL + 3)
        STAGE.place(listing, DOWN + LEFT)
        top = Area(left.left, listing.frame.get_top()[1] + 0.3, left.right, STAGE.top)
        top.place(left_, LEFT)
        values = tensors.filters(self.run)[0]
        planes = row(*(sheet(values[i], 1.05, 1.05, theme.RGB["RGB"[i]]) for i in range(m.channels)), gap=0.2)
        one = column(words(f"Conv2d filter {times(m.channels, m.patch, m.patch)}", theme.LABEL, theme.GREY), planes, gap=0.12)
        flat = Group(*(sheet(values[i].reshape(1, -1), right.width / m.channels - 0.02, 0.42, theme.RGB["RGB"[i]]) for i in range(m.channels))).arrange(RIGHT,
                                                                                                              buff=0.02)
        line = column(flat, words(f"row of Linear.weight: {times(1, m.patch_values)}", theme.LABEL, theme.GREY), gap=0.1)
        match = words("Match the input order: each filter\nflattens R, then G, then B.", theme.LABEL, bold=True)
        Area(right.left, top.bottom, right.right, right.top).place(column(one, line, match, gap=0.32))
        self.step(*write(head), FadeIn(table.header), FadeIn(table.rule), *write(table.lines[0]))
        self.go(FadeIn(one))
        self.step(*write(*table.lines[1:]), lag_ratio=0.25)
        self.step(*(Emerge(b, a) for a, b in zip(planes, flat)), lag_ratio=0.3, run_time=1.2)
        self.go(*write(line[1], match))
        self.step(*listing.open())
        self.go(*listing.read("with torch.no_grad", "linear.weight.copy_"))
        self.step(*listing.read("linear.bias.copy_"))


class SamePixel(LabPage):
    route = "reference/s06/8"

    def title(self):
        return "Same pixel × same weight, in both implementations"

    def caption(self):
        return (f"Either way, pixel and weight meet in the same {self.model.patch_values} pairs. The products are added, the one bias is added, and one "
                "feature comes out.")

    def notes(self):
        q, third = self.dog.projection.product, self.model.patch**2
        return (f"Find the pixel first: green, zero-based row {q.row}, column {q.column} of the patch. Its place in the flattened row is {q.channel * third} "
                f"for the channels before it, {figures.number_word(q.row)} full rows, and {figures.number_word(q.column)}. The Conv2d names the same weight "
                "by output, channel, row and column. One product is shown in full; the sum runs over all of them.")

    def build(self):
        m, q, nose = self.model, self.dog.projection.product, self.dog.place("nose")
        third = m.patch**2
        head = words(f"Dog patch {nose} · {_ordinal(q.output)} output feature · indices below start at 0", theme.LABEL, theme.GREY)
        head.move_to([STAGE.left, STAGE.top, 0], aligned_edge=UP + LEFT)
        crop = Photograph(self.run).crop(nose, 2.35)
        crop.move_to([STAGE.left + 1.175, head.get_bottom()[1] - 0.2 - 1.175, 0])
        pixel = crop.pixel(q.flat - q.channel * third + 1)
        rule = words(f"{_color(q.channel)} pixel at (row {q.row}, column {q.column}) → flat index {_offset(q.channel, third)}{q.row}×{m.patch} + {q.column} = "
                     f"{q.flat}", theme.LABEL + 1, bold=True)
        order = words(f"Flatten order: R{_sub(0)} … R{_sub(third - 1)} | G{_sub(0)} … G{_sub(third - 1)} | B{_sub(0)} … B{_sub(third - 1)}", theme.LABEL)
        area = Area(crop.get_right()[0] + 0.45, STAGE.bottom, STAGE.right, crop.get_top()[1])
        order.move_to([area.left, area.top, 0], aligned_edge=UP + LEFT)
        rule.next_to(order, DOWN, buff=0.1).align_to(order, LEFT)
        fit(rule, area.width, 1)
        rule.align_to(order, LEFT)
        lanes = [self.lane("Linear: one neuron", f"W[{q.output},{q.flat}] selected"),
                 self.lane("Conv2d: one filter, flattened", f"W[{q.output},{q.channel},{q.row},{q.column}] selected")]
        for lane, y in zip(lanes, (rule.get_bottom()[1] - 0.22, rule.get_bottom()[1] - 1.78)):
            lane.move_to([area.left, y, 0], aligned_edge=UP + LEFT)
        d = 6
        product = row(words("Selected product in both:", theme.BODY), words(f"{num(q.x, d)} × {num(q.weight, d)} = *{num(q.product, d)}*", theme.BODY + 2),
                      gap=0.3)
        total = row(words(f"Add all {m.patch_values} products + the same bias ({num(q.bias, d)}) →", theme.BODY),
                    words(num(q.total, d), theme.BODY + 4, theme.BLUE, bold=True), gap=0.2)
        sums = column(product, total, gap=0.1, align=LEFT)
        sums.move_to([STAGE.left, STAGE.bottom + 0.02, 0], aligned_edge=DOWN + LEFT)
        self.step(FadeIn(head), FadeIn(crop), *write(order))
        self.step(FadeIn(pixel), *write(rule))
        for lane in lanes:
            self.step(FadeIn(lane[0]), Emerge(lane[1], crop), FadeIn(lane[2]), *(FadeIn(x) for x in lane[3:]))
        self.step(*write(product))
        self.step(*write(total))

    def lane(self, name, selected):
        """Pixels over weights as two strips in the same order, the chosen pair marked."""
        m, q = self.model, self.dog.projection.product
        third, width = m.patch**2, 9.75
        head = words(name, theme.LABEL, theme.BLUE, bold=True)
        note = words(selected, theme.LABEL, theme.AMBER, bold=True)
        pixels, weights = tensors.pixel_rows(self.run)[self.dog.photo.places["nose"] - 1], tensors.filters(self.run)[q.output].reshape(-1)
        strips = [Group(*(sheet(part[None, :], width / m.channels - 0.02, 0.3, color)
                          for part, color in zip(values.reshape(m.channels, third), colors))).arrange(RIGHT, buff=0.02)
                  for values, colors in ((pixels, theme.RGB.values()), (weights, [theme.BLUE] * m.channels))]
        strips[1].next_to(strips[0], DOWN, buff=0.32)
        x = strips[0].get_left()[0] + strips[0].width * (q.flat + 0.5) / m.patch_values
        marks = Group(*(Rectangle(width=0.1, height=0.4, stroke_color=theme.AMBER, stroke_width=3.5).move_to([x, s.get_center()[1], 0]) for s in strips))
        names = Group()
        letter, local = "RGB"[q.channel], q.row * m.patch + q.column
        middle = (strips[0].get_bottom()[1] + strips[1].get_top()[1]) / 2
        left, right = strips[0].get_left()[0], strips[0].get_right()[0]
        for text, at_, edge in ((f"R{_sub(0)} × w{_sub(0)}   R{_sub(1)} × w{_sub(1)}  …", left, LEFT), (f"{letter}{_sub(local)} × w{_sub(q.flat)}", x, None),
                                (f"…  B{_sub(third - 1)} × w{_sub(m.patch_values - 1)}", right, RIGHT)):
            label = words(text, theme.SMALL, theme.AMBER if edge is None else theme.GREY, bold=edge is None)
            label.move_to([at_, middle, 0], **({} if edge is None else {"aligned_edge": edge}))
            names.add(label)
        title = row(head, words(f"same {count(m.patch_values)} pixels", theme.LABEL, theme.GREY), note, gap=0.5)
        Group(title).next_to(strips[0], UP, buff=0.06).align_to(strips[0], LEFT)
        return Group(title, strips[0], strips[1], marks, names)


def _ordinal(zero_based):
    return ("first", "second", "third")[zero_based] if zero_based < 3 else f"number {zero_based + 1}"


def _color(channel):
    return ("Red", "Green", "Blue")[channel]


def _offset(channel, third):
    return "" if channel == 0 else f"{channel * third} + "


class FeaturesMatch(LabPage):
    route = "reference/s06/9"

    def title(self):
        kinds = {figures.picture_word(self.run, subject) for subject in ("dog", "cat")}
        return f"Verify it on both {kinds.pop() if len(kinds) == 1 else 'picture'}s: the features match"

    def total(self):
        m = self.model
        return 2 * m.patches * m.width

    def caption(self):
        return ("With the same weights both ways give the same features, up to rounding. The grid that Conv2d returns still has to be flattened and "
                "transposed before CLS and positions join.")

    def notes(self):
        return (f"Read the two columns aloud, then trust the machine for the rest: all {count(self.total())} features were compared. Why bother with Conv2d? "
                "It takes the picture as it is, needs no patch matrix in our code, and uses well tuned routines. It is another way to write it, not another "
                "model.")

    def build(self):
        m, nose, difference = self.model, self.dog.place("nose"), self.run.projection_difference
        head = column(words(f"Same {'pretrained ' if self.run.provenance.kind != 'random' else ''}weights · same prepared dog and cat images", theme.BODY,
                            bold=True),
                      words(f"{nose} · first 3 of {m.width} features", theme.LABEL, theme.GREY), gap=0.08, align=LEFT)
        head.move_to([STAGE.left, STAGE.top, 0], aligned_edge=UP + LEFT)
        xs, ys = (STAGE.left, STAGE.left + 2.35, STAGE.left + 7.7), (0.72, -0.72)
        heads = Group(*(words(t, theme.BODY, theme.BLUE, bold=True).move_to([x, 1.45, 0], aligned_edge=LEFT)
                        for t, x in (("Linear", xs[1]), ("Conv2d", xs[2]))))
        lanes = []
        for name, subject, y in (("dog", self.dog, ys[0]), ("cat", self.cat, ys[1])):
            photo = Photograph(self.run, name, side=1.25).move_to([xs[0] + 0.625, y, 0])
            spot = photo.patch(nose, theme.AMBER, 3)
            label = column(words(name.capitalize(), theme.LABEL, bold=True), words(f"{m.patch_values} → {m.width}", theme.SMALLEST_PX, theme.GREY),
                           gap=0.0).next_to(photo, RIGHT, buff=0.14)
            sides = []
            for vector, x in ((subject.projection.linear, xs[1]), (subject.projection.conv, xs[2])):
                cell = column(words(vec(vector), theme.BODY), Strip(vector, width=4.6, height=0.34), gap=0.1, align=LEFT)
                sides.append(cell.move_to([x + 0.25, y, 0], aligned_edge=LEFT))
            equal = words("=" if vec(subject.projection.linear) == vec(subject.projection.conv) else "≈", theme.TITLE,
                          theme.GREY).move_to([(sides[0].get_right()[0] + sides[1].get_left()[0]) / 2, y, 0])
            lanes.append((Group(photo, spot, label), sides, equal))
        checked = words(f"Checked all 2 × {m.patches} × {m.width} = {count(self.total())} features.", theme.BODY)
        far = words(f"Largest float32 difference: *{tiny(difference)}*" if difference is not None else "Largest float32 difference: not measured", theme.BODY,
                    theme.BLUE)
        same = words(f"Same result within rounding. Both produce B × {times(m.patches, m.width)} rows for the same classifier.", theme.LABEL, theme.GREY)
        foot = column(row(checked, far, gap=0.6), same, gap=0.12, align=LEFT)
        foot.move_to([STAGE.left, STAGE.bottom + 0.1, 0], aligned_edge=DOWN + LEFT)
        self.step(*write(head), *(FadeIn(lane[0]) for lane in lanes))
        self.step(FadeIn(heads[0]), *(Emerge(lane[1][0], lane[0][1]) for lane in lanes))
        self.step(FadeIn(heads[1]), *(Emerge(lane[1][1], lane[0][1]) for lane in lanes))
        self.go(*(FadeIn(lane[2]) for lane in lanes))
        self.step(*write(checked, far))
        self.step(*write(same))


class WhyConv(LabPage):
    route = "reference/s06/10"

    def title(self):
        return "Why package patch projection as Conv2d?"

    def caption(self):
        return ("Conv2d reads the picture as it comes, so our code never builds the table of patches. How much time or memory that saves is for your "
                "hardware to say: measure it.")

    def notes(self):
        p = self.model.parameters
        return ("Both lanes start and end with the same tensor. The upper one spells out the patch rows, the lower one leaves that to the convolution. Does "
                f"it learn fewer parameters? No, the same {count(p.patch_total)}, and the same function. What you gain is less reshaping and a fast routine "
                "behind it.")

    def build(self):
        m = self.model
        head = words(f"One image operation applies all {m.width} filters at all {m.patches} locations.", theme.BODY, bold=True)
        head.move_to([STAGE.left, STAGE.top, 0], aligned_edge=UP + LEFT)
        values, content = tensors.pixel_rows(self.run), tensors.content(self.run)
        grid_ = content.reshape(m.grid, m.grid, m.width)
        patches = batch(sheet(values, 2.4, 1.2, theme.GREY), color=theme.GREY)
        sheets = Group(*(sheet(grid_[:, :, i], 1.2, 1.2).shift(i * 0.08 * (RIGHT + UP)) for i in (3, 2, 1, 0)))
        xs = [STAGE.left + x for x in (4.0, 7.75, 11.4)]
        lanes = [self.lane("Linear route", patches, xs, 1.12, ("Explicit patch rows", "project_with_linear", "patches = patches.transpose", "Shared Linear")),
                 self.lane("Conv2d route", sheets, xs, -0.88, ("Conv2d", "project_with_conv", "grid", "Flatten + transpose"))]
        foot = words("Less reshaping code; optimized convolution backends. *Same learned model.*", theme.LABEL + 2)
        foot.move_to([STAGE.left, STAGE.bottom + 0.02, 0], aligned_edge=DOWN + LEFT)
        self.step(*write(head), *(FadeIn(x) for lane in lanes for x in (lane[0], lane[1][0], lane[2][0])))
        for label, parts, names, arrows in lanes:
            self.step(*draw(arrows[0]), Emerge(parts[1], parts[0]), FadeIn(names[1]))
            self.go(*draw(arrows[1]), Emerge(parts[2], parts[1]), FadeIn(names[2]))
        self.step(*write(foot))

    def lane(self, name, middle, xs, y, words_):
        m = self.model
        first, function, line, last = words_
        parts = Group(batch(Photograph(self.run, side=1.25), color=theme.GREY), middle, batch(sheet(tensors.content(self.run), 1.5, 1.2)))
        shapes = (f"B × {times(m.channels, m.image, m.image)}", self.shape(function, line), self.shape(function, "return"))
        names = Group(*(row(words(t, theme.LABEL, bold=True), words(s, theme.LABEL, theme.BLUE), gap=0.2) for t, s in zip(("Image grid", first, last), shapes)))
        for part, text, x in zip(parts, names, xs):
            part.move_to([x, y, 0])
            text.move_to([x, y - 0.76, 0], aligned_edge=UP)
        names[2].shift(min(0, STAGE.right - names[2].get_right()[0]) * RIGHT)
        label = words(name, theme.BODY, theme.BLUE, bold=True).move_to([STAGE.left, y, 0], aligned_edge=LEFT)
        return label, parts, names, [arrow([a.get_right()[0], y, 0], [b.get_left()[0], y, 0]) for a, b in zip(parts, parts[1:])]


class PatchRows(LabPage):
    route = "reference/s06/11"

    def title(self):
        return "First turn the feature grid into patch rows"

    def caption(self):
        m = self.model
        return (f"Flatten reads the {times(m.grid, m.grid)} places line by line into {m.patches}; transpose puts the {m.width} features last. From here on a "
                "row is a patch.")

    def notes(self):
        return ("Follow one feature while the grid is unrolled, then one patch while the table is turned. Does flatten mix pictures or merge features? No, "
                "it begins at axis 2, so the batch and the channels stay what they are. Only the two axes of space become one.")

    def build(self):
        m = self.model
        listing = self.listing("ViT.patch_rows")
        content = tensors.content(self.run)
        grid_ = content.reshape(m.grid, m.grid, m.width)
        side = 1.5
        photo = Photograph(self.run, side=1.5)
        sheets = Group(*(sheet(grid_[:, :, i], side, side).shift(i * 0.1 * (RIGHT + UP)) for i in (4, 3, 2, 1, 0)))
        flat, tall = sheet(content.T, 2.2, 1.8), sheet(content, 1.8, 2.0)
        parts, names, arrows = self.chain(self.below(listing),
                                          (batch(photo, color=theme.GREY),
                                           f"images x: B × {times(m.channels, m.image, m.image)}\naxis 0: the number of images"), (sheets, "Feature grid"),
                                          (batch(flat), "Flatten spatial axes"), (batch(tall), "Features last"), most=1.4)
        number = self.dog.photo.places["nose"] - 1
        front = sheets[-1]
        step = front.image.width / m.grid
        lines = [front.values[i : i + 1] for i in range(m.grid)]
        start = np.array([[front.image.get_center()[0], front.image.get_top()[1] - (i + 0.5) * step, front.image.width, step] for i in range(m.grid)])
        first = flat.row(0)
        piece = flat.image.width / m.grid
        goal = np.array([[first.get_left()[0] + (i + 0.5) * piece, flat.image.get_top()[1] - 0.05, piece, 0.1] for i in range(m.grid)])
        limit = float(np.nanquantile(np.abs(front.values), 0.98)) if np.isfinite(front.values).any() else 1.0
        tiles = Tiles([self.colors(line, limit) for line in lines], start)
        column_ = flat.column(number)
        mark = Rectangle(width=max(column_.width, 0.08), height=flat.image.height + 0.1, stroke_color=theme.AMBER, stroke_width=3.5).move_to(column_)
        turned = tall.mark(number)
        name = words(rows.name(number + 1), theme.SMALL, theme.AMBER, bold=True).next_to(turned, LEFT, buff=0.08)
        self.step(*listing.open(), *(FadeIn(p) for p in parts[0]), FadeIn(names[0]))
        self.step(*listing.read("grid = self.patch"), *draw(arrows[0]), *(FadeIn(s) for s in sheets), FadeIn(names[1]), lag_ratio=0.1)
        self.step(*listing.read("rows = grid.flatten"), *draw(arrows[1]), FadeIn(names[2]), FadeIn(parts[2][0]))
        self.add(tiles)
        self.go(Glide(tiles, goal, lag=0.08, run_time=1.4))
        self.go(FadeIn(flat))
        self.remove(tiles)
        self.step(*listing.read("return rows.transpose"), *draw(arrows[2]), FadeIn(parts[3]), FadeIn(names[3]), FadeIn(mark))
        self.go(TransformFromCopy(mark, turned), run_time=1.0)
        self.go(FadeIn(name))

    def colors(self, values, limit):
        shown = theme.ramp(np.nan_to_num(values), "#4A5468", theme.BLUE, limit)
        shown[np.isnan(values)] = theme.rgb("#E9EBF1")
        return shown


class PrependCls(LabPage):
    route = "reference/s06/12"

    def title(self):
        return "Then prepend CLS and add position"

    def caption(self):
        m = self.model
        return ("Expand lends the one learned CLS start to every picture of the batch, and cat puts it in front: one row more. Adding positions changes "
                f"numbers; {m.tokens} rows of {m.width} features remain.")

    def notes(self):
        return ("Which line changes how many rows there are? Only the concatenation, along dim=1. Expand copies no memory, it lets every picture look at the "
                "same parameter. The sum in the last line uses the same position table for every picture, too.")

    def build(self):
        listing = self.listing("ViT.embed")
        content = tensors.content(self.run)
        size = 1.42
        patch = sheet(content, 2.0, size)
        cls = Strip(self.dog.cls.s, theme.AMBER, 2.0, 0.17)
        again = sheet(content, 2.0, size)
        first = cls.copy()
        joined_ = Group(first, again).arrange(DOWN, buff=0.07)
        position = sheet(tensors.table(self.run, "p"), 2.0, joined_.height, theme.AMBER)
        total = sheet(tensors.table(self.run, "e"), 2.0, joined_.height)
        area = self.below(listing)
        parts, names, arrows = self.chain(area, (batch(patch), "Patch rows"), (batch(joined_), "Prepend one CLS"),
                                          (position, f"self.pos: {self.shape('ViT.__init__', 'self.pos')}"), (batch(total), "Add position"), most=1.1)
        plus, equals = (joint(s, radius=0.24).move_to(a) for s, a in zip("+=", arrows[1:]))
        self.step(*listing.open())
        self.go(*listing.read("rows = self.patch_rows"), FadeIn(parts[0]), FadeIn(names[0]))
        token = Strip(self.dog.cls.s, theme.AMBER, 2.0, 0.17)
        token.move_to([joined_.get_center()[0], area.top, 0], aligned_edge=UP)
        spot = Group(token, words(f"self.cls: {self.shape('ViT.__init__', 'self.cls')}", theme.SMALL, theme.AMBER, bold=True).next_to(token, LEFT, buff=0.2))
        self.step(*listing.read("cls = self.cls.expand"), FadeIn(spot))
        self.step(*listing.read("rows = torch.cat"), *draw(arrows[0]), FadeIn(parts[1][0]))
        self.go(Emerge(again, patch))
        self.go(Emerge(first, token), FadeIn(names[1]))
        self.step(*listing.read("return rows + self.pos"), FadeIn(plus), FadeIn(position, shift=0.2 * LEFT), FadeIn(names[2]))
        self.go(FadeIn(equals), FadeIn(parts[3]), FadeIn(names[3]))


class MakeQkv(LabPage):
    route = "reference/s06/13"

    def title(self):
        return f"Make queries, keys and values for {figures.number_word(self.model.heads)} heads"

    def caption(self):
        m = self.model
        return (f"One Linear layer gives every row {count(3 * m.width)} numbers at once; reshape cuts them into three roles with "
                f"{figures.number_word(m.heads)} heads each, {m.head_width} wide.")

    def notes(self):
        return ("Two axes have length three, and they mean different things: one picks the role Q, K or V, the other the head. The permutation only brings "
                "the role to the front, so that unbind can hand out three tensors. The batch stays an axis of its own throughout.")

    def build(self):
        m = self.model
        listing = self.listing("Attention.split")
        legend = local_roles()
        area = self.below(listing)
        x = sheet(tensors.table(self.run, "x"), 1.6, 1.7)
        roles = [np.concatenate(tensors.heads(self.run, r), axis=1) for r in "qkv"]
        wide = Group(*(sheet(values, 1.25, 1.7) for values in roles)).arrange(RIGHT, buff=0)
        marks = Group(*(words(c, theme.BODY, bold=True).next_to(part, UP, buff=0.06) for c, part in zip("QKV", wide)))
        small = Group(*(Group(*(sheet(h, 0.62, 0.56, head_color(i)) for i, h in enumerate(tensors.heads(self.run, r), 1))).arrange(RIGHT, buff=0.1)
                        for r in "qkv")).arrange(DOWN, buff=0.1)
        split = Group(small)
        parts, names, arrows = self.chain(area, (batch(x), "Input rows"), (wide, f"QKV projection: {m.width} → {count(3 * m.width)}"),
                                          (split, "Split Q, K, V by head"), most=2.4)
        marks = Group(*(words(c, theme.LABEL, bold=True).next_to(part, UP, buff=0.04) for c, part in zip("QKV", wide)))
        letters = Group(*(words(c, theme.LABEL, bold=True).next_to(line, LEFT, buff=0.16) for c, line in zip("QKV", small)))
        arrows[1].become(arrow(wide.get_right(), [letters.get_left()[0], wide.get_center()[1], 0]))
        heads = Group(*(words(f"Head {i}", theme.SMALLEST_PX, head_color(i), bold=True).next_to(cell, UP, buff=0.04) for i, cell in enumerate(small[0], 1)))
        cuts = Group(*(outline(part, theme.INK, 2.4) for part in wide))
        self.step(*listing.open(), FadeIn(legend))
        self.go(*listing.read("B, N, D = x.shape"), FadeIn(parts[0]), FadeIn(names[0]))
        self.step(*listing.read("qkv = self.qkv"), *draw(arrows[0]), FadeIn(wide), FadeIn(names[1]))
        self.step(*listing.read("qkv = qkv.reshape"), FadeIn(cuts), *write(*marks))
        self.step(*listing.read("return qkv.permute"), *draw(arrows[1]), FadeIn(letters), FadeIn(names[2]))
        self.go(*(Emerge(line, part) for part, line in zip(wide, small)), lag_ratio=0.2, run_time=1.2)
        self.go(FadeIn(heads))


class MixMessages(LabPage):
    route = "reference/s06/14"

    def title(self):
        return "Compute one message for every query in every head"

    def caption(self):
        m = self.model
        return (f"In each head every query scores all {m.tokens} sources, softmax makes shares of its row, and the shares of V add up to one message of "
                f"{m.head_width} features.")

    def notes(self):
        m = self.model
        return (f"The three tables are those of head 1 in block 1 for our {figures.picture_word(self.run, 'dog')}. Along which axis do the weights sum to "
                f"one? The last: each receiver has shares of its own. The {round(m.head_width**0.5)} is the square root of the head’s {m.head_width} "
                "features. The marked row belongs to the nose patch all the way.")

    def build(self):
        m, number = self.model, self.dog.photo.places["nose"]
        listing = self.listing("Attention.mix")
        legend = local_roles()
        s, a, v, out = tensors.scores(self.run), tensors.weights(self.run), tensors.heads(self.run, "v")[0], tensors.messages(self.run)
        side = 1.75
        scores = sheet(s, side, side, theme.GOLD)
        weights = sheet(a, side, side, theme.TEAL)
        values, messages = sheet(v, 0.75, side), sheet(out, 0.75, side)
        parts, names, arrows = self.chain(self.below(listing), (batch(scores), f"Query–key scores\n{times(m.tokens, m.tokens)}"),
                                          (batch(weights), f"Softmax over sources\n{times(m.tokens, m.tokens)}"),
                                          (batch(values), f"values V\n{times(m.tokens, m.head_width)}"),
                                          (batch(messages), f"Weighted value sums\n{times(m.tokens, m.head_width)}"), most=1.35)
        marks = [matrix.mark(number) for matrix in (scores, weights, messages)]
        name = words(rows.name(number), theme.SMALL, theme.AMBER, bold=True).next_to(marks[0], LEFT, buff=0.1)
        cross, equals = joint("×").move_to(arrows[1]), joint("=").move_to(arrows[2])
        self.step(*listing.open(), FadeIn(legend))
        self.step(*listing.read("scores ="), FadeIn(parts[0]), FadeIn(names[0]))
        self.go(FadeIn(marks[0]), FadeIn(name))
        self.step(*listing.read("weights ="), *draw(arrows[0]), FadeIn(parts[1]), FadeIn(names[1]))
        self.go(TransformFromCopy(marks[0], marks[1]))
        self.step(*listing.read("return weights"), FadeIn(cross), FadeIn(parts[2]), FadeIn(names[2]))
        self.go(FadeIn(equals), FadeIn(parts[3]), FadeIn(names[3]))
        self.go(TransformFromCopy(marks[1], marks[2]))


class JoinHeads(LabPage):
    route = "reference/s06/15"

    def title(self):
        return f"Join the head messages and project back to {self.model.width}"

    def caption(self):
        m = self.model
        return (f"Each row lays its {figures.number_word(m.heads)} messages side by side, {times(m.heads, m.head_width)} = {m.width} numbers. The output "
                "projection then mixes across heads, before the residual addition.")

    def notes(self):
        return ("What stands below is one row, that of CLS in block 1: three messages, joined, projected. Are rows or pictures joined to each other? "
                "Neither. Every row of every picture keeps its own three messages, and only the features of the heads move together.")

    def build(self):
        m, block = self.model, self.dog.block1
        listing = self.listing("Attention.forward")
        legend = local_roles()
        area = self.below(listing)
        width = 4.0
        third = width / m.heads
        known_ = block.cls_messages or [None] * m.heads
        blank = Vector.unknown(m.head_width)
        apart = Group(*(self.strip(v or blank, head_color(i), third, v is None) for i, v in enumerate(known_, 1))).arrange(DOWN, buff=0.2)
        names = Group(*(words(f"head {i}", theme.SMALL, head_color(i), bold=True).next_to(s, LEFT, buff=0.14) for i, s in enumerate(apart, 1)))
        together = Group(*(self.strip(v or blank, head_color(i), third, v is None) for i, v in enumerate(known_, 1))).arrange(RIGHT, buff=0)
        layer = Box("Output projection", words(f"{m.width} → {m.width}", theme.LABEL, theme.GREY), size=theme.LABEL, width=2.55, height=1.15)
        update = self.strip(block.update or Vector.unknown(m.width), theme.BLUE, 2.5, block.update is None)
        y = area.center[1] + 0.12
        left = Group(apart, names)
        left.move_to([area.left, y, 0], aligned_edge=LEFT)
        together.move_to([left.get_right()[0] + 0.75, y, 0], aligned_edge=LEFT)
        layer.move_to([together.get_right()[0] + 0.55, y, 0], aligned_edge=LEFT)
        update.move_to([layer.get_right()[0] + 0.55, y, 0], aligned_edge=LEFT)
        update.stretch_to_fit_width(area.right - layer.get_right()[0] - 0.55).move_to([area.right, y, 0], aligned_edge=RIGHT)
        ways = [arrow([a.get_right()[0], y, 0], [b.get_left()[0], y, 0]) for a, b in ((left, together), (together, layer), (layer, update))]
        low = min(left.get_bottom()[1], layer.get_bottom()[1]) - 0.12
        captions = [self.lines(t).move_to([p.get_center()[0], low, 0], aligned_edge=UP) for t, p in
                    ((f"Three messages per row\n{times(m.heads, m.head_width)}", left), (f"Concatenate features\n{m.width}", together),
                     (f"update\n{m.width}", update))]
        row_ = words("one row: CLS, block 1", theme.LABEL, theme.AMBER, bold=True).next_to(apart, UP, buff=0.14).align_to([area.left, 0, 0], LEFT)
        self.step(*listing.open(), FadeIn(legend))
        self.step(*listing.read("messages = self.mix"), FadeIn(apart), FadeIn(names), FadeIn(captions[0]), FadeIn(row_))
        self.step(*listing.read("joined = messages.transpose", "joined = joined.reshape"), *draw(ways[0]))
        self.go(*(TransformFromCopy(a, b) for a, b in zip(apart, together)), lag_ratio=0.2, run_time=1.1)
        self.go(FadeIn(captions[1]))
        self.step(*listing.read("return self.proj"), *draw(ways[1]), FadeIn(layer))
        self.go(*draw(ways[2]), Emerge(update, layer), FadeIn(captions[2]))

    def strip(self, vector, color, width, unknown):
        if unknown:
            return Group(sheet(np.full((1, vector.length), np.nan), width, 0.4, color))
        return Strip(vector, color, width, 0.4)


class BlockLayers(LabPage):
    route = "reference/s06/16"

    def title(self):
        return "Build the layers inside one Transformer block"

    def caption(self):
        m = self.model
        return (f"A block owns two normalization layers, one attention module and one MLP. The MLP widens each row to {m.hidden} units and brings it back to "
                f"{m.width}.")

    def notes(self):
        m = self.model
        return (f"Nothing runs yet; these lines only make the layers and their parameters. Does the hidden width of {m.hidden} change how many rows there "
                "are? No, it is the feature axis that grows and shrinks; batch and rows are left alone.")

    def build(self):
        m = self.model
        left, right = STAGE.columns(1.7, 1, gap=0.5)
        piece = self.piece("Block.__init__", "self.norm1", "nn.Linear(768, 192))")
        listing = Listing(piece, self.run.lab, left.width, theme.CAPTION, shapes=False, gap=0.2)
        left.place(listing, LEFT)
        norm = [Box("LayerNorm", color=theme.GREY, size=theme.LABEL, width=3.6, height=0.6) for _ in range(2)]
        mix = Box("Attention", words("mix information across rows", theme.SMALL, theme.GREY), size=theme.BODY, width=3.9, height=1.1)
        mlp = Neurons("MLP", words(f"{m.width} → {m.hidden} → {m.width}", theme.LABEL, theme.GREY), size=theme.BODY, width=3.9)
        stack = Group(norm[0], mix, norm[1], mlp).arrange(DOWN, buff=0.32)
        right.place(stack)
        ways = [arrow(a, b, side=DOWN, gap=0.04) for a, b in zip(stack, stack[1:])]
        self.step(*listing.open())
        self.step(*listing.read("self.norm1", "self.attn"), FadeIn(norm[0]), *draw(ways[0]), FadeIn(mix))
        self.step(*listing.read("self.norm2"), *draw(ways[1]), FadeIn(norm[1]))
        self.step(*listing.read("self.mlp", "nn.Linear(192", "nn.Linear(768"), *draw(ways[2]), FadeIn(mlp))


class TwoResiduals(LabPage):
    route = "reference/s06/17"

    def title(self):
        return "Use the two residual paths in order"

    def caption(self):
        return ("Normalize, get the attention update, add what came in. Then the same once more with the MLP, starting from the rows that attention has "
                "already changed.")

    def notes(self):
        return ("Which x goes into the second line? The one that the first line has just made. Both branches give back the shape they were given, or the "
                "addition could not work. The grey path below carries the rows past each branch unchanged.")

    def build(self):
        listing = self.listing("Block.forward")
        area = self.below(listing)
        first = Lane(Box("LayerNorm", color=theme.GREY, size=theme.LABEL, height=0.85), Box("Attention", size=theme.BODY, height=1.0), gap=0.5, lead=0.9)
        second = Lane(Box("LayerNorm", color=theme.GREY, size=theme.LABEL, height=0.85), Box("MLP", size=theme.BODY, height=1.0, width=1.7), gap=0.5, lead=1.3)
        second.shift(first.exit - second.entry + 0.05 * RIGHT)
        end = arrow(second.exit, second.exit + 1.0 * RIGHT, gap=0.04)
        body = Group(first, second, end)
        area.place(body).shift(0.12 * UP)
        shape = self.shape("Block.forward", "return x")
        labels = [column(words(t, theme.LABEL, theme.BLUE, bold=True), words(shape, theme.SMALL, theme.GREY), gap=0.0)
                  for t in ("Input x", "Attention + input", "MLP + input")]
        y = body.get_bottom()[1] - 0.1
        for label, x in zip(labels, (first.entry[0] + 0.35, second.entry[0] + 0.3, end.get_right()[0] - 0.5)):
            label.move_to([x, y, 0], aligned_edge=UP)
        labels[0].align_to([area.left, 0, 0], LEFT) if labels[0].get_left()[0] < area.left else None
        labels[2].align_to([area.right, 0, 0], RIGHT) if labels[2].get_right()[0] > area.right else None
        self.step(*listing.open())
        self.step(FadeIn(labels[0]), *listing.read("x = x + self.attn"), *first.branch(), lag_ratio=0.12)
        self.go(*first.close())
        self.go(FadeIn(labels[1]))
        self.step(*listing.read("x = x + self.mlp"), *second.branch(), lag_ratio=0.12)
        self.go(*second.close())
        self.step(*listing.read("return x"), *draw(end), FadeIn(labels[2]))


class TwelveBlocks(LabPage):
    route = "reference/s06/18"

    def title(self):
        return f"Create {figures.number_word(self.model.depth)} blocks with separate learned parameters"

    def caption(self):
        return (f"ModuleList holds {figures.number_word(self.model.depth)} blocks, each made anew. The last LayerNorm and the class head read what the whole "
                "stack hands over.")

    def notes(self):
        m = self.model
        return (f"Is this one block, called {figures.number_word(m.depth)} times? No. The list comprehension calls Block() each time, so every block gets "
                f"{count(m.parameters.block)} parameters of its own. Their outputs all have the same shape, which is what makes stacking so easy.")

    def build(self):
        m = self.model
        listing = self.listing(self.piece("ViT.__init__", "self.blocks", "self.head"), shapes=False)
        area = self.below(listing)
        gap = 0.12
        width = (area.width - 4.3 - gap * (m.depth - 1)) / m.depth
        blocks = Group(*(Box(words(str(i), theme.LABEL, theme.BLUE, bold=True), width=width, height=1.5, pad=0.05)
                         for i in range(1, m.depth + 1))).arrange(RIGHT, buff=gap)
        blocks.move_to([area.left + blocks.width / 2, area.center[1] + 0.35, 0])
        tail = Group(Box("LayerNorm", color=theme.GREY, size=theme.SMALL, width=1.55, height=1.0),
                     Box("Class head", size=theme.SMALL, width=1.55, height=1.0)).arrange(RIGHT, buff=0.35)
        tail.move_to([area.right, blocks.get_center()[1], 0], aligned_edge=RIGHT)
        ways = [arrow(blocks, tail[0], gap=0.05), arrow(tail[0], tail[1], gap=0.04)]
        shape = self.shape("ViT.forward", "rows = block")
        labels = [column(words(t, theme.LABEL, theme.BLUE, bold=True), words(shape, theme.SMALL, theme.GREY), gap=0.0)
                  for t in ("Block 1", f"Blocks 2–{m.depth - 1}", f"Block {m.depth}")]
        y = blocks.get_bottom()[1] - 0.14
        labels[0].move_to([blocks.get_left()[0], y, 0], aligned_edge=UP + LEFT)
        labels[1].move_to([blocks.get_center()[0], y, 0], aligned_edge=UP)
        labels[2].move_to([blocks.get_right()[0], y, 0], aligned_edge=UP + RIGHT)
        own = words(f"each with {count(m.parameters.block)} parameters of its own", theme.LABEL, theme.ORANGE, bold=True)
        own.next_to(blocks, UP, buff=0.14)
        self.step(*listing.open())
        self.step(*listing.read("self.blocks"), FadeIn(blocks[0]), FadeIn(labels[0]))
        self.go(*(TransformFromCopy(blocks[0], b) for b in blocks[1:]), lag_ratio=0.12, run_time=1.4)
        self.go(FadeIn(labels[1]), FadeIn(labels[2]))
        self.step(*write(own))
        self.step(*listing.read("self.norm", "self.head"), *draw(*ways), FadeIn(tail))


class RunTheStack(LabPage):
    route = "reference/s06/19"

    def title(self):
        return "Run the stack, then read the final CLS"

    def caption(self):
        m, ran = self.model, self.run.lab
        start = f"Blocks pass their rows on, then the normalized CLS row alone reaches the head, which returns {count(m.classes)} scores."
        return start if ran is None else f"{start} They differ from timm’s by at most {tiny(ran.logit_difference)}."

    def notes(self):
        return ("The loop is the whole stack. The index in the line after it keeps every picture and every feature, and of the rows only number zero, which "
                "is CLS. Why no softmax here? The loss takes logits directly; for percentages one calls softmax on them afterwards.")

    def build(self):
        m = self.model
        listing = self.listing("ViT.forward", gap=0.08)
        area = self.below(listing)
        e = sheet(tensors.table(self.run, "e"), 1.5, 1.7)
        blocks = Group(*(Box("", width=0.26, height=1.5, size=theme.SMALL) for _ in range(m.depth))).arrange(RIGHT, buff=0.05)
        stack = Group(blocks)
        h = Strip(self.dog.h, theme.AMBER, 2.2, 0.36)
        top = self.dog.prediction.top
        scores = self.scores(top)
        parts, names, arrows = self.chain(area, (batch(e), f"All rows\n{self.shape('ViT.forward', 'rows = self.embed')}"),
                                          (stack, f"through {m.depth} blocks\n{self.shape('ViT.forward', 'rows = block')}"),
                                          (h, f"Normalize; select CLS\n{self.shape('ViT.forward', 'summary')}"),
                                          (scores, f"Class head\n{self.shape('ViT.forward', 'return')}"), most=1.1)
        mark = e.mark(0)
        self.step(*listing.open())
        self.step(*listing.read("rows = self.embed"), FadeIn(parts[0]), FadeIn(names[0]))
        self.step(*listing.read("for block in", "rows = block"), *draw(arrows[0]), *(FadeIn(b, shift=0.1 * RIGHT) for b in blocks), lag_ratio=0.08)
        self.go(FadeIn(names[1]))
        self.step(*listing.read("summary ="), *draw(arrows[1]), FadeIn(names[2]), FadeIn(mark))
        self.go(Emerge(h, mark))
        self.step(*listing.read("return self.head"), *draw(arrows[2]), *(FadeIn(s) for s in scores), FadeIn(names[3]), lag_ratio=0.1)

    def scores(self, top):
        """The logits of the three best classes as bars."""
        shown = [s for s in top[:3] if s.logit is not None] or top[:3]
        size = max(abs(s.logit if s.logit is not None else s.probability) for s in shown) or 1.0
        lines = Group()
        for i, s in enumerate(shown):
            value = s.logit if s.logit is not None else s.probability
            bar = Rectangle(width=max(1.0 * abs(value) / size, 0.02), height=0.26, stroke_width=0, fill_color=theme.tint(theme.BLUE, 1 if i == 0 else 0.45),
                            fill_opacity=1)
            label = words(s.label, theme.SMALL, bold=i == 0)
            fit(label, 2.0, 1)
            lines.add(Group(label, bar, words(num(value, 2), theme.SMALL)))
        wide = max(line[0].width for line in lines)
        for i, line in enumerate(lines):
            line[0].move_to([0, -0.5 * i, 0], aligned_edge=RIGHT)
            line[1].move_to([0.15, -0.5 * i, 0], aligned_edge=LEFT)
            line[2].next_to(line[1], RIGHT, buff=0.12)
        return lines if wide else Group()


class OneStep(LabPage):
    route = "reference/s06/20"

    def title(self):
        return "Connect the loss diagram to one training step"

    def caption(self):
        step = self.run.lab.step if self.run.lab else None
        if step is None:
            return ("Loss from logits and class numbers, gradients backward, one change of the parameters; old gradients go first. The page shows the "
                    "procedure and claims no trained result.")
        change = "falls" if step.after < step.before else "rises"
        return (f"The code ran once on the run’s two pictures: the loss {change} from {num(step.before)} to {num(step.after)}. It shows the procedure and "
                "claims no trained model. Clear old gradients before each batch.")

    def notes(self):
        return ("Walk through the lines in order and point at the diagram. Should we apply softmax before the loss? No, cross_entropy contains it. The "
                "labels are one whole number for each picture. Backward fills the gradients of every parameter, position, CLS and patch projection included; "
                "only the optimizer’s step changes a number.")

    def build(self):
        m = self.model
        step = self.run.lab.step if self.run.lab else None
        left, right = STAGE.columns(1.3, 1, gap=0.45)
        listing = Listing(self.piece("training_step", "model.train", "optimizer.step"), self.run.lab, left.width, theme.LABEL + 2, gap=0.13)
        left.place(listing, UP + LEFT)
        photos = Group(Photograph(self.run, "dog", 1.15), Photograph(self.run, "cat", 1.15)).arrange(RIGHT, buff=0.12)
        model = Box("Model", words(f"B × {count(m.classes)} logits", theme.SMALL, theme.GREY), size=theme.BODY, width=2.55, height=1.1)
        loss = Box("cross-entropy", words("one scalar loss", theme.SMALL, theme.GREY), color=theme.RED, size=theme.LABEL, width=2.55, height=1.1)
        numbers = Box(" · ".join(str(i) for i in step.labels) if step else "class numbers", color=theme.GREY, size=theme.LABEL, width=2.42)
        photos.move_to([right.left, right.top, 0], aligned_edge=UP + LEFT)
        model.move_to([right.right - 1.275, photos.get_center()[1], 0])
        loss.move_to([model.get_center()[0], model.get_center()[1] - 2.1, 0])
        numbers.move_to([photos.get_center()[0], loss.get_center()[1], 0])
        images = Group(photos, words(f"Images B × {times(m.channels, m.image, m.image)}", theme.SMALL, theme.GREY).next_to(photos, DOWN, buff=0.05))
        labels = Group(numbers, words("labels B", theme.SMALL, theme.GREY).next_to(numbers, DOWN, buff=0.05))
        ways = [arrow(photos, model), arrow(model.get_bottom() + 0.55 * LEFT, loss.get_top() + 0.55 * LEFT), arrow(numbers, loss)]
        forward_ = words("Forward", theme.SMALL, theme.INK, bold=True).next_to(ways[1], LEFT, buff=0.1)
        x = model.get_center()[0] - 0.1
        back = backward(np.array([x, loss.get_top()[1] + 0.08, 0]), np.array([x, model.get_bottom()[1] - 0.08, 0]))
        back_name = words("backward:\ngradients", theme.SMALL, theme.ORANGE, bold=True).next_to(back, RIGHT, buff=0.1)
        parts = [self.gradient_table(step), self.loss_line(step)]
        halves = [Area(a.left, STAGE.bottom, a.right, top - 0.3) for a, top in ((left, listing.frame.get_bottom()[1]), (right, labels.get_bottom()[1]))]
        cards = [panel(a.width, a.height).move_to(a.center) for a in halves]
        for card, part in zip(cards, parts):
            part.move_to(card)
        self.step(*listing.open(), FadeIn(images), FadeIn(labels))
        self.go(*listing.read("model.train", "optimizer.zero_grad"))
        self.step(*listing.read("logits ="), *draw(ways[0]), FadeIn(model))
        self.step(*listing.read("loss = F.cross"), *draw(ways[1], ways[2]), FadeIn(loss), FadeIn(forward_))
        self.step(*listing.read("loss.backward"), *draw(back), FadeIn(back_name))
        self.go(FadeIn(cards[0]), *write(parts[0]))
        self.step(*listing.read("optimizer.step"), FadeIn(cards[1]), *write(parts[1]))

    def gradient_table(self, step):
        names = ("position", "CLS", "patch projection")
        if step is None:
            return words("gradients reach position, CLS and patch projection", theme.LABEL, theme.ORANGE)
        entries = row(*(column(words(n, theme.LABEL), words(_length(v), theme.TITLE - 10, theme.ORANGE, bold=True), gap=0.02) for n, v in
                        zip(names, (step.gradients[k] for k in ("position", "cls", "patch projection")))), gap=0.7)
        return column(words("length of the gradient that arrives at", theme.LABEL, theme.GREY), entries, gap=0.3)

    def loss_line(self, step):
        if step is None:
            return words("step: parameters change", theme.LABEL, theme.ORANGE, bold=True)
        line = row(words(num(step.before), theme.TITLE - 10), words("→", theme.TITLE - 10, theme.GREY),
                   words(num(step.after), theme.TITLE - 10, theme.ORANGE, bold=True), gap=0.3)
        return column(words("step: parameters change", theme.LABEL, bold=True), words("loss on the same batch", theme.SMALL, theme.GREY), line, gap=0.06)


def _length(value):
    """A gradient's length, which may be very small."""
    return num(value) if value >= 0.0005 else tiny(value)
