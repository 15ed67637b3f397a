"""Section 3 of the reference deck, its end: the final CLS row, the classifier, two softmaxes, the prediction (pages 40 to 45)."""

import numpy as np
from manim import Circle, GrowFromEdge, Line, Rectangle, VGroup

from scenes.kit import *  # noqa: F403 - the kit is the vocabulary of a storyboard
from scenes.kit.attention import TokenRow
from vit_data import block, figures, rows
from vit_data.run import ClassScore


class ClassifierPage(Slide):
    """What these pages share: the top classes, how many are left out, shapes."""

    @property
    def top(self):
        return self.dog.prediction.top[:3]

    @property
    def others(self) -> int:
        return self.model.classes - len(self.top)

    @property
    def label(self) -> str:
        return self.top[0].label

    def percentages(self) -> tuple[int, list[str]]:
        """Decimals, and the three largest probabilities and the rest, printed so that they add up to 100."""
        shares = [100 * s.probability for s in self.top] + [100 * self.dog.prediction.rest]
        digits, _ = block.closing(shares, 100.0, 2)
        return digits, [num(s, digits) + "%" for s in shares]


class SelectCls(ClassifierPage):
    route = "reference/s03/40"

    def title(self):
        return "Select CLS from the final feature matrix"

    def caption(self):
        m = self.model
        return (f"All {m.tokens} rows leave the last block, and the final LayerNorm keeps their shape. Only the outlined one is read: {m.width} features "
                "that stand "
                f"for the whole {figures.picture_word(self.run, 'dog')}.")

    def notes(self):
        return ("The classifier gets one complete row, not one number and not an average of rows. It is no longer the learned starting vector: attention "
                "in every block has "
                "let it read the patches. The patch rows are still there; this model simply does not read them again.")

    def build(self):
        m, depth = self.model, self.dog.depth
        names = [rows.CLS, "P1", "", rows.name(m.patches)]
        raw = SparseMatrix(names, depth and depth.after[m.depth], 2.3, m.width, step=0.58, gap=0.12, size=theme.LABEL)
        normed = SparseMatrix(names, depth and depth.norm, 2.3, m.width, step=0.58, gap=0.12, size=theme.LABEL)
        norm = Box("Final", words("LayerNorm", theme.BODY, theme.GREY, bold=True), color=theme.GREY, height=1.3, width=1.95)
        h = self.dog.h
        chosen = column(words("Select CLS", theme.BODY, theme.AMBER, bold=True), Strip(h, theme.BLUE, 3.1, 0.6), words(vec(h, 2), theme.CAPTION),
                        words(times(1, m.width), theme.LABEL, theme.GREY), gap=0.14)
        line = row(raw, norm, normed, chosen, gap=0.55)
        fit(line, STAGE.width, 4)
        line.move_to([0, 0.0, 0])
        y = norm.get_y()
        for x in (raw, normed):
            x.shift((y - x.image.get_y()) * UP)
        chosen.shift((normed.cell(rows.CLS).get_y() - chosen[1].get_y()) * UP)
        heads = Group(*(column(words(t, theme.BODY, theme.BLUE, bold=True), words(times(m.tokens, m.width), theme.LABEL, theme.GREY),
                               gap=0.02).next_to(x.image, UP, buff=0.16)
                        for t, x in ((f"After block {m.depth}", raw), ("Normalized rows", normed))))
        marks = [x.mark(rows.CLS, width=5) for x in (raw, normed)]
        arrows = Group(arrow([raw.image.get_right()[0], y, 0], norm.get_left()), arrow(norm.get_right(), [normed.get_left()[0], y, 0]),
                       arrow(marks[1].get_right(), chosen[1].get_left(), theme.AMBER, width=4))
        passed = words(f"The same dog has passed through all {m.depth} blocks", theme.LABEL, theme.GREY).move_to([STAGE.left, STAGE.top - 0.02, 0],
                aligned_edge=LEFT)
        summary = column(words("One image summary", theme.BODY, theme.BLUE, bold=True), words(f"{m.width} features", theme.LABEL, theme.GREY),
                         gap=0.04).next_to(chosen, DOWN, buff=0.3)
        note = words("Only the highlighted row is read; context from the patch rows is already in it", theme.LABEL,
                     bold=True).move_to([0, STAGE.bottom + 0.2, 0])
        self.step(*write(passed), FadeIn(raw), FadeIn(heads[0]))
        self.step(*draw(arrows[0]), FadeIn(norm))
        self.go(*draw(arrows[1]), Emerge(normed, raw), FadeIn(heads[1]))
        self.step(*(FadeIn(m_) for m_ in marks))
        quiet = Group(*(Rectangle(width=x.width + 0.06, height=x.height + 0.04, stroke_width=0, fill_color=theme.PAPER, fill_opacity=0.72).move_to(x)
                        for x in (normed.cell(n) for n in names[1:] if n)))
        self.step(FadeIn(quiet), *draw(arrows[2]), FadeIn(chosen[0]), Emerge(chosen[1], normed.cell(rows.CLS)), *write(*chosen[2:]))
        self.step(*write(*summary, note))


