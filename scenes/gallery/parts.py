"""One page for each part of the kit, drawn from the run like any slide."""

import numpy as np

from scenes.kit import *  # noqa: F403
from vit_data import rows


class Part(Slide):
    """A page of the gallery: the part in the middle, its use in the caption."""

    step_range = (1, 2)
    name = use = ""

    def title(self):
        return self.name

    def caption(self):
        return self.use

    def notes(self):
        return f"{self.name}: {self.use}"

    def build(self):
        self.step(STAGE.place(self.part()))

    def part(self):
        raise NotImplementedError


class TextPage(Part):
    route, name, use = (
        "gallery/parts/1",
        "words, math, code",
        "Typst sets every string. Stars make bold, dollar signs mathematics, backticks code; symbols like c₆₃ get their subscript.",
    )

    def part(self):
        return column(
            words("Words in Lato, *bold*, with numbers 1,397,124 and −0.875"),
            math('S = q k^T / sqrt(64), quad A = upright("softmax")(S)', theme.CAPTION, theme.BLUE),
            code("nn.Linear(768, 192)"),
            words("A wrapped paragraph keeps its line box, so that neighbours share a baseline.", width=5.5, align="center"),
            gap=0.4,
        )


class PhotographPage(Part):
    route, name, use = (
        "gallery/parts/2",
        "Photograph",
        "The model's input with its patch grid; a patch in outline, its own pixels enlarged, lines between the two.",
    )

    def part(self):
        nose = self.dog.place("nose")
        photo = Photograph(self.run, side=4.6, grid=True)
        crop = photo.crop(nose, 2.4).next_to(photo, RIGHT, buff=2)
        return Group(photo, photo.patch(nose, theme.AMBER), crop, photo.zoom_lines(nose, crop))


class CropPage(Part):
    route, name, use = "gallery/parts/3", "Crop", "A patch with sharp pixels, single pixels in outline, and the three channels apart."

    def part(self):
        crop = Photograph(self.run).crop(self.dog.place("nose"), 3.2)
        return row(Group(crop, crop.pixel(1), crop.pixel(2, theme.AMBER)), *(crop.channel(i) for i in range(3)), gap=0.35)


class AxesPage(Part):
    route, name, use = "gallery/parts/4", "Photograph.axes", "x to the right, y downwards, both in pixels of the model's input."

    def part(self):
        photo = Photograph(self.run, side=4)
        return Group(photo, photo.axes())


class CoverPage(Part):
    route, name, use = "gallery/parts/5", "Photograph.cover", "A grey rectangle given in pixels: what an occlusion test hides from the model."

    def part(self):
        cover = self.dog.covers.quadrants[0]
        photo = Photograph(self.run, side=4.5)
        return Group(photo, photo.cover(cover, self.dog.covers.fill))


class HeatPage(Part):
    route, name, use = "gallery/parts/6", "Photograph.heat, scale_bar", "A map of patch values over the quieted picture, with the scale that its colours mean."

    def part(self):
        found = self.dog.attention[0]
        photo = Photograph(self.run, side=4)
        layers = [photo, photo.veil()]
        if found.values:
            layers.append(photo.heat(found.values[1:], found.largest, theme.TEAL))
        layers.append(photo.patch(found.query) if rows.index(found.query) else Group())
        return column(Group(*layers), scale_bar("0", pct(found.largest or found.strongest_weight), (None, theme.TEAL)), gap=0.25)


class StripPage(Part):
    route, name, use = (
        "gallery/parts/7",
        "Strip, named_row",
        "A vector as coloured cells: hue for positive, charcoal for negative. The hue says what it is: picture, learned, language.",
    )

    def part(self):
        patch = self.dog.patches[self.dog.place("nose")]
        return column(
            named_row("c", patch.c, theme.BLUE, width=6),
            named_row("p", patch.p, theme.AMBER, width=6),
            named_row("h", self.dog.h, theme.PURPLE, width=6),
            gap=0.4,
        )


class FeaturesPage(Part):
    route, name, use = "gallery/parts/8", "features", "Named coordinates of a vector with their values."

    def part(self):
        c = self.dog.patches[self.dog.place("nose")].c
        return features(c, (1, 2, 3, c.length), size=theme.CAPTION, gap=0.8)


