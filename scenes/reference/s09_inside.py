"""Section 9 of the reference deck: attention maps, similarity maps and occlusion tests on the trained model."""

from scenes.kit import *  # noqa: F403
from vit_data import figures, rows

MORE = "Explore all nine examples ↗"


class LookInside(SectionCard):
    route = "reference/s09/1"

    def name(self):
        return "Look inside the trained model"

    def before(self):
        return "A prediction tells us the model’s answer, and nothing about how it came to it."

    def question(self):
        return "What can we measure inside its attention blocks?"

    def topics(self):
        return ("Feature similarity", "Attention maps", "Covered pixels")

    def art(self):
        found = self.dog.attention_map(self.model.depth, 1, rows.CLS)
        return MapView(self.run, found.values and found.values[1:], found.largest or found.strongest_weight, (None, theme.TEAL), side=4.1)

    def caption(self):
        return f"First read maps that the blocks computed; then cover parts of the {self.word()} and see what becomes of the prediction."

    def notes(self):
        return ("So far the model gave an answer and a probability. Now we open the same classifier, with the same weights and "
                "the same picture, and ask what can be measured on the way: first which rows resemble each other, then which "
                "rows read which, and last what happens to the answer when pixels disappear.")

    def word(self):
        return figures.picture_word(self.run, "dog")


class SimilarFeatures(Slide):
    route = "reference/s09/2"

    def title(self):
        return "Similar patch features can connect distant image regions"

    def found(self):
        query = self.dog.place("ear")
        return self.dog.similarity_map(self.model.depth, query), query, self.dog.place("other_ear")

    def caption(self):
        found, query, other = self.found()
        best = (f"{other}, on the other side, is the closest match of all" if found.strongest == other
                else f"Its closest match is {found.strongest} ({num(found.strongest_value)})")
        return f"{query} lies at the side of an ear. {best}: their final features point the same way. This is resemblance, not a weight that attention uses."

    def notes(self):
        found, query, other = self.found()
        return (f"Both rows are taken after the last block. The cosine of {query} and {other} is {num(found.pairs[other])}. A large cosine "
                "says that two rows carry alike features. It does not say that one attends to the other, and a bright area is "
                "not a segmentation of the animal.")

    def build(self):
        found, query, other = self.found()
        left, right = STAGE.columns(1.05, 1, gap=0.7)
        view = MapView(self.run, found.values, 1.0, (theme.BLUE, theme.GOLD), side=4.3)
        key = scale_bar(num(-1, 0), num(1, 0), (theme.BLUE, theme.GOLD))
        left.place(column(view, key, gap=0.18))
        mark, partner = view.photo.patch(query), view.photo.patch(other, "#FFFFFF")
        head = column(
            words(f"Query · {query}", theme.BODY, theme.VIOLET, bold=True), words(f"Feature similarity · block {found.block}", theme.BODY), gap=0.08, align=LEFT
        )
        pair = row(view.photo.crop(query, 1.1, theme.VIOLET), words("↔", theme.TITLE, theme.GREY), view.photo.crop(other, 1.1, theme.INK), gap=0.3)
        value = words(f"{query} ↔ {other}: *{num(found.pairs[other])}*", theme.CAPTION)
        rule = column(words(f"Compare the final {self.model.width}-number patch vectors.", theme.LABEL),
                      words("Violet outline: selected patch", theme.LABEL, theme.VIOLET),
                      words(f"Gold: positive cosine · fixed {num(-1, 0)} to 1", theme.LABEL, theme.GOLD), gap=0.1, align=LEFT)
        warning = words("Feature similarity ≠ attention weight", theme.BODY, bold=True)
        side = column(head, pair, value, rule, warning, words(MORE, theme.SMALL, theme.BLUE), gap=0.26, align=LEFT)
        right.place(side, LEFT)
        self.step(view.photo, mark, FadeIn(head))
        self.step(*view.reveal(), FadeIn(key), *write(rule))
        self.bring_to_front(mark)
        self.step(FadeIn(partner), Emerge(pair[0], view.photo.cell(query)), Emerge(pair[2], view.photo.cell(other)), FadeIn(pair[1]))
        self.go(*write(value))
        self.step(*write(warning, side[-1]))


