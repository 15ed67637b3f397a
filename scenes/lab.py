"""The attention and similarity lab: nine examples, one map each, and one query followed through all blocks.

Any other map of the run can be looked at on the page that ``python render.py lab`` writes.
"""

from manim import Animation, GrowFromEdge, Rectangle

from scenes.kit import *  # noqa: F403
from vit_data import examples, figures, rows
from vit_data.run import AttentionMap

SIGNED, WEIGHT = (theme.BLUE, theme.GOLD), (None, theme.TEAL)
MANY = 4  # sources listed


class Sources(Group):
    """The strongest sources of a map, one line each: the patch, its name, a bar, its value. ``rows[i]`` has these parts.

    Bars share the scale of the first; a value that the run doesn't know leaves its line without bar and number.
    """

    def __init__(self, photo: Photograph, found: list[tuple[str, float | None]], form, color: str, width: float = 3.9, gap: float = 0.12):
        self.names, self.rows = [name for name, _ in found], Group()
        limit = max((abs(v) for _, v in found if v is not None), default=0) or 1
        for name, value in found:
            crop = photo.crop(name, 0.42, theme.INK)
            label = words(name, theme.BODY, bold=True)
            parts = Group(crop, label.move_to([0.42, 0, 0], aligned_edge=LEFT))
            crop.move_to([0, 0, 0])
            if value is not None:
                bar = Rectangle(width=max(width * abs(value) / limit, 0.03), height=0.26, stroke_width=0, fill_opacity=1,
                                fill_color=color if value >= 0 else theme.BLUE)
                parts.add(bar.move_to([1.45, 0, 0], aligned_edge=LEFT), words(form(value), theme.BODY).move_to([1.45 + width + 0.25, 0, 0], aligned_edge=LEFT))
            self.rows.add(parts)
        super().__init__(self.rows)
        for i, line in enumerate(self.rows):
            line.shift(i * (0.42 + gap) * DOWN)

    def show(self, photo: Photograph) -> list[Animation]:
        """Each patch leaves the picture for its line; its bar grows."""
        moves = []
        for name, (crop, label, *value) in zip(self.names, self.rows):
            moves += [Emerge(crop, photo.cell(name)), *write(label), *(GrowFromEdge(v, LEFT) if i == 0 else FadeIn(v) for i, v in enumerate(value))]
        return moves


class Shares(Group):
    """All weights of a query as one bar: CLS, the query's own, the other patches; under it the shares, which add up to 100%."""

    def __init__(self, found: AttentionMap, others: int, width: float):
        query_cls = found.query == rows.CLS
        cls, own = found.cls_weight, examples.own_weight(found)
        named = [("CLS itself" if query_cls else "CLS", cls, theme.AMBER), *([("itself", own, theme.VIOLET)] if own is not None else [])]
        rest = 1 - sum(share for _, share, _ in named)
        named.append((f"{count(others - (own is not None))} {'other ' if own is not None else ''}patches", rest, theme.TEAL))
        printed = examples.split_in_hundred([share for _, share, _ in named])
        pieces = [Rectangle(width=max(width * share, 0.012), height=0.24, stroke_width=0, fill_color=color, fill_opacity=1) for _, share, color in named]
        bar = row(*pieces, gap=0)
        terms = " + ".join(f"{what} *{num(value, 2)}%*" for (what, _, _), value in zip(named, printed))
        super().__init__(bar, words(f"{terms} = 100%", theme.LABEL, width=width))
        self.arrange(DOWN, buff=0.1, aligned_edge=LEFT)


