"""Section 11 of the reference deck: the whole model in one figure, the paper’s figure, and how CLS starts and learns."""

import numpy as np
from manim import Circle, GrowFromEdge, Polygon, Rectangle

from scenes.kit import *  # noqa: F403 - the kit is the vocabulary of a storyboard
from vit_data import figures

NAME, SHAPE = 24, theme.SMALLEST_PX  # pixels: what a box is called, what comes out of it


class WholeFigure(Slide):
    """Three columns: the picture becomes rows (down), the rows cross twelve blocks (to the right), CLS answers (up)."""

    route = "reference/s11/1"
    step_range = (2, 8)

    LEFT_COLUMN, PANEL, RIGHT_COLUMN = (76, 316), (342, 1578), (1604, 1844)
    LANES, MIDDLE, SKIP_E, RETURN, LOWER, SKIP_U, STRIP = (312, 408, 504), 408, 558, 590, 672, 740, 834

    def title(self):
        return "The whole Vision Transformer in one figure"

    def caption(self):
        m = self.model
        return (f"Down, across, up: pixels become {m.tokens} rows, {m.depth} blocks give them context, CLS alone answers. A label comes in only where the loss "
                "is made.")

    def notes(self):
        m = self.model
        return (f"Walk the path with one finger and name every shape: pixels, {m.patches} patch rows, CLS in front, positions added. Then the {m.depth} "
                "blocks, of which the first is open: "
                f"normalize, {m.heads} heads side by side, join, project, add E; normalize again, widen, bend, narrow, add U. "
                "Up the right side only the CLS row is left. Softmax turns its scores into the prediction; the loss takes the scores themselves and the known "
                "label.")

    # parts -------------------------------------------------------------------------------------------------------
    def cell(self, x0, x1, y, *lines, color=theme.BLUE, height=60, fill=0.07, stroke=2.2):
        """A box from x0 to x1 (pixels) at height y with its name and, smaller, its shape."""
        border = Frame(corner_radius=0.08, width=(x1 - x0) * theme.PX, height=height * theme.PX, stroke_color=color, stroke_width=stroke,
                       fill_color=theme.tint(color, fill), fill_opacity=1)
        texts = [words(t, NAME if i == 0 else SHAPE, color if i == 0 else theme.INK, bold=i == 0) if isinstance(t, str) else t for i, t in enumerate(lines)]
        label = column(*texts, gap=0.015)
        return Group(border, label).move_to(at((x0 + x1) / 2, y))

    def way(self, *points, color=theme.INK, width=2.6, tip=True):
        """An arrow along straight runs, corners in pixels."""
        if len(points) == 2 and tip:
            return arrow(at(*points[0]), at(*points[1]), color, gap=0, width=width)
        return elbow(*(at(*p) for p in points), color=color, width=width, tip=tip)

    def text(self, text, x, y, size=SHAPE, color=theme.INK, bold=False, edge=LEFT):
        return words(text, size, color, bold=bold).move_to(at(x, y), aligned_edge=edge)

    # the three columns -------------------------------------------------------------------------------------------
    def rows_column(self):
        """Picture, patches, projection, CLS, positions, E⁰: boxes and the arrows that lead to them."""
        m, (x0, x1) = self.model, self.LEFT_COLUMN
        head = self.text("*1 · RGB image*", x0, 186, 27, theme.BLUE)
        photo = Photograph(self.run, side=164 * theme.PX, grid=True).move_to(at((x0 + x1) / 2, 290))
        shape = self.text(times(m.channels, m.image, m.image), (x0 + x1) / 2, 388, edge=ORIGIN)
        heights, ys = (60, 60, 60, 48), (451, 548, 645, 731)
        texts = ((f"{m.patch} × {m.patch} patches", f"flatten → {times(m.patches, m.patch_values)}"),
                 ("Shared projection", f"{m.patch_values} → {m.width} + bias"),
                 ("Prepend learned CLS", f"{m.patches} + 1 = {m.tokens} rows"), ("+ learned positions",))
        boxes = [self.cell(x0, x1, y, *t, color=c, height=h) for y, t, h, c in zip(ys, texts, heights, (theme.BLUE, theme.BLUE, theme.AMBER, theme.AMBER))]
        start = self.cell(x0, x1, self.STRIP, words(f"$E^0$: {times(m.tokens, m.width)}", NAME, theme.BLUE), height=56, fill=0.16)
        x = (x0 + x1) / 2
        edges = [(402, 421), (481, 518), (578, 615), (675, 707), (755, 806)]
        ways = [self.way((x, a), (x, b)) for a, b in edges]
        return head, photo, shape, [*boxes, start], ways

    def strip(self):
        """Blocks 1 to 12 in a row, and the arrows between them."""
        m, (x0, _) = self.model, self.PANEL
        blocks, ways, pitch, width = Group(), [self.way((self.LEFT_COLUMN[1] + 2, self.STRIP), (x0 + 16, self.STRIP))], (1490 - x0 - 18) / m.depth, 62
        for i in range(m.depth):
            left = x0 + 18 + pitch * i
            block = self.cell(left, left + width, self.STRIP, words(str(i + 1), 27, theme.BLUE, bold=True), height=56, fill=0.3 if i == 0 else 0.07, stroke=4
                              if i == 0 else 2.2)
            blocks.add(block)
            if i:
                ways.append(self.way((left - pitch + width + 3, self.STRIP), (left - 2, self.STRIP)))
        end = blocks[-1].get_right()[0] / theme.PX + 960
        ways.append(self.way((end + 4, self.STRIP), (self.RIGHT_COLUMN[0] - 2, self.STRIP)))
        name = self.text(f"$E^{m.depth}$", (end + self.RIGHT_COLUMN[0]) / 2, self.STRIP - 20, NAME, theme.BLUE, edge=ORIGIN)
        return blocks, ways, name

    def opened(self, block):
        """The panel above the strip, held by block 1."""
        x0, x1 = self.PANEL
        top, bottom = 204, 770
        frame = Frame(corner_radius=0.12, width=(x1 - x0) * theme.PX, height=(bottom - top) * theme.PX, stroke_color=theme.tint(theme.BLUE, 0.6),
                      stroke_width=2.2,
                      fill_color=theme.tint(theme.BLUE, 0.025), fill_opacity=1).move_to(at((x0 + x1) / 2, (top + bottom) / 2))
        corners = [block.get_corner(UP + LEFT), block.get_corner(UP + RIGHT), at(x0 + 170, bottom), at(x0 + 6, bottom)]
        wedge = Polygon(*corners, stroke_width=0, fill_color=theme.BLUE, fill_opacity=0.1)
        name = self.text("INSIDE BLOCK 1", x0 + 18, 230, NAME, theme.BLUE, bold=True)
        others = self.text(f"Blocks 2–{self.model.depth} repeat this, each with weights of its own.", x0 + 222, 230, SHAPE, theme.GREY)
        kinds = self.text(f"*{self.model.heads} parallel heads* · No causal mask", x1 - 18, 230, SHAPE, theme.TEAL, edge=RIGHT)
        return frame, wedge, Group(name, others, kinds)

    def attention(self):
        """E to U: LN, three lanes, concatenation, projection, plus; in the order of the path."""
        m, x0 = self.model, self.PANEL[0]
        y, shape = self.MIDDLE, times(m.tokens, m.head_width)
        spans, x = {}, x0 + 44
        for name, width in (("ln", 112), ("qkv", 162), ("scores", 140), ("soft", 176), ("av", 112), ("concat", 136), ("out", 120), ("plus", 46)):
            spans[name] = (x, x + width)
            x += width + 22
        enter = [self.text("*E*", x0 + 16, 330, 30, theme.BLUE), self.text(times(m.tokens, m.width), x0 + 16, 357),
                 self.way((x0 + 4, y), (spans["ln"][0] - 2, y))]
        ln = self.cell(*spans["ln"], y, "LN 1", times(m.tokens, m.width), color=theme.GREY)
        lanes = []
        for h, lane in enumerate(self.LANES, 1):
            color = theme.HEADS[(h - 1) % len(theme.HEADS)]
            boxes = [self.cell(*spans["qkv"], lane, f"Head {h}: QKV", f"each {shape}", color=color, height=58),
                     self.cell(*spans["scores"], lane, words(f"$Q K^upright(T) \\/ sqrt({m.head_width})$", SHAPE + 2, theme.TEAL), times(m.tokens, m.tokens),
                               color=theme.TEAL, height=58),
                     self.cell(*spans["soft"], lane, words("$A$ = *softmax*", NAME, theme.TEAL), "over source keys", color=theme.TEAL, height=58, fill=0.2),
                     self.cell(*spans["av"], lane, words("$A V$", NAME + 2, color), shape, color=color, height=58)]
            ways = [self.way((spans["ln"][1] + 2, y), (spans["qkv"][0] - 2, lane))]
            ways += [self.way((spans[a][1] + 2, lane), (spans[b][0] - 2, lane)) for a,
                     b in zip(("qkv", "scores", "soft", "av"), ("scores", "soft", "av", "concat"))]
            top, turn, goal = lane - 29, spans["qkv"][1] - 24, spans["av"][0] + 56
            value = self.way((turn, top), (turn, top - 16), (goal, top - 16), (goal, top - 1), color=color, width=2.4)
            label = self.text("$V$", turn - 12, top - 14, SHAPE, color, edge=RIGHT)
            lanes.append((boxes, ways, value, label))
        tall = self.LANES[2] - self.LANES[0] + 58
        concat = self.cell(*spans["concat"], y, "Concat", f"{m.heads} × {m.head_width} = {m.width}", height=tall)
        bands = Group(*(Rectangle(width=(spans["concat"][1] - spans["concat"][0] - 8) * theme.PX, height=(tall - 8) / m.heads * theme.PX, stroke_width=0,
                                  fill_color=theme.tint(theme.HEADS[h % 3], 0.26), fill_opacity=1)
                        for h in range(m.heads))).arrange(DOWN, buff=2 * theme.PX).move_to(concat[0])
        concat = Group(concat[0], bands, concat[1])
        project = self.cell(*spans["out"], y, words("$W_O + b$", NAME, theme.BLUE), f"{m.width} → {m.width}")
        plus = joint("+", radius=23 * theme.PX).move_to(at(sum(spans["plus"]) / 2, y))
        px, fork = sum(spans["plus"]) / 2, x0 + 22
        skip = self.way((fork, y), (fork, self.SKIP_E), (px, self.SKIP_E), (px, y + 24), color=theme.SKIP, width=3.4)
        skip_name = self.text("skip: *E*", fork + 14, self.SKIP_E - 16, SHAPE, theme.SKIP)
        join = [self.way((spans["concat"][1] + 2, y), (spans["out"][0] - 2, y)), self.way((spans["out"][1] + 2, y), (spans["plus"][0] - 2, y))]
        edge = self.PANEL[1] - 16
        back = self.way((spans["plus"][1], y), (edge, y), (edge, self.RETURN), (fork, self.RETURN), (fork, self.LOWER), (x0 + 60, self.LOWER), color=theme.INK)
        return enter, ln, lanes, (join[0], concat, project, join[1], plus), skip, skip_name, back

    def mlp(self):
        """U to E¹: LN, linear, GELU, linear, plus; in the order of the path."""
        m, x0, y = self.model, self.PANEL[0], self.LOWER
        xs = [(x0 + 62, x0 + 180), (x0 + 236, x0 + 398), (x0 + 434, x0 + 574), (x0 + 610, x0 + 772), (x0 + 824, x0 + 870)]
        name = Group(self.text("*U*", x0 + 36, 618, 30, theme.BLUE), self.text(times(m.tokens, m.width), x0 + 66, 620))
        boxes = [self.cell(*xs[0], y, "LN 2", times(m.tokens, m.width), color=theme.GREY), self.cell(*xs[1], y, "Linear + bias", f"{m.width} → {m.hidden}"),
                 self.cell(*xs[2], y, "GELU", times(m.tokens, m.hidden), color=theme.GOLD), self.cell(*xs[3], y, "Linear + bias", f"{m.hidden} → {m.width}")]
        plus = joint("+", radius=23 * theme.PX).move_to(at(sum(xs[4]) / 2, y))
        around_ = Frame(corner_radius=0.1, width=(xs[3][1] - xs[1][0] + 32) * theme.PX, height=112 * theme.PX, stroke_color=theme.tint(theme.BLUE, 0.45),
                        stroke_width=1.8,
                        fill_color=theme.tint(theme.BLUE, 0.05), fill_opacity=1).move_to(at((xs[1][0] + xs[3][1]) / 2, y - 9))
        title = self.text("MLP", xs[1][0] - 4, y - 50, SHAPE, theme.BLUE, bold=True)
        ways = [self.way((a[1] + 2, y), (b[0] - 2, y)) for a, b in zip(xs, xs[1:])]
        fork, px = x0 + 22, sum(xs[4]) / 2
        skip = self.way((fork, y), (fork, self.SKIP_U), (px, self.SKIP_U), (px, y + 24), color=theme.SKIP, width=3.4)
        skip_name = self.text("skip: *U*", fork + 14, self.SKIP_U - 16, SHAPE, theme.SKIP)
        end = xs[4][1]
        out = [self.way((end + 2, y), (end + 44, y)), words("$E^1$", 32, theme.BLUE).move_to(at(end + 54, y), aligned_edge=LEFT),
               self.text(times(m.tokens, m.width), end + 102, y + 1),
               self.way((end + 212, y), (end + 252, y)), self.text("to block 2", end + 260, y, SHAPE, theme.GREY)]
        return name, around_, title, boxes, ways, plus, skip, skip_name, out

    def answer(self):
        """Final LN, CLS, head, softmax, label: boxes from the bottom up and the arrows between; then the loss and its arrow."""
        m, (x0, x1), top = self.model, self.RIGHT_COLUMN, self.dog.prediction.top[0]
        label, loss = figures.label_loss(self.run)
        head = self.text("*3 · After block " + f"{m.depth}*", x0, 186, 27, theme.BLUE)
        boxes = [self.cell(x0, x1, self.STRIP, "Final LN", times(m.tokens, m.width), color=theme.GREY, height=56),
                 self.cell(x0, x1, 735, "Select CLS", times(1, m.width), color=theme.AMBER),
                 self.cell(x0, x1, 640, "Linear head + bias", f"{m.width} → {count(m.classes)} logits"),
                 self.cell(x0, x1, 545, "Softmax", f"{count(m.classes)} probs"),
                 self.cell(x0, x1, 436, words(top.label, 28, theme.BLUE, bold=True, width=(x1 - x0 - 14) * theme.PX, align="center"),
                           words(f"top label · {pct(top.probability)}", NAME), height=88, fill=0.18, stroke=3.4)]
        borders = [(b[0].get_top()[1], b[0].get_bottom()[1]) for b in boxes]
        ways = [arrow(np.array([boxes[0].get_x(), a[0] + 0.02, 0]), np.array([boxes[0].get_x(), b[1] - 0.02, 0]), gap=0, width=2.6) for a,
                b in zip(borders, borders[1:])]
        lines = [words("Label loss", NAME, theme.RED, bold=True), words(f"$L$ = {num(loss, 4)}", 28, theme.RED, bold=True),
                 words("Cross-entropy(logits, y)", SHAPE),
                 words(f"y = {label}" if self.dog.prediction.known else f"if y = {label}", SHAPE, theme.PURPLE, bold=True, width=(x1 - x0 - 14) * theme.PX,
                       align="center")]
        cost = self.cell(x0, x1, 278, *lines, color=theme.RED, height=136)
        right = x1 + 18
        way = self.way((x1, 640), (right, 640), (right, 278), (x1 + 1, 278), color=theme.RED)
        return head, boxes, ways, cost, way

    # the build ---------------------------------------------------------------------------------------------------
    def build(self):
        m = self.model
        head, photo, shape, boxes, ways = self.rows_column()
        across = self.text(f"*2 · Blocks 1–{m.depth}* · all {m.tokens} rows, each {m.width} features wide", self.PANEL[0], 186, 27, theme.BLUE)
        head3, boxes3, ways3, cost, way = self.answer()
        across.set_opacity(0.25)
        head3.set_opacity(0.25)
        self.step(FadeIn(head), FadeIn(across), FadeIn(head3), photo, FadeIn(shape))
        self.go(*draw(ways[0]), *write(boxes[0]))
        self.step(*draw(ways[1]), *write(boxes[1]))
        for way, box in zip(ways[2:], boxes[2:]):
            self.go(*draw(way), *write(box), run_time=0.6)

        blocks, between, last = self.strip()
        self.step(across.animate.set_opacity(1), *(x for way, block in zip(between, blocks) for x in (*draw(way), FadeIn(block))), *draw(between[-1]),
                  FadeIn(last), lag_ratio=0.12, run_time=2.0)

        frame, wedge, names = self.opened(blocks[0])
        enter, ln, lanes, join, skip, skip_name, back = self.attention()
        self.step(FadeIn(wedge), GrowFromEdge(frame, DOWN), run_time=0.7)
        self.go(FadeIn(names), FadeIn(Group(*enter[:2])), *draw(enter[2]), FadeIn(ln), run_time=0.6)
        for k in range(4):
            self.go(*(x for parts, ways_, _, _ in lanes for x in (*draw(ways_[k]), FadeIn(parts[k]))), run_time=0.6)
            if k == 2:
                self.go(*(x for _, _, value, label in lanes for x in (Create(value), FadeIn(label))), run_time=0.6)
        self.step(*(Create(ways_[4]) for _, ways_, _, _ in lanes), FadeIn(join[1]), run_time=0.6)
        self.go(*draw(join[0]), FadeIn(join[2]), *draw(join[3]), FadeIn(join[4]), run_time=0.7)
        self.go(*draw(*skip), FadeIn(skip_name), lag_ratio=0.3, run_time=0.9)

        name, group, title, parts, ways2, plus, skip2, skip2_name, out = self.mlp()
        self.step(*draw(*back), FadeIn(name), lag_ratio=0.3, run_time=1.1)
        self.go(FadeIn(parts[0]), FadeIn(group), FadeIn(title), run_time=0.5)
        for way, part in zip(ways2, [*parts[1:], plus]):
            self.go(*draw(way), FadeIn(part), run_time=0.5)
        self.go(*draw(*skip2), FadeIn(skip2_name), lag_ratio=0.3, run_time=0.9)
        self.go(*draw(out[0]), FadeIn(Group(*out[1:3])), *draw(out[3]), FadeIn(out[4]), run_time=0.6)

        self.step(*(block[0].animate.set_fill(theme.tint(theme.BLUE, 0.3)) for block in blocks[1:]), lag_ratio=0.25, run_time=1.4)
        self.go(head3.animate.set_opacity(1), *write(boxes3[0]), run_time=0.5)
        for tip, box in zip(ways3, boxes3[1:]):
            self.go(*draw(tip), *write(box), run_time=0.5)
        self.step(*draw(*way), FadeIn(cost), lag_ratio=0.25, run_time=1.1)