class TwoHeads(Slide):
    route = "reference/s09/3"

    def title(self):
        return "Keep the query fixed; change only the attention head"

    def maps(self):
        return [self.dog.attention_map(4, head, self.dog.place("ear")) for head in (1, 2)]

    def caption(self):
        first, second = self.maps()
        scale = figures.common_scale((first, second))
        same = f"Both maps share one scale{f', 0–{pct(scale)}' if scale else ''}; the {self.model.tokens} weights of each head, CLS included, sum to 100%."
        differ = "The heads favour different patches." if first.strongest != second.strongest else f"Here both heads favour {first.strongest}."
        return f"{same} {differ}"

    def notes(self):
        first, second = self.maps()
        return (f"Same picture, same query {first.query}, same block {first.block}. Only the head changes, and with it the projections that "
                f"made queries and keys. Head {first.head} gives {pct(first.strongest_weight)} to {first.strongest}, head {second.head} gives "
                f"{pct(second.strongest_weight)} to {second.strongest}. Brightness can be compared across the two, because the scale is shared.")

    def build(self):
        maps = self.maps()
        scale = figures.common_scale(maps) or max(m.strongest_weight for m in maps)
        views, cards = [], []
        for found in maps:
            view = MapView(self.run, found.values and found.values[1:], scale, (None, theme.TEAL), side=3.55)
            head = words(f"Head {found.head}", theme.CAPTION, bold=True)
            best = words(f"{found.strongest}: *{pct(found.strongest_weight)}*", theme.BODY, theme.TEAL)
            cls = words(f"CLS: {pct(found.cls_weight)}" if found.cls_weight is not None else " ", theme.LABEL, theme.GREY)
            cards.append(column(head, view, row(best, cls, gap=0.5), gap=0.12))
            views.append(view)
        middle = column(
            words(f"Query · {maps[0].query}", theme.BODY, theme.VIOLET, bold=True),
            words(f"Same query and block {maps[0].block}", theme.LABEL, theme.GREY),
            scale_bar("0", pct(scale), (None, theme.TEAL), width=1.9),
            words("Different heads gather different mixtures.", theme.BODY, width=3.3, align="center"),
            words(MORE, theme.SMALL, theme.BLUE),
            gap=0.34,
        )
        STAGE.place(row(cards[0], middle, cards[1], gap=0.75))
        queries = [v.photo.patch(m.query) for v, m in zip(views, maps)]
        self.step(*(v.photo for v in views), *queries, FadeIn(middle[:2]))
        for view, found, card, query in zip(views, maps, cards, queries):
            self.step(FadeIn(card[0]), *view.reveal(), *([FadeIn(middle[2])] if found is maps[0] else []))
            self.bring_to_front(query)
            self.go(FadeIn(view.photo.patch(found.strongest, "#FFFFFF")), *write(*card[2]))
        self.step(*write(*middle[3:]))


