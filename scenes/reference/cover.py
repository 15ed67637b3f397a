"""The opening page of the reference deck."""

import numpy as np

from scenes.kit import *  # noqa: F403
from vit_data import figures, rows


class PictureBecomesTokens(Slide):
    route = "reference/cover"
    bare = True

    def title(self):
        return "Vision Transformer · optional labs and references"

    def notes(self):
        return (f"Start on the whole {figures.picture_word(self.run, 'dog')}. One click cuts it into {self.model.patches} patches, lets the row that holds "
                "the nose slide out, and puts the learned CLS row in front: the sequence that every block of this deck works on. "
                "The footer names the weights and pictures behind all numbers that follow; the labs and references after this page are optional.")

    def build(self):
        n, size, unit = self.model.grid, 5.0, 0.8
        photo = Photograph(self.run, side=size).move_to([STAGE.right - size / 2, 3.55 - size / 2, 0])
        blocks = photo.blocks()
        whole = Tiles.boxes_of(*(photo.cell(i + 1) for i in range(n * n)))
        apart = whole * [1, 1, 0.86, 0.86]
        first = (rows.grid_place(self.dog.photo.places["nose"], n)[0] - 1) * n
        leaving = np.arange(first, first + n)
        staying = np.setdiff1d(np.arange(n * n), leaving)

        pitch = (STAGE.width - unit) / n
        line = np.array([[STAGE.left + unit / 2 + pitch * (i + 1), -2.75, unit, unit] for i in range(n)])
        start = Group(panel(unit, unit, theme.AMBER, theme.AMBER), words("CLS", theme.BODY, "#FFFFFF", bold=True))
        start.move_to([STAGE.left + unit / 2, -2.75, 0])
        head = column(words("Vision", 150, bold=True), words("Transformer", 150, bold=True), gap=-0.1, align=LEFT)
        under = words("optional labs and references", 52, theme.BLUE)
        title = column(head, under, gap=0.3, align=LEFT).move_to([STAGE.left + 0.42, photo.get_center()[1], 0], aligned_edge=LEFT)
        mark = Area(STAGE.left, title.get_bottom()[1], STAGE.left + 0.09, title.get_top()[1])
        bar = panel(mark.width, mark.height, theme.BLUE, theme.BLUE).move_to(mark.center)

        self.step(photo)
        rest = Tiles([blocks[i] for i in staying], whole[staying], smooth=not photo.missing)
        row_ = Tiles([blocks[i] for i in leaving], whole[leaving], smooth=not photo.missing)
        self.step(FadeIn(rest, row_), run_time=0.4)
        self.remove(photo)
        self.go(Glide(rest, apart[staying]), Glide(row_, apart[leaving]))
        slots = Group(*(panel(w, h, theme.PANEL).move_to([x, y, 0]) for x, y, w, h in apart[leaving]))
        self.add(slots, row_)
        self.go(Glide(row_, line, lag=0.1, run_time=1.2), Emerge(start, panel(0.1, 0.1).move_to(start), run_time=0.8))
        self.go(FadeIn(bar), *write(head), run_time=0.8)
        self.go(*write(under), run_time=0.5)