class PaperFigure(Slide):
    route = "reference/s11/2"

    COLUMNS = 3

    def title(self):
        return "To images: An Image is Worth 16 × 16 Words"

    def caption(self):
        return "Pieces of a picture take the place of words. The encoder is the one known from text; its first output row becomes the class."

    def notes(self):
        return ("Read the left drawing upwards: the picture is cut, the pieces pass one linear layer, get their places and an extra row in front, and go "
                "through the encoder. "
                "Only the first output row is classified. At the right the encoder is opened, the same block as in our own figure; compare what is drawn "
                "differently. The drawing is ours, the architecture is the paper’s.")

    def build(self):
        n = self.COLUMNS**2
        photo = Photograph(self.run, side=1.42, columns=self.COLUMNS)
        photo.move_to([STAGE.left + 0.71, STAGE.bottom + 1.25, 0])
        blocks, whole = photo.blocks(), Tiles.boxes_of(*(photo.cell(i + 1) for i in range(n)))
        xs = np.linspace(-4.0, 1.05, n + 1)
        y0, y1, y2, y3, y4 = STAGE.bottom + 0.86, STAGE.bottom + 1.66, STAGE.bottom + 2.48, STAGE.bottom + 3.4, STAGE.bottom + 4.5
        line = np.array([[x, y0, 0.44, 0.44] for x in xs[1:]])
        tiles = Tiles(blocks, whole, smooth=not photo.missing)
        layer = Box("Linear projection of flattened patches", color=theme.BLUE, width=xs[-1] - xs[1] + 0.56, height=0.5,
                    size=theme.SMALL).move_to([(xs[1] + xs[-1]) / 2, y1, 0])
        tokens = Group()
        for i, x in enumerate(xs):
            place = Frame(corner_radius=0.1, width=0.27, height=0.46, stroke_color=theme.AMBER, stroke_width=1.8, fill_color=theme.tint(theme.AMBER, 0.16),
                          fill_opacity=1)
            body = Frame(corner_radius=0.06, width=0.2, height=0.46, stroke_color=theme.AMBER if i == 0 else theme.BLUE, stroke_width=1.8,
                         fill_color=theme.tint(theme.AMBER if i == 0 else theme.BLUE, 0.75 if i == 0 else 0.3), fill_opacity=1)
            pair = Group(Group(place, words(str(i), theme.SMALLEST_PX, theme.AMBER, bold=True).move_to(place)), body).arrange(RIGHT,
                                                                                                                              buff=0.02).move_to([x, y2, 0])
            tokens.add(pair)
        up1 = Group(*(arrow([x, y0 + 0.24, 0], [x, y1 - 0.26, 0], gap=0.02, width=2.2) for x in xs[1:]))
        up2 = Group(*(arrow([x, y1 + 0.26, 0], [x, y2 - 0.25, 0], gap=0.02, width=2.2) for x in xs[1:]))
        cls = words("CLS", theme.SMALL, theme.AMBER, bold=True).move_to([xs[0], y1, 0])
        up_cls = arrow([xs[0], y1 + 0.17, 0], [xs[0], y2 - 0.25, 0], theme.AMBER, gap=0.02, width=2.2)
        encoder = Box("Transformer encoder", width=xs[-1] - xs[0] + 0.6, height=0.62, size=theme.BODY, fill=0.14).move_to([(xs[0] + xs[-1]) / 2, y3, 0])
        up3 = Group(*(arrow([x, y2 + 0.25, 0], [x, y3 - 0.32, 0], gap=0.02, width=2.2) for x in xs))
        head = Box("MLP head", color=theme.BLUE, width=1.7, height=0.5, size=theme.LABEL).move_to([xs[0] + 0.55, y4, 0])
        out = arrow([xs[0] + 0.2, y3 + 0.32, 0], [xs[0] + 0.2, y4 - 0.26, 0], gap=0.02, color=theme.AMBER)
        label = Box(words("Class", theme.LABEL, theme.BLUE, bold=True), color=theme.BLUE, height=0.5).move_to([xs[0] + 2.6, y4, 0])
        places = column(words("patch + position", theme.SMALL, theme.GREY), words("embedding", theme.SMALL, theme.GREY), gap=0.0,
                        align=LEFT).move_to([STAGE.left, y2, 0], aligned_edge=LEFT)
        source = words("Our own drawing of the architecture in Dosovitskiy et al. (2020; ICLR 2021), Figure 1 · arXiv:2010.11929", theme.SMALL, theme.GREY)
        source.move_to([STAGE.left, STAGE.bottom + 0.14, 0], aligned_edge=LEFT)
        inside, ins = self.inside()

        self.step(photo)
        photo.lines.move_to(photo)
        self.go(*draw(*photo.lines), run_time=0.5)
        self.add(tiles)
        self.go(Glide(tiles, line, lag=0.12, run_time=1.4))
        self.step(*(Create(a) for a in up1), FadeIn(layer), run_time=0.7)
        self.go(*(Create(a) for a in up2), *(FadeIn(t, shift=0.15 * UP) for t in tokens[1:]), run_time=0.7)
        self.go(FadeIn(cls), *draw(up_cls), FadeIn(tokens[0]), FadeIn(places), run_time=0.6)
        self.step(*(Create(a) for a in up3), FadeIn(encoder))
        self.step(*draw(out), FadeIn(head), *draw(arrow(head, label, gap=0.06)), FadeIn(label))
        self.step(*draw(link(encoder.get_corner(UP + RIGHT), inside.get_corner(UP + LEFT), theme.tint(theme.BLUE, 0.5)),
                        link(encoder.get_corner(DOWN + RIGHT), inside.get_corner(DOWN + LEFT), theme.tint(theme.BLUE, 0.5))), FadeIn(inside))
        self.go(*(FadeIn(p) for p in ins), lag_ratio=0.12, run_time=2.0)
        self.step(*write(source))

    def inside(self):
        """The opened encoder, from the bottom upwards; the skip paths at its left."""
        x, frame = 4.55, Frame(corner_radius=0.14, width=3.7, height=4.45, stroke_color=theme.BLUE, stroke_width=2.2, fill_color=theme.tint(theme.BLUE, 0.03),
                               fill_opacity=1)
        frame.move_to([4.6, STAGE.top - 2.225, 0])
        low = frame.get_bottom()[1]
        name = words(f"*L* × · here {self.model.depth} ×", theme.LABEL, theme.BLUE).move_to(frame.get_corner(UP + LEFT) + 0.2 * RIGHT + 0.24 * DOWN,
                                                                                            aligned_edge=LEFT)
        ys = [low + d for d in (0.28, 0.86, 1.56, 2.2, 2.78, 3.36, 3.9)]
        start = words("embedded patches", theme.SMALL, theme.BLUE).move_to([x + 0.2, ys[0], 0])
        norm1, norm2 = (Box("Norm", color=theme.GREY, width=1.9, height=0.42, size=theme.SMALL).move_to([x + 0.2, y, 0]) for y in (ys[1], ys[4]))
        attention = Box("Multi-head", "attention", color=theme.TEAL, width=1.9, height=0.66, size=theme.SMALL).move_to([x + 0.2, ys[2], 0])
        mlp = Box("MLP", width=1.9, height=0.42, size=theme.SMALL).move_to([x + 0.2, ys[5], 0])
        p1, p2 = (joint("+", radius=0.19).move_to([x + 0.2, y, 0]) for y in (ys[3], ys[6]))
        def up(a, b):
            return arrow(a, b, gap=0.02, width=2.4, side=UP)
        side = x - 1.2
        skips = [elbow(np.array([x + 0.2, a, 0]), np.array([side, a, 0]), np.array([side, p.get_y(), 0]), p.get_left(), width=3) for a,
                 p in ((ys[0] + 0.25, p1), (ys[3] + 0.29, p2))]
        parts = [start, up(start, norm1), norm1, up(norm1, attention), attention, up(attention, p1), skips[0], p1, up(p1, norm2), norm2, up(norm2, mlp), mlp,
                 up(mlp, p2), skips[1], p2, name]
        return frame, parts