class ClsReads(Slide):
    route = "reference/s09/4"

    def title(self):
        return "CLS gathers a message for the image summary"

    def found(self):
        return self.dog.attention_map(self.model.depth, 1, rows.CLS)

    def caption(self):
        found = self.found()
        return (f"CLS is the query here, and {found.strongest} gets the largest share of any patch. The message mixes all {self.model.tokens} value rows; "
                "more steps turn it into class scores.")

    def notes(self):
        found = self.found()
        own = f" CLS keeps {pct(found.cls_weight)} for itself." if found.cls_weight is not None else ""
        return (f"This is one head of the last block. {found.strongest} receives {pct(found.strongest_weight)} of the weight.{own} Do not read the map as the "
                "reason for the label: the other heads, the residual path, the MLP and the class head all have their part in it.")

    def build(self):
        found = self.found()
        left, right = STAGE.columns(1.15, 1, gap=0.5)
        limit = found.largest or found.strongest_weight
        view = MapView(self.run, found.values and found.values[1:], limit, (None, theme.TEAL), side=4.25)
        key = scale_bar("0", pct(limit), (None, theme.TEAL))
        left.place(column(view, key, gap=0.18), RIGHT)
        token = Box("CLS", words("current image state", theme.LABEL, theme.GREY), color=theme.AMBER)
        head = column(
            words("Query = CLS", theme.CAPTION, theme.AMBER, bold=True),
            words(f"Attention · block {found.block} · head {found.head}", theme.BODY),
            gap=0.08,
            align=LEFT,
        )
        best = column(
            words("CLS reads patch information", theme.BODY),
            words(f"{found.strongest}: *{pct(found.strongest_weight)}*", theme.CAPTION + 6, theme.TEAL),
            words("of this head’s weight", theme.LABEL, theme.GREY),
            words(f"Teal: 0 → {pct(limit)}", theme.LABEL, theme.TEAL),
            gap=0.08,
            align=LEFT,
        )
        note = words("One attention head is one part of the classifier.", theme.BODY, bold=True, width=right.width, align="left")
        right.place(column(head, token, best, note, words(MORE, theme.SMALL, theme.BLUE), gap=0.3, align=LEFT), LEFT)
        column_ = right
        self.step(view.photo, FadeIn(head), FadeIn(token))
        self.step(*view.reveal(), FadeIn(key))
        cell = view.photo.cell(found.strongest)
        self.step(FadeIn(view.photo.patch(found.strongest, "#FFFFFF")), *draw(arrow(cell.get_right(), token.get_left(), theme.TEAL, gap=0.08)), *write(best))
        self.step(*write(note, words(MORE, theme.SMALL, theme.BLUE).next_to(note, DOWN, buff=0.3).align_to([column_.left, 0, 0], LEFT)))


class CoverMeansGrey(Slide):
    route = "reference/s09/5"

    def title(self):
        return "“Cover” means replace these pixels with gray"

    def caption(self):
        cover = self.dog.covers.quadrants[0]
        return (f"A copy of the normalized input gets zeros in one {times(cover.height, cover.width)} corner. Everything else, the number of "
                "patches included, stays as it was.")

    def notes(self):
        t = self.model.transform
        return (f"Zero is not black here. The input has gone through the checkpoint’s transform, and with mean {num(t.mean[0], 1)} and standard deviation "
                f"{num(t.std[0], 1)} a zero stands for the middle grey. No row is removed: the model still reads all {self.model.patches} patches, "
                "some of them flat.")

    def program(self):
        """What the page shows, and what a test runs: ``transform`` and ``photo`` are given."""
        cover, size = self.dog.covers.quadrants[0], self.model.image
        return (f"x = transform(photo).unsqueeze(0)        # (1, {self.model.channels}, {size}, {size})\n"
                "covered = x.clone()                      # the original stays as it is\n"
                f"covered[:, :, :{cover.height}, :{cover.width}] = 0            # all RGB channels, {cover.name}")

    def build(self):
        covers, t, size = self.dog.covers, self.model.transform, self.model.image
        cover = covers.quadrants[0]
        fill, mean, std = num(covers.fill, 1), num(t.mean[0], 1), num(t.std[0], 1)
        upper, lower = STAGE.rows(2.2, 1, gap=0.3)
        before, after = Photograph(self.run, side=2.82), Photograph(self.run, side=2.82)
        grey = after.cover(cover, covers.fill)
        pair = row(column(words("Original input x", theme.LABEL, bold=True), before, gap=0.1),
                   column(words("Copy with gray pixels", theme.LABEL, bold=True), Group(after, grey), gap=0.1), gap=1.1)
        lines = column(
            words(f"{times(cover.height, cover.width)} pixels replaced", theme.BODY, bold=True),
            words(f"RGB fill = ({fill}, {fill}, {fill})", theme.BODY),
            words(f"After normalization: ({fill} − {mean}) / {std} = {num((covers.fill - t.mean[0]) / t.std[0], 0)}", theme.BODY),
            words(f"Same {times(size, size)} image size. All {self.model.patches} patches remain.", theme.LABEL, theme.GREY),
            gap=0.2,
            align=LEFT,
        )
        upper.place(row(pair, lines, gap=0.8), LEFT)
        listing = Code(self.program(), theme.LABEL, width=STAGE.width)
        lower.place(listing, LEFT)
        self.step(pair[0])
        self.step(Emerge(after, before), FadeIn(pair[1][0]), *draw(arrow(before, after)))
        self.go(FadeIn(grey, scale=0.6), *write(lines[0], lines[1]))
        self.step(*write(lines[2], lines[3]))
        self.step(FadeIn(listing))
        self.go(FadeIn(listing.mark(2)))