class OpenClassifier(ClassifierPage):
    route = "reference/s03/41"

    def title(self):
        m = self.model
        return f"Open the classifier: {m.width} features become {count(m.classes)} scores"

    def caption(self):
        m = self.model
        return (f"One output neuron for each of {count(m.classes)} classes, and each reads all {m.width} features of CLS with weights and a bias of its own. "
                f"The largest score, {num(self.top[0].logit)}, goes to {self.label}.")

    def notes(self):
        return ("No feature belongs to a class: every class reads the complete row and weighs it in its own way. This head is one linear layer, without "
                "hidden units and without GELU. "
                f"What it gives are scores; they turn into probabilities one page later. Three neurons stand for {count(self.model.classes)}.")

    def build(self):
        m, h = self.model, self.dog.h
        values = [num(h.first[0]), num(h.first[1]), None, num(h.last)]
        left = Layer(values, radius=0.38, gap=0.3, size=theme.BODY, wide=True)
        for unit in left.units:
            unit[0].stretch_to_fit_width(1.7)
        right = Layer([num(s.logit) for s in self.top] + [None], radius=0.38, gap=0.3, size=theme.BODY, wide=True)
        for unit in right.units:
            unit[0].stretch_to_fit_width(1.8)
        y = -0.15
        left.move_to([-4.1, y, 0])
        right.move_to([1.75, y, 0])
        symbols = Group(*(words(f"$h_({i})$", theme.BODY, theme.BLUE).next_to(u, LEFT, buff=0.2) for i, u in zip((1, 2, m.width), left.units)))
        labels = Group(*(words(s.label, theme.BODY, bold=i == 0, width=None).next_to(u, RIGHT, buff=0.25) for i,
                         (s, u) in enumerate(zip(self.top, right.units))))
        for label in labels:
            fit(label, STAGE.right - label.get_left()[0], 0.6)
        more = words(f"{self.others} more class scores", theme.LABEL, theme.GREY).next_to(right[-1], RIGHT, buff=1.0).align_to(labels, LEFT)
        wires = connections(left, right, theme.tint(theme.GREY, 0.55), 1.6)
        winner = connections(left, right, theme.BLUE, 3.0)[0]
        heads = Group(column(words("CLS features", theme.BODY, theme.BLUE, bold=True), words(times(1, m.width), theme.LABEL, theme.GREY),
                             gap=0.02).move_to([-4.1, 2.0, 0]),
                      column(words("Class scores", theme.BODY, theme.BLUE, bold=True), words(times(1, m.classes), theme.LABEL, theme.GREY),
                             gap=0.02).move_to([1.75, 2.0, 0]))
        layer = column(words(f"nn.Linear({m.width},{m.classes})", theme.BODY, theme.BLUE, bold=True),
                       words(f"{m.width} weights + 1 bias for each class", theme.LABEL, theme.GREY), gap=0.03).move_to([-1.15, 1.98, 0])
        which = words(f"{count(m.classes)} ImageNet classes are\nwhat this checkpoint predicts", theme.LABEL,
                      theme.GREY).move_to([labels.get_left()[0], 2.0, 0], aligned_edge=LEFT)
        note = words("Scores come from one affine layer; softmax follows", theme.LABEL, bold=True).move_to([0, STAGE.bottom + 0.14, 0])
        self.step(FadeIn(heads[0]), FadeIn(left), FadeIn(symbols))
        self.step(*draw(*winner), FadeIn(layer), lag_ratio=0.1)
        self.go(FadeIn(right.units[0]), *write(labels[0]), FadeIn(heads[1]))
        for i in (1, 2):
            self.step(*draw(*wires[i]), FadeIn(right.units[i]), *write(labels[i]), lag_ratio=0.05)
        self.step(FadeIn(right[-1]), *write(more, which))
        self.go(*write(note))