class LabSlide(Slide):
    """An example: its map on the left, what the run finds there on the right."""

    @property
    def example(self) -> examples.Example:
        return examples.EXAMPLES[int(self.route.split("/")[1]) - 1]

    def title(self):
        return self.example.title(self.run)

    def found(self):
        return self.example.find(self.run)

    def head(self):
        """Which query, which map."""
        found, attention = self.found(), self.example.kind == "attention"
        query = words(f"Query · {found.query}", theme.CAPTION, theme.AMBER if found.query == rows.CLS else theme.VIOLET, bold=True)
        what = f"Attention · block {found.block} · head {found.head}" if attention else f"Feature similarity · after block {found.block}"
        return column(query, words(what, theme.BODY), gap=0.06, align=LEFT)

    def sources(self, photo, many=MANY):
        found, attention = self.found(), self.example.kind == "attention"
        if found.values:
            best = examples.top_sources(found.values[1:] if attention else found.values, found.query, many)
            partner = self.example.partner and self.dog.place(self.example.partner)
            if partner and partner not in dict(best):
                best[-1] = (partner, found.values[rows.index(partner) - 1])
        else:
            best = [(found.strongest, found.strongest_weight if attention else found.strongest_value)]
        return Sources(photo, best, pct if attention else num, theme.TEAL if attention else theme.GOLD)

    def lead(self, sources):
        """What the listed patches are; a partner that is none of the strongest is named."""
        partner = self.example.partner and self.dog.place(self.example.partner)
        listed = self.found().values and [name for name, _ in examples.top_sources(self.found().values, self.found().query, len(sources.names))]
        if self.example.kind == "attention":
            return "Largest weights on patches" if self.example.place is None else "Largest weights on other patches"
        return "Closest other patches" + (f", and {partner}" if listed and partner and partner not in listed else "")

    def view(self, found, side):
        """A map with its scale: cosines from −1 to 1, weights from 0 to the map's own largest."""
        if isinstance(found, AttentionMap):
            limit = found.largest or found.strongest_weight
            view = MapView(self.run, found.values and found.values[1:], limit, WEIGHT, side=side)
            return view, scale_bar("0", pct(limit), WEIGHT, width=min(2.6, side - 1.4))
        return MapView(self.run, found.values, 1.0, SIGNED, side=side), scale_bar(num(-1, 0), num(1, 0), SIGNED, width=min(2.6, side - 1.2))

    def build(self):
        found, attention = self.found(), self.example.kind == "attention"
        left, right = STAGE.columns(1, 1.82, gap=0.75)
        view, key = self.view(found, 4.35)
        left.place(column(view, key, gap=0.18), LEFT)
        sources = self.sources(view.photo)
        lead = words(self.lead(sources), theme.LABEL, theme.GREY)
        parts = [self.head(), column(lead, sources, gap=0.14, align=LEFT)]
        if attention and found.cls_weight is not None:
            parts.append(Shares(found, self.model.patches, right.width))
        parts.append(words(self.example.lesson, theme.BODY, bold=True, width=right.width))
        side = right.place(column(*parts, gap=0.36, align=LEFT), LEFT)
        mark = [view.photo.patch(found.query)] if found.query != rows.CLS else []
        self.step(view.photo, *mark, FadeIn(side[0]))
        self.step(*view.reveal(), FadeIn(key))
        self.bring_to_front(*mark)
        source = [view.photo.patch(found.strongest, "#FFFFFF")]
        if self.example.partner and found.strongest != self.dog.place(self.example.partner):
            source.append(view.photo.patch(self.dog.place(self.example.partner), "#FFFFFF", 2))
        self.step(*(FadeIn(s) for s in source), *write(lead), *sources.show(view.photo))
        if len(parts) == 4:
            self.step(*write(*side[2]))
        self.step(*write(side[-1]))

    def value(self, found):
        """ (0.902), or nothing where the run does not know the cosine."""
        return f" ({num(found.strongest_value)})" if found.strongest_value is not None else ""


class Background(LabSlide):
    route = "lab/1"

    def caption(self):
        found = self.found()
        return (f"{found.query} lies in the background, and {found.strongest} resembles it most{self.value(found)}. The map is made of cosines between rows; "
                "the model has drawn no outline of the animal.")

    def notes(self):
        found = self.found()
        return (f"We take the row of {found.query} after block {found.block} and compare it with every other row. Gold means that two rows point the "
                f"same way, blue that "
                f"they point apart; the scale never changes. The closest match is {found.strongest}. Ask the audience where the gold stops, and "
                f"whether they would "
                "have drawn the border there.")