class MatrixPage(Part):
    route, name, use = "gallery/parts/9", "Matrix", "A matrix as one image, its rows named, one of them marked; the mark moves, the matrix stays."

    def part(self):
        tokens, width = self.model.tokens, self.model.width
        waves = np.sin(np.arange(tokens)[:, None] * 0.11 + np.arange(width)[None, :] * 0.23)  # a pattern, not a measurement
        matrix = Matrix(
            waves, 4.2, 3.6, theme.BLUE, "E", times(tokens, width), {"CLS": 0, rows.name(tokens // 3): tokens // 3, rows.name(tokens - 1): tokens - 1}
        )
        return Group(matrix, matrix.mark(tokens // 3))


class PipelinePage(Part):
    route, name, use = "gallery/parts/10", "Box, Pipeline, here", "Stages with an arrow between neighbours; HERE says where the lecture is."

    def part(self):
        line = Pipeline(Box("Pixels", "224 × 224"), Box("Patches"), Box("Encoder"), Box("Head", color=theme.ORANGE))
        return Group(line, line.here(1))


class LayerPage(Part):
    route, name, use = "gallery/parts/11", "Layer, connections", "Neurons of two layers and every line between them; dots stand for the units left out."

    def part(self):
        left, right = Layer(["x₁", "x₂", None, "x₇₆₈"]), Layer(["c₁", None, "c₁₉₂"])
        pair = row(left, right, gap=3)
        return Group(connections(left, right), pair)


class BarsPage(Part):
    route, name, use = "gallery/parts/12", "Bars", "Class probabilities on one scale."

    def part(self):
        return Bars(self.dog.prediction.top)


class SumPage(Part):
    route, name, use = "gallery/parts/13", "sum_line", "An arithmetic line, revealed from left to right."

    def part(self):
        block = self.dog.block1
        e, d, u = self.dog.cls.e[1], block.update[1], block.u[1]
        return sum_line(num(e), "+" if d >= 0 else MINUS, num(abs(d)), "≈", words(num(u), bold=True), size=theme.TITLE)


class TablePage(Part):
    route, name, use = "gallery/parts/14", "Table", "Rows under a header; lines appear one by one."

    def part(self):
        return Table(
            ["Class", "Score", "Probability"],
            [[s.label, num(s.logit) if s.logit is not None else "–", pct(s.probability)] for s in self.dog.prediction.top],
            theme.BODY,
            align="lrr",
        )


class CodePage(Part):
    route, name, use = "gallery/parts/15", "Code", "A few lines of real program text, comments in grey, one line marked."

    def part(self):
        listing = Code("for block in self.blocks:\n    rows = block(rows)  # B, 197, 192\nreturn self.head(self.norm(rows)[:, 0])", theme.LABEL)
        return Group(listing, listing.mark(1))


class SkipPage(Part):
    route, name, use = "gallery/parts/16", "arrow, elbow, outline", "Arrows between parts, and the grey path of a residual."

    def part(self):
        boxes = row(Box("E"), Box("Attention"), Box("+", color=theme.SKIP), Box("U"), gap=0.9)
        arrows = [arrow(a, b) for a, b in zip(boxes, boxes[1:])]
        a, b = boxes[0].get_top(), boxes[2].get_top()
        return Group(boxes, *arrows, elbow(a, a + 0.8 * UP, b + 0.8 * UP, b))


class RolesPage(Part):
    route, name, use = (
        "gallery/parts/17",
        "local_roles, message_path, weight_pill, joint, pulse",
        "Receiver, source and message in one attention step, with the legend that stands above every such page.",
    )

    def part(self):
        photo = Photograph(self.run, side=4)
        receiver, source = self.dog.place("dark_patch"), self.dog.place("face")
        marks = Group(photo, photo.patch(receiver, RECEIVER), photo.patch(source, SOURCE), message_path(photo, source, receiver))
        return row(
            marks, column(*(weight_pill("weight", share, theme.LABEL) for share in (1.0, 0.5, 0.1)), gap=0.3), row(joint("+"), joint("×"), joint("Σ")), gap=1
        )

    def build(self):
        super().build()
        self.add(local_roles())


class CellsPage(Part):
    route, name, use = "gallery/parts/18", "Cells", "A row of numbers as a symbol, for rows that are not measured: scaled by a weight, and two of them added."

    def part(self):
        a, b = Cells((0.9, 0.2, 0.6, 0.4), theme.BLUE, 0.5), Cells((0.1, 0.7, 0.3, 0.2), theme.BLUE, 0.5)
        return column(
            row(a, words("×", theme.TITLE), weight_pill("½", 0.5, theme.BODY), words("=", theme.TITLE), a.times(0.5)),
            row(a.copy(), words("+", theme.TITLE), b, words("=", theme.TITLE), a.plus(b)),
            gap=0.6,
        )


class RoutePage(Part):
    route, name, use = (
        "gallery/parts/19",
        "Route",
        "The whole path, slim or with a few words a stage; the large form with icons stands on reference/s02/2. HERE can mark several stages.",
    )

    def part(self):
        slim, full = Route.standard(self.run, details=False), Route.standard(self.run)
        own = Route(
            [
                ("Pixels", times(3, self.model.image, self.model.image)),
                ("Rows", times(self.model.tokens, self.model.width)),
                ("Scores", count(self.model.classes)),
            ],
            width=9,
        )
        return column(
            Group(slim, slim.here(Route.ATTENTION)),
            Group(full, full.over(Route.ATTENTION, Route.MLP), full.here(Route.PATCHES, Route.PROJECTION)),
            Group(own, own.here(1)),
            gap=0.35,
        )


class BlockPage(Part):
    route, name, use = "gallery/parts/20", "Block", "The pre-LayerNorm block as a card and with its two branches; residual paths run below, in grey. Opened: reference/s04/3."

    def part(self):
        return column(Block(self.model, 1, Block.CARD), Block(self.model, 1, Block.BRANCHES), gap=0.6)


class HeadsPage(Part):
    route, name, use = "gallery/parts/21", "Heads, Concat, Neurons, Lane", "Three tints, one a head; a residual branch with whatever stands on it, and its way round."

    def part(self):
        heads, joint_, mlp = Heads(self.model.heads), Concat(self.model.heads), Neurons("MLP")
        return column(row(heads, joint_, mlp, gap=1.2), Lane(Box("LayerNorm"), Neurons("MLP")), gap=0.5)


class TokenMatrixPage(Part):
    route, name, use = (
        "gallery/parts/22",
        "TokenMatrix, TokenRow",
        "All tokens in one image: named rows and columns are drawn wider, CLS stands apart, and marks move over it.",
    )

    def part(self):
        m, names = self.model, token_names(self.run)
        found = self.dog.matrices
        q = TokenMatrix(found and found.q.array(), (m.tokens, m.head_width), 3.0, 3.4, theme.VIOLET, down=names, across=feature_names(m.head_width), title="Q")
        weights = self.dog.block1.head1.attention[rows.CLS].values
        line = TokenRow(weights and np.array(weights), names, m.tokens, 6.4, 0.6, theme.TEAL, weights=True)
        return row(Group(q, q.mark_row(rows.CLS)), line, gap=1.0)


class LearningPage(Part):
    route, name, use = "gallery/parts/23", "Learner, Net, flame, snowflake", "Orange and a flame: an optimizer may move these weights. Blue and a snowflake: it may not."

    def part(self):
        boxes = row(Learner("encoder", learns=False, width=2.8, height=1.0), Learner("new head", learns=True, width=2.8, height=1.0), gap=0.8)
        nets = row(Net((4, 6, 3), learns=False, width=2.4), Net((4, 6, 3), learns=True, width=2.4), sketch_dog(1.6), sketch_cat(1.6), gap=0.8)
        return column(boxes, nets, learning_key(), gap=0.5)


class ScoresPage(Part):
    route, name, use = "gallery/parts/24", "all_scores", "A score for every class as thin columns, the best of four neighbours each."

    def part(self):
        p = self.dog.prediction
        return row(*(column(all_scores(v, 4.6, 2.8), words(t, theme.BODY), gap=0.15) for v, t in ((p.logits, "logits"), (p.probabilities, "probabilities"))), gap=0.8)