class OneClassScore(ClassifierPage):
    route = "reference/s03/42"

    def title(self):
        return "One class score is a weighted sum plus a bias"

    def decimals(self):
        c = self.dog.top_class
        return block.closing([*c.products, c.others, c.bias], c.logit, 4)

    def caption(self):
        m, c = self.model, self.dog.top_class
        return (f"Feature times weight, {m.width} products in all, and one bias: for {self.label} that comes to {num(c.logit, self.decimals()[1])}. "
                "Every other class does the same with its own weights.")

    def notes(self):
        m = self.model
        return (f"Why do {self.label} and {self.top[1].label} get different scores from one row? They weigh it differently. The strip of products shows "
                "that no single feature decides; "
                f"the {m.width - 2} that are not printed carry most of the sum. And the score is not a probability yet.")

    def build(self):
        m, c, h = self.model, self.dog.top_class, self.dog.h
        n, total = self.decimals()
        ys = (1.5, 0.45)
        features, weights, results, wires = Group(), Group(), Group(), Group()
        sigma = Group(Circle(radius=0.62, stroke_color=theme.BLUE, stroke_width=4, fill_color=theme.tint(theme.BLUE, 0.1), fill_opacity=1),
                      words("Σ", theme.TITLE, theme.BLUE, bold=True))
        sigma.move_to([2.6, 0.1, 0])
        head = words(f"Zoom into one output neuron: *{self.label}*", theme.LABEL, theme.GREY).move_to([STAGE.left, STAGE.top - 0.02, 0], aligned_edge=LEFT)
        for i, y in enumerate(ys):
            unit = Layer([num(h.first[i])], radius=0.4, size=theme.CAPTION, wide=True)
            unit.units[0][0].stretch_to_fit_width(1.7)
            unit.move_to([-4.6, y, 0])
            features.add(Group(words(f"$h_{i + 1}$", theme.CAPTION, theme.BLUE).next_to(unit, LEFT, buff=0.18), unit))
            weights.add(words(f"× {num(c.weights.first[i], 5)}", theme.CAPTION).move_to([-2.45, y, 0]))
            results.add(words(num(c.products[i], n), theme.CAPTION, theme.INK, bold=True).move_to([-0.35, y, 0]))
        products = block.products(h, c.weights)
        band = Strip(products, theme.BLUE, 4.2, 0.5) if products else Group(panel(4.2, 0.5))
        rest = column(words(f"Other {m.width - 2} weighted features", theme.LABEL, bold=True), band, gap=0.1).move_to([-3.6, -0.78, 0])
        rest_sum = words(f"sum = {num(c.others, n)}", theme.CAPTION, bold=True).move_to([-0.1, band.get_y(), 0])
        bias = words(f"Bias: {num(c.bias, n)}", theme.CAPTION, theme.INK, bold=True).move_to([2.6, -1.42, 0])
        for start in (*(r.get_right() for r in results), rest_sum.get_right()):
            direction = sigma.get_center() - start
            wires.add(arrow(start, sigma.get_center() - 0.66 * direction / np.linalg.norm(direction), theme.GREY, gap=0.12))
        wires.add(arrow(bias.get_top(), sigma.get_bottom(), theme.GREY, gap=0.06))
        score = column(words(num(c.logit, total), theme.TITLE + 12, theme.BLUE, bold=True), words("one class score", theme.LABEL, theme.GREY),
                       gap=0.02).move_to([5.2, 0.0, 0])
        score.shift((sigma.get_y() - score[0].get_y()) * UP)
        out = arrow(sigma.get_right(), score[0].get_left(), theme.BLUE, gap=0.12, width=4)
        terms = [num(c.products[0], n)]
        for value in (c.products[1], c.others, c.bias):
            terms += ["+" if round(value, n) >= 0 else MINUS, num(abs(value), n)]
        line = sum_line(*terms, "≈", words(num(c.logit, total), theme.CAPTION + 4, theme.BLUE, bold=True), size=theme.CAPTION + 4,
                        gap=0.26).move_to([0, STAGE.bottom + 0.22, 0])
        self.step(*write(head), FadeIn(features))
        self.step(*write(*weights))
        self.go(*(FadeIn(r, shift=0.4 * RIGHT) for r in results))
        self.step(FadeIn(rest), *write(rest_sum))
        self.step(*draw(*wires), FadeIn(sigma), *write(bias))
        self.go(*(pulse(w, theme.BLUE) for w in wires))
        self.go(*draw(out), FadeIn(score))
        self.step(*write(*line), lag_ratio=0.1)


