"""Run files as a stranger might hand them over: a good one, changed at random in one or a few places."""

from __future__ import annotations

import json
import random
from typing import Any

from vit_data import run, sound

ODD = [None, True, False, "", "x" * 5000, "\x1b[2J", "a\nb", "\u202e", "\ud800", "../../etc/passwd", "/etc/passwd", "..", "x.png", "P0", "P197", "CLS", "P999999",
       float("nan"), float("inf"), -float("inf"), 1e308, -1e308, 1e-320, 1e6, -1e6, 0, -1, 1, 2**63, 10**40, 0.5, 1.0, [], {}, [[]], [None], {"": 0}]


def mutant(document: Any, dice: random.Random) -> bytes:
    """The document with one to three changes, as the bytes of a file."""
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        document = changed(document, dice)
    text = json.dumps(document).encode()
    if dice.random() < 0.15:
        text = _torn(text, dice)
    return text


def changed(value: Any, dice: random.Random) -> Any:
    """A copy with one change somewhere; the parts that stay are shared."""
    if isinstance(value, dict) and value and dice.random() < 0.97:
        key = dice.choice(list(value))
        kind = dice.random()
        if kind < 0.03:
            return {k: v for k, v in value.items() if k != key}
        if kind < 0.05:
            return {**value, dice.choice(("extra", "P300", "\x00", "first", "__class__")): value[key]}
        if kind < 0.06:
            return {(dice.choice(("P7", "other", "CLS")) if k == key else k): v for k, v in value.items()}
        return {**value, key: changed(value[key], dice)}
    if isinstance(value, list) and value and dice.random() < 0.9:
        place, kind = dice.randrange(len(value)), dice.random()
        if kind < 0.05:
            return value[:place]
        if kind < 0.1:
            return [*value, value[place]]
        if kind < 0.15:
            return value[::-1]
        if kind < 0.2:
            return value[:place] + value[place + 1:]
        return [*value[:place], changed(value[place], dice), *value[place + 1:]]
    if isinstance(value, (int, float)) and not isinstance(value, bool) and dice.random() < 0.6:
        return dice.choice((-value, value * 1000, value + 1, value - 1, value / 1000, value * 1.5, value + 1e-4))
    return dice.choice(ODD)


def _torn(text: bytes, dice: random.Random) -> bytes:
    place = dice.randrange(len(text))
    return dice.choice((lambda: text[:place], lambda: text[:place] + bytes(dice.randrange(256) for _ in range(3)) + text[place + 3:], lambda: text + text,
                        lambda: b"\xef\xbb\xbf" + text, lambda: b"[" * 100_000, lambda: text.replace(b"0.", b"9" * 5000 + b".", 1),
                        lambda: text.replace(b": 1,", b": " + b"1" * 6000 + b",", 1), lambda: text[:place].rpartition(b",")[0] + b"}", lambda: b"", lambda: b"null"))()


def odd(document: Any, dice: random.Random, tries: int) -> tuple[Any, int]:
    """A run that may be used and is as odd as can be: every change that leaves it valid is kept. Also the number of changes."""
    kept = 0
    for _ in range(tries):
        other = changed(document, dice)
        try:
            raw = json.loads(json.dumps(other))
            if sound.fault(raw, run.Run.model_validate(raw)) is None:
                document, kept = raw, kept + 1
        except (ValueError, OverflowError):
            pass
    return document, kept
