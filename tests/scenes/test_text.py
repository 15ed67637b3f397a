"""Typesetting: boxes, markup and the strings that a reader sees."""

import numpy as np
import pytest
from scenes.kit import theme
from scenes.kit.text import code, escape, math, plain, words


def test_height_is_the_line_box_whatever_the_letters():
    assert words("ace", 40).height == pytest.approx(words("Egypt,", 40).height)
    assert words("ace", 40).height == pytest.approx(40 * theme.PX)


def test_size_follows_scaling():
    label = words("63", 30)
    label.scale(0.5)
    assert label.size_px == pytest.approx(15)


def test_width_is_lato_s_own_advance():
    fonttools = pytest.importorskip("fontTools.ttLib")
    from scenes.kit.text import FONTS
    font = fonttools.TTFont(FONTS / "Lato-Regular.ttf")
    cmap, advance = font.getBestCmap(), font["hmtx"]
    want = sum(advance[cmap[ord(c)]][0] for c in "192") / font["head"].unitsPerEm * 50 * theme.PX
    assert words("192", 50).width == pytest.approx(want, rel=0.01)


def test_wrapping_keeps_to_the_width_and_counts_lines():
    text = "one two three four five six seven eight nine ten eleven twelve"
    assert words(text, 38).lines == 1
    wrapped = words(text, 38, width=2.5)
    assert wrapped.lines > 2
    assert wrapped.ink.width <= 2.5 + 1e-6


@pytest.mark.parametrize("markup, seen", [
    ("a *bold* word", "a bold word"),
    ("$c_63$ · `nn.Linear(3, 2)`", "c63 · nn.Linear(3, 2)"),
    (r"3 \* 4 costs \$5", "3 * 4 costs $5"),
    ("c₆₃ = x₆₃", "c₆₃ = x₆₃"),
    ('says "yes" #1 \\\\ @x', 'says "yes" #1 \\ @x'),
])
def test_plain_text_of_markup(markup, seen):
    assert plain(markup) == seen
    assert words(markup).text == seen


def test_escape_prints_anything_as_it_is():
    odd = r'$x_1$ *b* `c` \ "q" #let @ <a> _u_'
    assert plain(escape(odd)) == odd
    assert len(words(escape(odd)).ink) >= 1


def test_a_subscript_stands_lower_than_its_letter():
    symbol, letter = words("c₆₃", 60), words("c", 60)
    assert symbol.ink.get_bottom()[1] - symbol.get_bottom()[1] < letter.ink.get_bottom()[1] - letter.get_bottom()[1]


def test_colour_and_one_outline_a_colour():
    blue = words("blue", color=theme.BLUE)
    assert len(blue.ink) == 1
    assert blue.ink[0].get_fill_color().to_hex().upper() == theme.BLUE


def test_the_same_string_twice_is_two_mobjects():
    first, second = words("same"), words("same")
    first.shift([1, 0, 0])
    assert not np.allclose(first.get_center(), second.get_center())


def test_math_and_code_have_ink():
    assert math("frac(q k^T, sqrt(64))").ink.height > 0
    assert code("x[:, :112] = 0  # grey").ink.width > 1
