"""Python source on slides: one line as outlines, its words coloured by what they are."""

from __future__ import annotations

import builtins
import io
import keyword
import tokenize

from . import theme
from .text import MONO, Words, spans

# quiet, so that the colours of the pages keep their meaning beside code
KEYWORD, DEFINED, NUMBER, STRING, OWN = "#9A3B73", "#22518F", "#8A5A12", "#3F7F4C", "#626C7F"


def syntax(line: str, size: float = theme.LABEL) -> Words:
    """One line of Python in colours. A line that can't be read as Python stays ink."""
    line = line.rstrip()
    colored, last = [], 0
    for start, end, color, bold in _marks(line):
        colored += [(line[last:start], theme.INK, False), (line[start:end], color, bold)]
        last = end
    return spans([*colored, (line[last:], theme.INK, False)], size, MONO)


def _marks(line: str) -> list[tuple[int, int, str, bool]]:
    """(start, end, colour, bold) of each part that is not plain ink."""
    found, before = [], ""
    try:
        for token in tokenize.generate_tokens(io.StringIO(line).readline):
            color = _color(token, before)
            if color:
                found.append((token.start[1], token.end[1], color, color == KEYWORD))
            before = token.string
    except (tokenize.TokenError, IndentationError, SyntaxError):
        pass  # a line of a longer statement: what was read so far keeps its colours
    return found


def _color(token: tokenize.TokenInfo, before: str) -> str | None:
    text = token.string
    if token.type == tokenize.NUMBER:
        return NUMBER
    if token.type == tokenize.STRING:
        return STRING
    if token.type != tokenize.NAME:
        return None
    if keyword.iskeyword(text):
        return KEYWORD
    if before in ("def", "class"):
        return DEFINED
    return OWN if text == "self" or (before != "." and hasattr(builtins, text)) else None


__all__ = ["syntax"]