class Corner(LabSlide):
    route = "lab/2"

    def caption(self):
        found = self.found()
        corners = [c for c in examples.corners(self.model.grid) if c != found.query]
        best = f"{found.strongest}, {'another corner' if found.strongest in corners else 'no corner'}, matches {found.query} best{self.value(found)}."
        if not found.values:
            return f"{best} Nothing says that a strong match belongs to an object."
        low, high = (num(f(found.values[rows.index(c) - 1] for c in corners)) for f in (min, max))
        return (f"{best} The cosines of the {figures.number_word(len(corners))} other corners run from {low} to {high}: "
                "a strong match need not belong to an object.")

    def notes(self):
        found = self.found()
        return (f"{found.query} shows nothing that has a name. It still has matches, and {found.strongest} is the best of them. A row also carries "
                f"where its patch lies, "
                "so places alike can give features alike. Look first at where the matches are, and only then say what they mean.")


class OtherEar(LabSlide):
    route = "lab/3"

    def caption(self):
        found, other = self.found(), self.dog.place("other_ear")
        pair = num(found.pairs[other])
        best = (f"{other}, on the other side of the head, is the closest match of {found.query}: cosine {pair}." if found.strongest == other
                else f"{other}, on the other side of the head, has cosine {pair} with {found.query}; {found.strongest} is closer still{self.value(found)}.")
        return f"{best} Distance on the picture is no obstacle."

    def notes(self):
        found, other = self.found(), self.dog.place("other_ear")
        return (f"{found.query} is one side of an ear, {other} the other side of the head. Their cosine after block {found.block} is "
                f"{num(found.pairs[other])}. "
                "That holds for this picture and these weights. With another photograph the match may go elsewhere, so we say what we measured and no more.")


class Nose(LabSlide):
    route = "lab/4"

    def caption(self):
        found = self.found()
        near = f"{found.strongest}, right beside it," if examples.neighbours(found.query, found.strongest, self.model.grid) else found.strongest
        return f"The query moves to {found.query}, by the nose, and {near} is now the closest match{self.value(found)}. A map of cosines belongs to its query."

    def notes(self):
        found = self.found()
        return (f"Nothing changed but the row that we compare with: it is now {found.query}. All {self.model.patches} cosines are computed again, and "
                f"{found.strongest} comes first. "
                "Whoever shows such a map has to say which patch was asked.")


class Chest(LabSlide):
    route = "lab/5"

    def caption(self):
        found = self.found()
        where = examples.level(found.query, found.strongest, self.model.grid)
        return (f"Asked from the chest, {found.query} finds {found.strongest}, {where} on the picture{self.value(found)}. Fur, face and muzzle have "
                f"features of their own, "
                "though they are one animal.")

    def notes(self):
        found = self.found()
        return (f"The query sits on the chest now, at {found.query}; {found.strongest} resembles it most. If similarity were a segmentation, the "
                f"whole animal would be one colour. "
                "It is not meant to be: parts differ, and their rows may differ too.")