class SoftmaxOverClasses(ClassifierPage):
    route = "reference/s03/43"

    def title(self):
        return f"Turn all {count(self.model.classes)} scores into class probabilities"

    def caption(self):
        _, shown = self.percentages()
        return (f"exp of a score, divided by the sum over all {count(self.model.classes)} classes. That gives {self.label} {shown[0]}; the {self.others} "
                "classes "
                f"that are not drawn stand in the denominator too and share {shown[3]}.")

    def notes(self):
        return ("Would softmax over the three printed scores give the same? Try it: the denominator would lack all the others. Attention ran softmax "
                "over source rows; here it runs over "
                "labels. The class with the largest share is the prediction.")

    def build(self):
        m, p = self.model, self.dog.prediction
        digits, shown = self.percentages()
        scores = [*self.top, ClassScore(index=0, label=f"{self.others} more classes", probability=p.rest)]
        ys = (1.15, 0.4, -0.35, -1.1)
        names, logits, tracks, bars, values = (Group() for _ in range(5))
        x0, wide = 2.1, 3.0
        for i, (s, y, share) in enumerate(zip(scores, ys, shown)):
            name = words(s.label, theme.BODY, theme.GREY if i == 3 else theme.INK, bold=i == 0)
            fit(name, 3.4, 0.6)
            names.add(name.move_to([STAGE.left, y, 0], aligned_edge=LEFT))
            logits.add(words("⋮" if i == 3 else num(s.logit), theme.CAPTION, theme.GREY if i == 3 else theme.INK, bold=True).move_to([-2.2, y, 0]))
            track = Rectangle(width=wide, height=0.46, stroke_width=0, fill_color=theme.PANEL, fill_opacity=1).move_to([x0, y, 0], aligned_edge=LEFT)
            color = theme.BLUE if i == 0 else theme.GREY if i == 3 else theme.tint(theme.BLUE, 0.5)
            bar = Rectangle(width=max(wide * s.probability, 0.03), height=0.46, stroke_width=0, fill_color=color, fill_opacity=1).move_to(track,
                    aligned_edge=LEFT)
            tracks.add(track)
            bars.add(bar)
            text = words(share, theme.CAPTION if i < 3 else theme.BODY, theme.BLUE if i == 0 else theme.INK, bold=i == 0).next_to(track, RIGHT, buff=0.2)
            values.add(text)
        across = words(f"across {self.others} others", theme.SMALLEST_PX, theme.GREY).next_to(tracks[3], DOWN, buff=0.05).align_to(tracks[3], LEFT)
        heads = Group(column(words("Class scores (logits)", theme.BODY, theme.BLUE, bold=True), gap=0).move_to([STAGE.left, 2.0, 0], aligned_edge=LEFT),
                      words("Class probabilities", theme.BODY, theme.BLUE, bold=True).move_to([x0, 2.0, 0], aligned_edge=LEFT))
        soft = Box("softmax", words(f"all {count(m.classes)} scores", theme.SMALL, theme.GREY), width=2.1, height=2.7).move_to([0.3, 0.02, 0])
        arrows = Group(*(Group(arrow([-1.45, y, 0], [soft.get_left()[0], y, 0], theme.GREY, gap=0.04),
                               arrow([soft.get_right()[0], y, 0], [x0, y, 0], theme.GREY, gap=0.06)) for y in ys))
        best = self.top[0]
        formula = words(f"p({best.label}) = exp({num(best.logit)}) / sum of exp(all {count(m.classes)} scores) ≈ {num(best.probability, 4)}", theme.BODY,
                        theme.INK, bold=True)
        fit(formula, STAGE.width, 0.6).move_to([0, STAGE.bottom + 0.55, 0])
        one = words(f"Class labels are the alternatives, so the sum runs over all {count(m.classes)}, and the {count(m.classes)} probabilities sum to 1",
                    theme.LABEL, theme.GREY)
        fit(one, STAGE.width, 0.5).move_to([0, STAGE.bottom + 0.08, 0])
        self.step(FadeIn(heads[0]), *write(*names), *write(*logits))
        self.step(*draw(*(a[0] for a in arrows)), FadeIn(soft))
        self.step(*draw(*(a[1] for a in arrows)), FadeIn(heads[1]), FadeIn(tracks))
        self.go(*(GrowFromEdge(b, LEFT) for b in bars), *write(*values, across), run_time=1.0)
        self.step(*write(formula))
        self.step(*write(one))