class CreateCls(Slide):
    route = "reference/s11/3"

    def title(self):
        return f"Create {self.model.width} trainable numbers for CLS"

    def caption(self):
        return (f"{self.model.width} numbers come into being before any picture is seen, and they belong to the model, as a word’s embedding does. "
                "No pixel goes into them; training moves them.")

    def notes(self):
        m = self.model
        return (f"Ask why there are {m.width} of them and who chose their values. The count is the width of all other rows, otherwise they could not share a "
                "table. "
                "The values are drawn at random once, close to zero, when the model is made. The bars are a sketch of that, not values of this checkpoint.")

    def build(self):
        m = self.model
        n = m.width
        why = column(
            words(f"Every row of the model has {n} features.", theme.BODY),
            words("So the extra row gets the same width.", theme.BODY, bold=True),
            gap=0.06,
            align=LEFT,
        )
        why.move_to([STAGE.left, STAGE.top - 0.4, 0], aligned_edge=LEFT)
        y, xs = 0.72, (-5.6, -4.0, -2.4, -0.8, 0.8, 2.4, 4.0)
        names = ("1", "2", "3", None, None, None, str(n))
        bar = Frame(corner_radius=0.5, width=xs[-1] - xs[0] + 1.5, height=1.28, stroke_color=theme.AMBER, stroke_width=2.6,
                    fill_color=theme.tint(theme.AMBER, 0.05), fill_opacity=1).move_to([(xs[0] + xs[-1]) / 2, y, 0])
        cells, sticks, dice = Group(), Group(), np.random.default_rng(5).normal(0, 0.3, len(xs))
        base = y - 1.5
        for x, name, value in zip(xs, names, dice):
            if name is None:
                cells.add(words("…", theme.TITLE, theme.GREY, bold=True).move_to([x, y + 0.1, 0]))
            else:
                unit = Circle(radius=0.44, stroke_color=theme.AMBER, stroke_width=2.6, fill_color=theme.tint(theme.AMBER, 0.16), fill_opacity=1)
                cells.add(Group(unit, words(f"$s_{name}$" if len(name) == 1 else f"$s_({name})$", theme.CAPTION, theme.AMBER).move_to(unit)).move_to([x, y, 0]))
            high = float(np.clip(value, -0.4, 0.4))
            stick = Rectangle(width=0.36, height=max(abs(high), 0.05), stroke_width=0, fill_color=theme.AMBER if high > 0 else theme.SKIP, fill_opacity=0.9
                              if name else 0.25)
            sticks.add(stick.move_to([x, base + high / 2, 0]))
        numbers = Group(*(words(t, theme.LABEL, theme.GREY).next_to(c, DOWN, buff=0.26) for t, c in zip(names, cells) if t))
        zero = link(np.array([xs[0] - 0.6, base, 0]), np.array([xs[-1] + 0.6, base, 0]), theme.LINE, 2)
        label = words("0", theme.SMALL, theme.GREY).next_to(zero, LEFT, buff=0.12)
        hot = Group(flame(0.8), words("trainable", theme.LABEL, LEARNS, bold=True)).arrange(DOWN, buff=0.06).move_to([5.75, y, 0])
        once = words("Small random values initialize it once; from then on they are trainable.", theme.BODY).move_to([STAGE.left, STAGE.bottom + 0.92, 0],
                                                                                                           aligned_edge=LEFT)
        listing = Code(f"cls = nn.Parameter(0.02 * torch.randn(1, 1, {n}))", theme.LABEL, pad=0.16, width=STAGE.width)
        listing.move_to([0, STAGE.bottom + listing.height / 2, 0])
        self.step(*write(why))
        self.go(FadeIn(bar), *(FadeIn(c) for c in cells), *(FadeIn(t) for t in numbers), lag_ratio=0.08, run_time=1.2)
        self.step(Create(zero), FadeIn(label), run_time=0.4)
        self.go(*(GrowFromEdge(s, DOWN if s.get_y() > base else UP) for s in sticks), lag_ratio=0.15, run_time=1.2)
        self.step(*write(once), FadeIn(hot))
        self.step(FadeIn(listing))