class Rewind(LabSlide):
    route = "lab/6"

    def maps(self):
        return [self.found(), self.dog.similarity_map(self.model.depth, self.example.query(self.run))]

    def caption(self):
        first, last = self.maps()
        other = self.dog.place(self.example.partner)
        before, after = first.pairs[other], last.pairs[other]
        verb = "stays at" if num(before) == num(after) else "rises to" if after > before else "falls to"
        return (f"The cosine of {first.query} and {other} is {num(before)} after block {first.block} and {verb} {num(after)} after block {last.block}. "
                "Other pairs may go another way.")

    def notes(self):
        first, last = self.maps()
        return (f"The same two patches and the same pixels, looked at after block {first.block} and after block {last.block}. The first map has seen "
                f"one round of mixing, the last "
                f"one {figures.number_word(last.block)}. Both have the same scale, so here colours may be compared.")

    def build(self):
        maps, other = self.maps(), self.dog.place(self.example.partner)
        views = [self.view(m, 3.6) for m in maps]
        cards, marks = [], []
        for (view, _), found in zip(views, maps):
            value = words(f"{found.query} ↔ {other}: *{num(found.pairs[other])}*", theme.CAPTION)
            cards.append(column(words(f"After block {found.block}", theme.CAPTION, bold=True), view, value, gap=0.14))
        middle = column(words(f"Query · {maps[0].query}", theme.BODY, theme.VIOLET, bold=True),
                        words("Same pixels, same pair", theme.LABEL, theme.GREY), views[0][1],
                        words(self.example.lesson, theme.BODY, bold=True, width=3.5, align="center"), gap=0.4)
        STAGE.place(row(cards[0], middle, cards[1], gap=0.55))
        for (view, _), found in zip(views, maps):
            marks.append(Group(view.photo.patch(found.query), view.photo.patch(other, "#FFFFFF")))
        self.step(*(v.photo for v, _ in views), *(FadeIn(m[0]) for m in marks), *write(*middle[:2]))
        for (view, _), card, mark, first in zip(views, cards, marks, (True, False)):
            self.step(*write(card[0]), *view.reveal(), *([FadeIn(middle[2])] if first else []))
            self.bring_to_front(mark[0])
            self.go(FadeIn(mark[1]), *write(card[2]))
        self.step(*write(middle[3]))


class EarReads(LabSlide):
    route = "lab/7"

    def caption(self):
        found = self.found()
        own = examples.own_weight(found)
        more = f", and itself {pct(own)}" if own is not None and own > found.strongest_weight else ""
        return (f"{found.query} gives the value row of {found.strongest} a weight of {pct(found.strongest_weight)}, more than any other patch gets{more}. "
                f"All {self.model.tokens} weights together make up its message.")

    def notes(self):
        found = self.found()
        cls = f" CLS, which has no place on the picture, gets {pct(found.cls_weight)}." if found.cls_weight is not None else ""
        return (f"Now we leave resemblance and look at attention: block {found.block}, head {found.head}, query {found.query}. Softmax has turned its "
                f"scores into weights that sum to one; "
                f"the largest on another patch is {pct(found.strongest_weight)}, on {found.strongest}.{cls} A weight says how much of a value row is "
                f"read. It is not a cosine.")


class OtherHead(LabSlide):
    route = "lab/8"

    def maps(self):
        return [self.dog.attention_map(self.example.depth(self.run), head, self.example.query(self.run)) for head in (1, self.example.head)]

    def caption(self):
        first, second = self.maps()
        one, other = pct(first.strongest_weight), pct(second.strongest_weight)
        favours = (f"Head {second.head} prefers {second.strongest} ({other}), head {first.head} {first.strongest} ({one})."
                   if first.strongest != second.strongest else f"Both heads prefer {first.strongest}: {one} and {other}.")
        return f"{favours} Each map runs up to its own largest weight, so equal teal does not mean equal weight."

    def notes(self):
        first, second = self.maps()
        return (f"Picture, block and query stay; only the head changes, and with it the projections for q and k. Head {second.head} puts "
                f"{pct(second.strongest_weight)} on {second.strongest}. "
                "Both maps are stretched to their own maximum, so read the number at the end of each scale before you compare.")

    def build(self):
        maps, cards, views = self.maps(), [], []
        for found in maps:
            view, key = self.view(found, 3.1)
            best = words(f"{found.strongest}: *{pct(found.strongest_weight)}*", theme.BODY, theme.TEAL)
            cls = words(f"CLS, apart: *{pct(found.cls_weight)}*", theme.LABEL, theme.AMBER) if found.cls_weight is not None else words(" ", theme.LABEL)
            cards.append(column(words(f"Head {found.head}", theme.CAPTION, bold=True), view, key, row(best, cls, gap=0.5), gap=0.14))
            views.append(view)
        middle = column(words(f"Query · {maps[0].query}", theme.BODY, theme.VIOLET, bold=True),
                        words(f"Attention · block {maps[0].block}", theme.LABEL, theme.GREY),
                        words(self.example.lesson, theme.BODY, bold=True, width=3.7, align="center"),
                        words(f"In each head the {self.model.tokens} weights sum to 100%.", theme.LABEL, theme.GREY, width=3.7, align="center"), gap=0.4)
        STAGE.place(row(cards[0], middle, cards[1], gap=0.7))
        queries = [v.photo.patch(m.query) for v, m in zip(views, maps)]
        self.step(*(v.photo for v in views), *queries, *write(*middle[:2]))
        for view, found, card, query in zip(views, maps, cards, queries):
            self.step(*write(card[0]), *view.reveal(), FadeIn(card[2]))
            self.bring_to_front(query)
            self.go(FadeIn(view.photo.patch(found.strongest, "#FFFFFF")), *write(*card[3]))
        self.step(*write(*middle[2:]))


