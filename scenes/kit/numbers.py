"""How numbers are written on slides: U+2212 for minus, thousands commas, fixed decimals. A scene formats only here."""

from vit_data.run import Vector

MINUS = "\u2212"


def num(value: float, digits: int = 3, sign: bool = False) -> str:
    """A measured number with fixed decimals: ``−0.852``. ``sign`` writes + before positive ones.

    A value that rounds to zero has no sign.
    """
    text = f"{abs(value):,.{digits}f}"
    zero = not text.strip("0.,")
    return (MINUS if value < 0 and not zero else "+" if sign and not zero else "") + text


def short(value: float, digits: int = 3, sign: bool = False) -> str:
    """A chosen number with no more decimals than it needs: ``2.5``, ``−0.5``, ``1``."""
    needed = next((d for d in range(digits) if round(value, d) == round(value, digits)), digits)
    return num(value, needed, sign)


def count(value: int) -> str:
    """A whole number with thousands commas: ``147,648``."""
    return num(value, 0)


def pct(share: float, digits: int = 2) -> str:
    """A share of one as a percentage: ``95.73%``."""
    return num(100 * share, digits) + "%"


def pct_least(share: float, digits: int = 2) -> str:
    """A percentage that says so where it would round to zero: ``2.09%``, ``under 0.01%``."""
    least = 10.0**-digits
    return f"under {num(least, digits)}%" if 0 < 100 * share < least / 2 else pct(share, digits)


def points(change: float, sign: bool = True) -> str:
    """A change in percentage points: ``−12.73``; as many decimals as a very small one needs: ``−0.002``."""
    digits = 2
    while 0 < abs(change) < 0.5 * 10.0**-digits and digits < 7:
        digits += 1
    return num(change, digits, sign)


def tiny(value: float) -> str:
    """A rounding difference as code prints it: ``5.2e-06``; ``0`` for none."""
    return f"{value:.1e}" if value else "0"


def bracket(values: list[float], digits: int = 3, more: bool = True, last: float | None = None) -> str:
    """Leading values of a row in brackets: ``[−0.852, 1.339, …, −1.199]``."""
    shown = [num(v, digits) for v in values] + (["…"] if more else []) + ([num(last, digits)] if last is not None else [])
    return "[" + ", ".join(shown) + "]"


def vec(vector: Vector, n: int = 3, digits: int = 3, last: bool = False) -> str:
    """The first ``n`` coordinates of a run's vector, and its last if asked for and known."""
    return bracket(vector.first[:n], digits, more=vector.length > n, last=vector.last if last else None)


def triple(pixel: tuple[int, int, int]) -> str:
    """An 8-bit RGB triple: ``[16, 17, 12]``."""
    return "[" + ", ".join(str(v) for v in pixel) + "]"


def times(*sizes: int) -> str:
    """A shape: ``196 × 192``."""
    return " × ".join(count(s) for s in sizes)