class TwoSoftmaxes(ClassifierPage):
    route = "reference/s03/44"

    def title(self):
        return "Two softmaxes, two different questions"

    def caption(self):
        m = self.model
        return (f"Inside a head, {m.tokens} weights answer where one query looks. At the end, {count(m.classes)} probabilities answer what the image shows. "
                "Both rows sum to one; only the second one names a label.")

    def notes(self):
        return ("Does a large attention weight on the nose make a breed more probable? Not by itself: it says that the nose sends much to this one query "
                "in this one head. "
                "One rule, two axes: sources there, labels here. Ask the class which of the two is computed once for an image.")

    def build(self):
        m, p = self.model, self.dog.prediction
        names = {rows.CLS: 0, "P1": 1, "P2": 2, rows.name(m.patches): m.patches}
        head1 = self.dog.block1.head1
        weights = head1 and head1.attention[rows.CLS].values
        left, right = STAGE.columns(1, 1, gap=0.5)
        other = next((s.label for s in (*self.cat.prediction.top, *p.top) if s.label != self.label))
        cards = Group()
        for area, over, question, start, middle, end, below, color in (
                (left, "ATTENTION · one query", "Which source rows help?", f"{m.tokens} scores", "softmax over sources", f"{m.tokens} weights",
                 "CLS + P1 + P2 + … + " + rows.name(m.patches), theme.TEAL),
                (right, "CLASSIFIER · one image", "Which image label fits?", f"{count(m.classes)} logits", "softmax over labels", "probabilities",
                 f"{self.label}, {other}, …", theme.BLUE)):
            frame = panel(area.width, 4.0, theme.tint(color, 0.5), theme.tint(color, 0.04)).move_to([area.center[0], 0.22, 0])
            x = area.center[0]
            top = words(over, theme.LABEL, color, bold=True).move_to([x, 1.86, 0])
            ask = words(question, theme.CAPTION + 6, bold=True).move_to([x, 1.28, 0])
            chain = Pipeline(words(start, theme.LABEL), Box(middle, color=color, size=theme.SMALL, pad=0.16), words(end, theme.LABEL),
                             gap=0.5).move_to([x, 0.5, 0])
            cards.add(Group(frame, top, ask, chain, words(below, theme.LABEL, theme.GREY).move_to([x, -1.38, 0])))
        band = TokenRow(weights, names, m.tokens, left.width - 0.9, 0.5, theme.TEAL, weights=True, wide=0.62, size=theme.SMALL)
        band.move_to([left.center[0], -0.52, 0])
        labels = self.spikes(p.probabilities, right.width - 0.9, 0.95).move_to([right.center[0], -0.55, 0])
        sums = Group(*(words(f"sum over {what} = 1", theme.LABEL, color, bold=True).move_to([a.center[0], STAGE.bottom + 0.2, 0]) for a, what, color in
                       ((left, "sources", theme.TEAL), (right, "labels", theme.BLUE))))
        same = words("The normalization is the same; the questions differ", theme.LABEL, theme.GREY).move_to([0, STAGE.top - 0.0, 0])
        for i, (card, picture_) in enumerate(zip(cards, (band, labels))):
            frame, top, ask, chain, below = card
            self.step(FadeIn(frame), *write(top, ask), *(write(same) if i == 0 else []))
            self.step(FadeIn(chain.stages[0]), *draw(chain.arrows[0]), FadeIn(chain.stages[1]), *draw(chain.arrows[1]), FadeIn(chain.stages[2]), lag_ratio=0.3)
            self.go(FadeIn(picture_), *write(below))
        self.step(*write(*sums))

    def spikes(self, values, width, height):
        """All class probabilities along one axis, a thin line each, the largest as high as ``height`` if it is 1."""
        base = Line([0, 0, 0], [width, 0, 0], stroke_width=2, color=theme.GREY)
        whole = VGroup(base)
        ghost = Rectangle(width=width, height=height, stroke_width=0, fill_color=theme.PANEL, fill_opacity=1).move_to([width / 2, height / 2, 0])
        whole.add(ghost)
        for i in sorted(range(len(values or [])), key=lambda i: -values[i])[:40]:
            x = width * (i + 0.5) / len(values)
            whole.add(Line([x, 0, 0], [x, max(height * values[i], 0.012), 0], stroke_width=3.5 if values[i] < max(values) else 6, color=theme.BLUE))
        return whole