class ClsGathers(LabSlide):
    route = "lab/9"

    def caption(self):
        found = self.found()
        return (f"CLS is the query: a row that stands for no patch. In this head {found.strongest} gets {pct(found.strongest_weight)} of its weight, "
                f"more than any other patch; "
                "the class scores rest on much more than this map.")

    def notes(self):
        found = self.found()
        own = f" It keeps {pct(found.cls_weight)} for itself." if found.cls_weight is not None else ""
        return (f"The classifier reads the CLS row alone, so what CLS reads matters. In block {found.block}, head {found.head}, {found.strongest} "
                f"receives {pct(found.strongest_weight)}.{own} "
                f"There are {self.model.heads} heads and {self.model.depth} blocks, residual paths and MLPs; one map is one measurement and no "
                f"explanation of the label.")


class WalkTheBlocks(Slide):
    route = "lab/10"

    def title(self):
        return f"One query through all {figures.number_word(self.model.depth)} blocks"

    def maps(self):
        return examples.walk(self.run), self.dog.place("ear"), self.dog.place("other_ear")

    def caption(self):
        maps, query, other = self.maps()
        (_, first, _), (_, last, _) = maps[0], maps[-1]
        text = f"From the first block to the last the cosine of {query} and {other} goes from {num(first.pairs[other])} to {num(last.pairs[other])}."
        favoured = {a.strongest for _, _, a in maps if a}
        if all(a for _, _, a in maps):
            kinds = "always favours the same patch" if len(favoured) == 1 else f"favours {figures.number_word(len(favoured))} different patches on the way"
            return f"{text} Head 1 {kinds}: what a row reads changes with every block."
        return f"{text} What a row reads is a new question in every block."

    def notes(self):
        maps, query, other = self.maps()
        known = [a for _, _, a in maps if a and a.cls_weight is not None]
        most = max(known, key=lambda a: a.cls_weight, default=None)
        cls = f" CLS, shown apart, gets most in block {most.block}: {pct(most.cls_weight)}." if most and len(known) == len(maps) else ""
        return (f"We follow {query} through the whole model. The upper row shows what its features resemble after each block; the number is the "
                f"cosine with {other}. "
                f"The lower row shows what head 1 of each block reads, the favoured patch and its weight.{cls} The upper scale is fixed, the lower "
                f"one is stretched map by map, "
                "so compare its numbers and not its brightness.")

    def build(self):
        maps, query, other = self.maps()
        pitch, side = STAGE.width / (len(maps) + 1), 0.92
        x = [STAGE.left + pitch * (i + 0.5) for i in range(len(maps) + 1)]
        top = words(f"Similarity after each block: cosine from {num(-1, 0)} to 1, in numbers with {other}", theme.LABEL, theme.GREY)
        below = words("Attention in each block, head 1: full teal is the weight printed, the largest on another patch", theme.LABEL, theme.GREY)
        top.move_to([STAGE.left, STAGE.top - 0.2, 0], aligned_edge=LEFT)
        below.move_to([STAGE.left, STAGE.top - 2.5, 0], aligned_edge=LEFT)
        numbers, alike, reads = Group(), [], []
        for (block, similarity, attention), at_x in zip(maps, x[1:]):
            numbers.add(words(str(block), theme.LABEL, bold=True).move_to([at_x, STAGE.top - 0.58, 0]))
            upper = MapView(self.run, similarity and similarity.values, 1.0, SIGNED, side=side).move_to([at_x, STAGE.top - 1.24, 0])
            limit = attention and attention.strongest_weight
            lower = MapView(self.run, attention and attention.values and attention.values[1:], limit or 1.0, WEIGHT, side=side)
            lower.move_to([at_x, STAGE.top - 3.2, 0])
            cosine = words(num(similarity.pairs[other]) if similarity else "–", theme.SMALL).move_to([at_x, STAGE.top - 1.9, 0])
            best = Group(words("–", theme.SMALL))
            if attention:
                best = Group(words(attention.strongest, theme.SMALL, bold=True), words(pct(attention.strongest_weight), theme.SMALL, theme.TEAL))
            if attention and attention.cls_weight is not None:
                best.add(words(pct(attention.cls_weight), theme.SMALL, theme.AMBER))
            for line, y in zip(best, (3.87, 4.2, 4.53)):
                line.move_to([at_x, STAGE.top - y, 0])
            alike.append((upper, cosine, Group(upper.photo.patch(query, width=2), upper.photo.patch(other, "#FFFFFF", 1.6))))
            strongest = [lower.photo.patch(attention.strongest, "#FFFFFF", 1.6)] if attention else []
            reads.append((lower, best, Group(lower.photo.patch(query, width=2), *strongest)))
        legend = Group(*(words(t, theme.SMALL, c, bold=c != theme.INK).move_to([STAGE.left, STAGE.top - y, 0], aligned_edge=LEFT)
                         for t, c, y in (("block", theme.GREY, 0.58), ("strongest", theme.INK, 3.87), ("weight", theme.TEAL, 4.2), ("CLS", theme.AMBER, 4.53))))
        photo = Photograph(self.run, side=4.5)
        start = Group(photo, photo.patch(query), photo.patch(other, "#FFFFFF")).move_to(STAGE.center)
        name = words(f"Query · {query}", theme.CAPTION, theme.VIOLET, bold=True).next_to(photo, RIGHT, buff=0.5)
        partner = words(f"Followed: its cosine with {other}", theme.BODY).next_to(name, DOWN, buff=0.25, aligned_edge=LEFT)
        self.step(start, *write(name, partner))
        self.step(FadeOut(name, partner), start.animate.scale(side / photo.width).move_to([x[0] - (pitch - side) / 2 + 0.02, STAGE.top - 1.24, 0]))
        self.go(FadeIn(top), FadeIn(legend[0]), *write(*numbers), lag_ratio=0.05)
        self.go(*(FadeIn(view.photo) for view, _, _ in alike), lag_ratio=0.1, run_time=1.2)
        self.step(*(FadeIn(Group(view.layers, marks)) for view, _, marks in alike), lag_ratio=0.35, run_time=3.0)
        self.go(*write(*(cosine for _, cosine, _ in alike)), lag_ratio=0.1)
        self.step(FadeIn(below), *(FadeIn(view.photo) for view, _, _ in reads), lag_ratio=0.1, run_time=1.2)
        self.go(*(FadeIn(Group(view.layers, marks)) for view, _, marks in reads), lag_ratio=0.35, run_time=3.0)
        self.step(*write(*legend[1:], *(line for _, best, _ in reads for line in best)), lag_ratio=0.02)
