"""One formatter: minus signs, decimals, commas."""

import pytest
from scenes.kit.numbers import bracket, count, num, pct, pct_least, points, short, times, tiny, triple, vec
from vit_data.run import Vector


@pytest.mark.parametrize("got, want", [
    (num(-0.8516), "−0.852"), (num(1.3389), "1.339"), (num(-0.0004), "0.000"), (num(0.31, 2, sign=True), "+0.31"),
    (num(-0.000088, 6), "−0.000088"), (count(147648), "147,648"), (count(1397124), "1,397,124"),
    (tiny(5.2e-06), "5.2e-06"), (tiny(0.0), "0"), (pct(0.9573), "95.73%"), (pct(0.24861, 1), "24.9%"), (pct_least(0.02089876), "2.09%"), (pct_least(6.6e-07), "under 0.01%"), (pct_least(5e-05), "0.01%"), (pct_least(0.0), "0.00%"), (points(-12.731), "−12.73"), (points(0.5), "+0.50"), (points(0.001), "+0.001"), (points(-0.00002), "−0.00002"), (points(0), "0.00"),
    (triple((16, 17, 12)), "[16, 17, 12]"), (times(1, 192), "1 × 192"), (times(3, 1000), "3 × 1,000"),
    (short(2.5), "2.5"), (short(-0.5), "−0.5"), (short(1.0), "1"), (short(1.0, sign=True), "+1"), (short(-0.0), "0"), (short(0.84367), "0.844"), (short(-1.9996), "−2"),
    (bracket([1.0, -2.0], 1, more=False), "[1.0, −2.0]"),
])
def test_format(got, want):
    assert got == want


def test_vector_shows_its_ends():
    v = Vector.of([-0.852, 1.339, 0.504, 2.0, -1.199])
    assert vec(v) == "[−0.852, 1.339, 0.504, …]"
    assert vec(v, 2, last=True) == "[−0.852, 1.339, …, −1.199]"
    assert vec(Vector.of([1, 2, 3]), 3) == "[1.000, 2.000, 3.000]"