class FinalPrediction(ClassifierPage):
    route = "reference/s03/45"

    def title(self):
        return "The same dog now has its final prediction"

    def caption(self):
        best = self.top[0]
        return (f"The classifier read one row and gave {count(self.model.classes)} probabilities; {best.label} has the largest, {pct(best.probability)}. "
                "That was one forward pass, from pixels to one answer for one image.")

    def notes(self):
        best, p = self.top[0], self.dog.prediction
        right = "" if p.correct is None else " Here the answer is right." if p.correct else f" Here the answer is wrong: the picture shows a {p.known.label}."
        return (f"No patch voted for a label of its own; one head read one row.{right} Keep {pct(best.probability)} apart from an accuracy: it is what "
                "the model gives "
                f"this label on this {figures.picture_word(self.run, 'dog')}, and says nothing about how often it is right.")

    def build(self):
        m, best = self.model, self.top[0]
        photo = Photograph(self.run, side=3.2)
        y = 0.6
        photo.move_to([STAGE.left + 1.6, y, 0])
        under = words(f"The same {figures.picture_word(self.run, 'dog')}", theme.LABEL, bold=True).next_to(photo, DOWN, buff=0.14)
        strip = Strip(self.dog.h, theme.BLUE, 2.3, 0.7).move_to([-1.6, y, 0])
        cls = Group(words("Final CLS", theme.BODY, theme.BLUE, bold=True).next_to(strip, UP, buff=0.14),
                    words(f"{m.width} image features", theme.LABEL, theme.GREY).next_to(strip, DOWN, buff=0.14))
        head = Box("Linear + softmax", words(f"{count(m.classes)} probabilities", theme.LABEL, theme.GREY), width=2.9, height=1.3,
                   size=theme.BODY).move_to([1.55, y, 0])
        name = fit(words(best.label, theme.TITLE - 8, theme.BLUE, bold=True), 2.7, 1.0)
        answer = column(words("Choose the largest probability", theme.LABEL, theme.GREY, width=2.4, align="center"), gap=0)
        result = Box(name, words(f"{pct(best.probability)}", theme.TITLE, theme.INK, bold=True), width=3.1, height=1.75)
        result.move_to([STAGE.right - 1.55, y, 0])
        answer.next_to(result, UP, buff=0.16)
        arrows = Group(arrow(photo, strip), arrow(strip, head), arrow(head, result))
        way = Pipeline(*(words(t, theme.BODY, theme.BLUE if i == 3 else theme.INK, bold=i == 3) for i,
                         t in enumerate(("Pixels", "patches", "contextual features", "one image prediction"))), gap=0.75)
        way.move_to([0, STAGE.bottom + 0.3, 0])
        self.step(photo, *write(under))
        self.step(*draw(arrows[0]), Emerge(strip, photo), *write(*cls))
        self.step(*draw(arrows[1]), FadeIn(head))
        self.step(*draw(arrows[2]), *write(answer), FadeIn(result, scale=0.7))
        self.step(LaggedStart(*(FadeIn(x, shift=0.2 * RIGHT) for pair in zip(way.stages, [*way.arrows, Group()]) for x in pair
                                if x.family_members_with_points()), lag_ratio=0.3))
