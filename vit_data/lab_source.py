"""The source of ``lab.py`` as text: what the code slides show, and a copy of it that reports what every line gave.

Reads the file without importing it, so that slides can show the code where torch isn't installed.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("lab.py")


@dataclass(frozen=True)
class Line:
    """One line of a piece: its number in the file, its code without the comment, and the comment's shape."""

    number: int
    code: str
    comment: str

    @property
    def key(self) -> str:
        """The code without indentation: how a run names the line."""
        return self.code.strip()


@dataclass(frozen=True)
class Piece:
    """A function, method or class as it stands in the file, dedented and without docstrings."""

    name: str
    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        return "\n".join(line.code for line in self.lines)

    def index(self, start: str) -> int:
        """The zero-based line that begins with ``start``; KeyError if no line or several do."""
        found = [i for i, line in enumerate(self.lines) if line.key.startswith(start)]
        if len(found) != 1:
            raise KeyError(f"{len(found)} lines of {self.name} begin with '{start}'")
        return found[0]

    def part(self, first: str, last: str | None = None) -> Piece:
        """From the line that begins with ``first`` to the one that begins with ``last`` (or only that), dedented."""
        a, b = self.index(first), self.index(last or first)
        return Piece(self.name, _dedent(self.lines[a : b + 1]))


    def after(self, before: Piece) -> Piece:
        """These lines under those of another piece; they keep this one's name."""
        return Piece(self.name, before.lines + self.lines)


def _dedent(lines: tuple[Line, ...]) -> tuple[Line, ...]:
    indent = min(len(line.code) - len(line.code.lstrip()) for line in lines if line.code.strip())
    return tuple(Line(line.number, line.code[indent:], line.comment) for line in lines)


@functools.cache
def _tree() -> ast.Module:
    return ast.parse(FILE.read_text(encoding="utf-8"))


def _defined(name: str) -> ast.AST:
    node: ast.AST = _tree()
    for part in name.split("."):
        node = next((n for n in node.body if isinstance(n, (ast.FunctionDef, ast.ClassDef)) and n.name == part), None)
        if node is None:
            raise KeyError(f"lab.py defines no {name}")
    return node


def functions() -> list[str]:
    """Names of all functions and methods: ``to_batch``, ``Attention.split``, …"""
    names = []
    for node in _tree().body:
        if isinstance(node, ast.FunctionDef):
            names.append(node.name)
        elif isinstance(node, ast.ClassDef):
            names += [f"{node.name}.{method.name}" for method in node.body if isinstance(method, ast.FunctionDef)]
    return names


@functools.cache
def piece(name: str) -> Piece:
    """The lines of ``to_batch``, ``Attention.split`` or any other definition; KeyError if there is none."""
    node = _defined(name)
    skipped = set()
    for inner in ast.walk(node):
        if isinstance(inner, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(inner) is not None:
            skipped |= set(range(inner.body[0].lineno, inner.body[0].end_lineno + 1))
    source = FILE.read_text(encoding="utf-8").split("\n")
    lines = []
    for number in range(node.lineno, node.end_lineno + 1):
        if number not in skipped:
            code, _, comment = source[number - 1].partition("  # ")
            lines.append(Line(number, code.rstrip(), comment.strip()))
    return Piece(name, _dedent(tuple(lines)))


class _Watch(ast.NodeTransformer):
    """Wraps the value of every assignment, return and expression statement of a function in ``_see(line, value)``."""

    def _wrapped(self, node: Any) -> Any:
        if node.value is not None:
            call = ast.Call(ast.Name("_see", ast.Load()), [ast.Constant(node.lineno), node.value], [])
            node.value = ast.copy_location(call, node.value)
        return node

    visit_Assign = visit_Return = visit_Expr = _wrapped

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        start = 1 if ast.get_docstring(node) is not None else 0
        node.body[start:] = [self.visit(statement) for statement in node.body[start:]]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        node.body = [self.visit(n) if isinstance(n, ast.FunctionDef) else n for n in node.body]
        return node

    def visit_Module(self, node: ast.Module) -> ast.Module:
        node.body = [self.visit(n) if isinstance(n, (ast.FunctionDef, ast.ClassDef)) else n for n in node.body]
        return node


def watched(see: Callable[[int, Any], None]) -> dict[str, Any]:
    """Everything that ``lab.py`` defines, with ``see(line number, value)`` called for whatever a line gives. Needs torch."""
    def keep(number: int, value: Any) -> Any:
        see(number, value)
        return value
    tree = ast.fix_missing_locations(_Watch().visit(ast.parse(FILE.read_text(encoding="utf-8"))))
    space: dict[str, Any] = {"_see": keep, "__name__": "vit_data.lab_watched"}
    exec(compile(tree, str(FILE), "exec"), space)  # the project's own file, not input
    return space
