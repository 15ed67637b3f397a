"""Names and places of the rows: CLS is 0, image patches are P1 to P196, row by row from the top left.

Every one-based number of the lecture is turned into an index here and nowhere else.
"""

CLS = "CLS"


def index(name: str) -> int:
    """The row of a sequence that carries ``name``: ``CLS`` → 0, ``P63`` → 63.

    Raises ValueError for anything else.
    """
    if name == CLS:
        return 0
    if name[:1] == "P" and name[1:].isascii() and name[1:].isdigit() and int(name[1:]) > 0:
        return int(name[1:])
    raise ValueError(f"'{name}' is not a row: write CLS or P1, P2, …")


def name(row: int) -> str:
    """The inverse of :func:`index`: 0 → ``CLS``, 63 → ``P63``."""
    return CLS if row == 0 else f"P{row}"


def grid_place(patch: int, columns: int = 14) -> tuple[int, int]:
    """One-based (row, column) of a one-based patch number on the patch grid."""
    return (patch - 1) // columns + 1, (patch - 1) % columns + 1


def pixel_box(patch: int, columns: int = 14, size: int = 16) -> tuple[int, int, int, int]:
    """(top, left, bottom, right) of a one-based patch number, in pixels of the model's input, ends excluded."""
    row, column = grid_place(patch, columns)
    return (row - 1) * size, (column - 1) * size, row * size, column * size
