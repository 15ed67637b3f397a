"""Areas, rows and grids."""

import numpy as np
import pytest
from manim import LEFT, Square
from scenes.kit.layout import Area, at, column, fit, grid, row


def test_pixels_of_a_full_hd_frame():
    assert np.allclose(at(960, 540), [0, 0, 0])
    assert np.allclose(at(0, 0), [-64 / 9, 4, 0])
    assert Area.px(0, 0, 1920, 1080).width == pytest.approx(8 * 16 / 9)


def test_columns_and_rows_share_the_space():
    area = Area(0, 0, 10, 6)
    left, right = area.columns(1, 3, gap=2)
    assert (left.width, right.width) == (2, 6)
    assert right.left - left.right == 2
    top, bottom = area.rows(2, 1, gap=0)
    assert (top.height, bottom.height) == (4, 2)
    assert top.bottom == bottom.top == 2


def test_place_shrinks_and_aligns():
    area = Area(-2, -1, 2, 1)
    square = area.place(Square(side_length=6), LEFT)
    assert square.height == pytest.approx(2)
    assert square.get_left()[0] == pytest.approx(-2)
    assert fit(Square(1), 4, 3).width == pytest.approx(1)
    assert fit(Square(1), 4, 3, grow=True).width == pytest.approx(3)


def test_row_column_and_grid():
    a, b = Square(1), Square(2)
    assert row(a, b, gap=0.5).width == pytest.approx(3.5)
    assert a.get_center()[1] == pytest.approx(b.get_center()[1])
    column(a, b, align=LEFT)
    assert a.get_left()[0] == pytest.approx(b.get_left()[0])
    cells = [[Square(1), Square(3)], [Square(2), Square(1)]]
    table = grid(cells, gap=(1, 1), align="lr")
    assert cells[0][0].get_left()[0] == pytest.approx(cells[1][0].get_left()[0])
    assert cells[0][1].get_right()[0] == pytest.approx(cells[1][1].get_right()[0])
    assert table.height == pytest.approx(3 + 1 + 2)
    assert np.allclose(table.get_center(), 0, atol=1e-9)