class RunItAgain(Slide):
    route = "reference/s09/6"

    def title(self):
        return "Run the covered image through the same trained model"

    def caption(self):
        covers = self.dog.covers
        cover = covers.quadrants[0]
        label = f"the label stays {covers.target.label}" if cover.keeps else f"the label becomes {cover.label.label}"
        return (f"Patch features, attention, CLS and scores are computed anew; the weights are not touched. The probability of {covers.target.label} "
                f"{self.effect(cover.points)}, and {label}.")

    def effect(self, change):
        size = points(abs(change), sign=False)
        return "does not move" if not float(size) else f"ends {size} points {'lower' if change < 0 else 'higher'}"

    def notes(self):
        covers = self.dog.covers
        cover = covers.quadrants[0]
        return (f"Nothing of the first pass can be reused: changed pixels change every row they meet. The probability of {covers.target.label} goes from "
                f"{pct(covers.target.probability)} to {pct(cover.probability)}. There is no backward pass and no optimizer here; we only ask the same "
                "model a second question.")

    def program(self):
        """What the page shows, and what a test runs: ``model``, ``x`` and ``covered`` are given."""
        target = self.dog.covers.target
        return ("with torch.inference_mode():                 # after model.eval()\n"
                f"    p_before = model(x).softmax(-1)[0]       # ({self.model.classes},)\n"
                "    p_after = model(covered).softmax(-1)[0]\n"
                f"before, after = p_before[{target.index}], p_after[{target.index}]  # {target.label}")

    def build(self):
        covers = self.dog.covers
        cover, target = covers.quadrants[0], covers.target
        _, lower = STAGE.rows(2.15, 1, gap=0.25)
        lanes = Group()
        for name, hidden, probability in (("Original x", None, target.probability), ("Covered copy", cover, cover.probability)):
            photo = Photograph(self.run, side=1.25)
            shown = Group(photo, photo.cover(hidden, covers.fill)) if hidden else Group(photo)
            model = Box("Same trained ViT", words("patches → blocks → CLS → head", theme.SMALL, theme.GREY), width=4.7)
            lanes.add(Group(words(name, theme.BODY, bold=True), shown, model, words(pct(probability), theme.TITLE - 8, bold=True)))
        for lane, y in zip(lanes, (1.4, -0.05)):
            for part, x in zip(lane, (STAGE.left, -3.65, -1.85, 4.05)):
                part.move_to([x, y, 0], aligned_edge=LEFT)
        head = Group(words("Two independent forward passes", theme.LABEL, theme.GREY), words(f"P({target.label})", theme.LABEL, theme.GREY)).set_y(2.35)
        head[0].align_to(lanes, LEFT)
        head[1].align_to(lanes[0][3], LEFT).shift(min(0, STAGE.right - head[1].get_right()[0]) * RIGHT)
        listing = Code(self.program(), theme.SMALL)
        lower.place(listing, LEFT)
        same = words("Same weights; recompute all activations", theme.BODY, bold=True, width=3.4)
        same.next_to(listing, RIGHT, buff=0.6)
        arrows = [[arrow(lane[1], lane[2]), arrow(lane[2], lane[3])] for lane in lanes]
        self.step(FadeIn(head[0]), *(FadeIn(lane[i]) for lane in lanes for i in (0, 1)))
        for lane, (into, out) in zip(lanes, arrows):
            self.step(*draw(into), FadeIn(lane[2]))
            self.go(*draw(out), *write(lane[3]), *([FadeIn(head[1])] if lane is lanes[0] else []))
        self.step(FadeIn(listing), *write(same))