class LabelTeachesCls(Slide):
    route = "reference/s11/4"

    def title(self):
        return "The image label teaches the starting CLS numbers"

    def caption(self):
        return (f"One label makes one loss; its gradient runs back through head and blocks to the {self.model.width} starting numbers of CLS. "
                "Many pictures later they have become useful.")

    def notes(self):
        n = self.model.width
        return (f"Ask whether somebody has to write down {n} target numbers for CLS. Nobody does: one class label gives one loss, and the chain rule hands "
                "every starting number its share. "
                f"In this example we pretend that the {figures.picture_word(self.run, 'dog')} is a training picture. All other trainable weights move in the "
                "same step.")

    def build(self):
        m = self.model
        label = self.dog.photo.known_label or self.dog.prediction.top[0].label
        word = figures.picture_word(self.run, "dog")
        intro = words(f"Training idea · let this {word} be a labelled training example", theme.BODY).move_to(
            [STAGE.left, STAGE.top - 0.2, 0], aligned_edge=LEFT
        )
        y = 0.95
        photo = Photograph(self.run, side=1.6).move_to([STAGE.left + 0.8, y, 0])
        photo_name = words(f"Dog {word}", theme.LABEL).next_to(photo, UP, buff=0.08)
        table = Group(*(Strip(v, c, 1.7, 0.24) for v, c in self.rows())).arrange(DOWN, buff=0.06).move_to([-2.9, y, 0])
        table_name = words("Patch rows + CLS", theme.LABEL, bold=True).next_to(table, UP, buff=0.12)
        blocks = Box("Transformer", "blocks", width=2.0, height=1.3, size=theme.LABEL).move_to([-0.15, y, 0])
        scores = Box("Class scores", words("prediction", theme.SMALL, theme.GREY), width=1.9, height=1.3, size=theme.LABEL).move_to([2.55, y, 0])
        loss = Box(words("Compare with label", theme.LABEL), words("loss", theme.CAPTION, theme.RED, bold=True), color=theme.RED, width=2.55,
                   height=1.3).move_to([STAGE.right - 1.275, y, 0])
        known = Box(words("Known label", theme.SMALL, theme.GREY), words(label, theme.LABEL, theme.PURPLE, bold=True, width=1.85, align="center"),
                    color=theme.PURPLE, width=2.05).move_to([STAGE.right, y - 1.75, 0], aligned_edge=RIGHT)
        start = Learner(words(f"{m.width} starting CLS parameters", theme.LABEL, theme.AMBER, bold=True),
                        words("adjusted by the optimizer", theme.LABEL, LEARNS), learns=True, width=4.3, height=1.15)
        start.move_to([-4.3, -1.05, 0])
        ways = [forward(a, b) for a, b in zip((photo, table, blocks, scores), (table, blocks, scores, loss))]
        feed = forward(np.array([table.get_x(), start.border.get_top()[1], 0]), np.array([table.get_x(), table.get_bottom()[1], 0]), theme.AMBER, gap=0.06)
        teach = forward(known.get_top(), np.array([known.get_x(), loss.get_bottom()[1], 0]), theme.PURPLE)
        low = -1.05
        back = backward(np.array([loss.get_left()[0] + 0.25, loss.get_bottom()[1], 0]), np.array([loss.get_left()[0] + 0.25, low, 0]),
                        np.array([start.border.get_right()[0] + 0.05, low, 0]))
        back_name = words("backward through classifier + blocks", theme.LABEL, LEARNS, bold=True).move_to([1.0, low - 0.28, 0])
        note = words("Along with CLS, the loss trains all other trainable parameters of the model.", theme.BODY).move_to([STAGE.left, STAGE.bottom + 0.18, 0],
                                                                                                                 aligned_edge=LEFT)
        self.step(*write(intro), photo, FadeIn(photo_name), FadeIn(start.box))
        self.step(*draw(ways[0], feed), FadeIn(table), FadeIn(table_name))
        self.go(*draw(ways[1]), FadeIn(blocks), run_time=0.6)
        self.go(*draw(ways[2]), FadeIn(scores), run_time=0.6)
        self.step(FadeIn(known), *draw(teach, ways[3]), FadeIn(loss))
        self.step(*draw(*back), FadeIn(back_name), lag_ratio=0.4, run_time=1.4)
        self.go(FadeIn(start.badge, scale=1.6), run_time=0.5)
        self.step(*write(note))

    def rows(self):
        """CLS in amber and a few patch rows of the run."""
        picked = [p.c for p in self.dog.patches.values() if p.c][:3]
        return [(self.dog.cls.e if self.dog.cls else picked[0], theme.AMBER), *((v, theme.BLUE) for v in picked)]