class FourCovers(Slide):
    route = "reference/s09/7"

    def title(self):
        return "Four covers, four new forward passes"

    def caption(self):
        covers = self.dog.covers
        worst = covers.worst_quadrant
        size = points(abs(worst.points), sign=False)
        effect = (f"Covering the {worst.name} costs most, {size} points." if worst.points < 0
                  else f"No cover lowers the probability; the {worst.name} raises it least, by {size} points.")
        kept = figures.how_many(covers.quadrants_keep, len(covers.quadrants))
        verb = "still says" if covers.quadrants_keep == 1 else "still say"
        last = " Attention describes mixing inside; a cover tests what the answer rests on." if worst.points < 0 else ""
        return f"{effect} {kept[0].upper()}{kept[1:]} covered pictures {verb} {covers.target.label}.{last}"

    def notes(self):
        return ("Every picture went through the same weights on its own. Compare each probability with the uncovered one; "
                "the next page asks the same question patch by patch.")

    def build(self):
        covers = self.dog.covers
        left, right = STAGE.columns(1, 2.6, gap=0.6)
        original = Photograph(self.run, side=2.5)
        target = f"P({covers.target.label})"
        first = column(
            words("Original", bold=True),
            original,
            words(target, theme.LABEL, theme.GREY),
            words(pct(covers.target.probability), theme.TITLE - 12, bold=True),
            gap=0.12,
        )
        left.place(first)
        self.step(first)
        cards = Group()
        for cover in covers.quadrants:
            photo = Photograph(self.run, side=1.85)
            veil = photo.cover(cover, covers.fill)
            verdict = (f"still {covers.target.label}" if cover.keeps else f"now {cover.label.label}")
            texts = column(words(cover.name.capitalize(), bold=True), words(pct(cover.probability), theme.TITLE - 16, bold=True),
                           words(f"{points(cover.points)} points", theme.LABEL, theme.RED if cover.points < 0 else theme.BLUE),
                           words(verdict, theme.SMALL, theme.GREY), gap=0.06, align=LEFT)
            cards.add(row(Group(photo, veil), texts, gap=0.3))
        place = grid([[cards[0], cards[1]], [cards[2], cards[3]]], gap=(0.6, 0.5))
        right.place(place)
        for card in cards:
            self.step(FadeIn(card[0]), *write(*card[1]), lag_ratio=0.1)


class SmallerCovers(Slide):
    route = "reference/s09/8"

    def title(self):
        return "Use smaller covers to ask a more local question"

    def caption(self):
        size = self.model.patch
        return (f"Only the cover shrinks. The model keeps its {size}×{size} patches and its {times(self.model.image, self.model.image)} input, and every test "
                "begins with the untouched picture.")

    def notes(self):
        count_ = self.dog.covers.patches.count if self.dog.covers.patches else self.model.patches
        return (
            f"The model is not changed at all, neither its patch size nor its weights. We hide one of the {self.model.patches} places at a time and get "
            f"{count_} separate pictures and {count_} separate answers. A small cover asks a local question; it may also move the answer very little, because "
            "the rest of the picture still carries the evidence."
        )

    def build(self):
        covers = self.dog.covers
        big, small = covers.quadrants[0], covers.patches.largest
        upper, lower = STAGE.rows(3.6, 1, gap=0.3)
        cards = []
        for name, cover, tests in (("Large cover", big, len(covers.quadrants)), ("Small cover", small, covers.patches.count)):
            photo = Photograph(self.run, side=2.95, grid=True)
            grey = photo.cover(cover, covers.fill)
            hidden = cover.height * cover.width // self.model.patch**2
            what = f"{hidden} patches covered" if hidden > 1 else "1 patch covered"
            text = column(
                words(f"{name}: {times(cover.height, cover.width)}", theme.BODY, bold=True),
                words(f"{what} · {count(tests)} tests", theme.LABEL, theme.GREY),
                gap=0.06,
            )
            cards.append((photo, grey, text, column(Group(photo, grey), text, gap=0.14)))
        upper.place(row(*(c[3] for c in cards), gap=2.2))
        loop = Pipeline(*(Box(words(t, theme.LABEL)) for t in ("Fresh original", "cover one region", "rerun", "measure the drop")), gap=0.6)
        lower.place(loop)
        (photo, grey, text, _), (photo2, grey2, text2, _) = cards
        self.step(photo, FadeIn(grey, scale=0.7), *write(text))
        self.step(photo2, FadeIn(grey2, scale=2.5), FadeIn(photo2.patch(small.name, theme.RED if small.points < 0 else theme.BLUE, 3)), *write(text2))
        self.step(*write(*loop.stages), *draw(*loop.arrows), lag_ratio=0.2)


class LocalSensitivity(Slide):
    route = "reference/s09/9"

    def title(self):
        return "Smaller covers reveal local sensitivity"

    def caption(self):
        _covers, tests = self.dog.covers, self.dog.covers.patches
        worst = tests.largest
        effect = (f"Hiding {worst.name} costs most, {points(abs(worst.points), sign=False)} points" if worst.points < 0
                  else f"No single patch lowers the probability; {worst.name} raises it least")
        kept = tests.count - tests.keep
        labels = "the top label never changes" if not kept else f"{count(kept)} of {count(tests.count)} covers change the top label"
        return f"{effect}, and {labels}. The map shows changes of a probability; it is not an attention map."

    def notes(self):
        covers, tests = self.dog.covers, self.dog.covers.patches
        return (f"Every square is a forward pass of its own with one grey patch. Read the colour as the change in the probability of {covers.target.label}. "
                "A pale square does not prove that its patch is useless: other regions may hold the same clue, and the drops do not add up to a whole. "
                f"The strongest single test is {tests.largest.name}.")

    def build(self):
        covers, tests = self.dog.covers, self.dog.covers.patches
        worst = tests.largest
        falls = worst.points < 0
        left, right = STAGE.columns(1, 1.75, gap=0.6)
        photo = Photograph(self.run, side=2.7)
        grey = photo.cover(worst, covers.fill)
        word = "Down" if falls else "Up"
        one = column(words(f"One test: cover {worst.name}", theme.BODY, bold=True), Group(photo, grey),
                     words(f"{pct(covers.target.probability)} → *{pct(worst.probability)}*", theme.CAPTION),
                     words(f"{word} {points(abs(worst.points), sign=False)} percentage points", theme.LABEL, theme.RED if falls else theme.BLUE),
                     words(f"P({covers.target.label})", theme.SMALL, theme.GREY), gap=0.1)
        left.place(one)
        limit = tests.scale
        view = MapView(self.run, tests.points and [-p for p in tests.points], limit, (theme.BLUE, theme.RED), side=3.9)
        end = f"{limit:g}"
        key = scale_bar(f"−{end}", f"+{end}", (theme.BLUE, theme.RED), width=2.2)
        heading = words(f"All {count(tests.count)} test results", theme.BODY, bold=True)
        legend = column(words("Each square = one separate test", theme.LABEL, width=2.9),
                        words("Red: probability falls", theme.LABEL, theme.RED), words("Blue: probability rises", theme.LABEL, theme.BLUE),
                        column(words("Drop scale, points", theme.SMALL, theme.GREY), key, gap=0.06, align=LEFT),
                        words(f"{'Largest drop' if falls else 'Smallest rise'}: {worst.name}", theme.LABEL, bold=True),
                        words(self.verdict(), theme.LABEL, width=2.9), gap=0.24, align=LEFT)
        right.place(row(column(heading, view, gap=0.12), legend, gap=0.45))
        mark = photo.patch(worst.name, theme.RED if falls else theme.BLUE, 3)
        self.step(photo, *write(one[0]))
        self.step(FadeIn(grey, scale=2.5), FadeIn(mark), *write(*one[2:]))
        self.step(view.photo, *write(heading, legend[0]))
        self.step(*view.reveal(), *write(*legend[1:4]))
        self.step(FadeIn(view.photo.patch(worst.name, theme.INK, 3)), *write(*legend[4:]))

    def verdict(self):
        tests, target = self.dog.covers.patches, self.dog.covers.target
        if tests.keep == tests.count:
            return f"All {count(tests.count)} tests still predict {target.label}."
        return f"{count(tests.keep)} of {count(tests.count)} tests still predict {target.label}."
