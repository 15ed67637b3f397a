"""Which lines of this project a slide is made of, read from its source without importing it.

A definition is a function, class or constant at the top of a module. From a slide's class the names it uses are
followed to other definitions, through imports and attributes of modules, until nothing new comes. So an edit of one
slide leaves its neighbours alone, and an edit of a part reaches the slides that use it. Where a name can't be followed
(a module handed on as a value), the whole module counts: too much rather than too little.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import os
import pickle
import sys
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("scenes", "vit_data")
BODY = ""  # stands for the statements of a module that define nothing

Node = tuple[str, str]  # (module, name), a method of a run's part as "Class.method"

# what a slide gets from the table of decks is compared as values: its section's name, its page and the number of pages
OPAQUE = {("scenes.decks", "DECKS")}
_PARTS = "vit_data.run"  # its classes hold the run: fields are compared as values, methods count when they are called


@dataclass
class Definition:
    """A piece of source: two digests and the names in it."""

    digest: str                                           # without comments, docstrings and a slide's notes
    verbatim: str                                         # of the text as it stands, for code that prints code
    names: frozenset[tuple[str, ...]]                     # dotted names, as ("figures", "describe")
    attributes: frozenset[str]
    methods: dict[str, Definition] = field(default_factory=dict)


@dataclass
class Module:
    """One file: what it defines and what its names stand for."""

    definitions: dict[str, Definition] = field(default_factory=dict)
    imported: dict[str, set[tuple[str, str | None]]] = field(default_factory=dict)  # name → (module, member or None)
    stars: list[str] = field(default_factory=list)
    modules: set[str] = field(default_factory=set)        # everything it imports
    routes: dict[str, str] = field(default_factory=dict)  # route → class
    moves: dict[str, int] = field(default_factory=dict)   # class → calls that play something
    inner: set[str] = field(default_factory=set)          # names bound by statements of the body


class Project:
    """The source as it stood when this object was made; later edits are not seen."""

    def __init__(self, root: Path = ROOT):
        self.root = root
        self.files: dict[str, tuple[Path, bytes]] = {}
        for package in PACKAGES:
            for path in sorted((root / package).rglob("*.py")):
                parts = path.relative_to(root).with_suffix("").parts
                name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
                self.files[name] = path.relative_to(root), path.read_bytes()
        self._modules: dict[str, Module] = {}
        self._used: dict[Node, set[Node]] = {}
        self._new = False
        version = _sha(Path(__file__).read_bytes() + sys.version.encode())
        self._cache = root / "scenes" / "__pycache__" / f"sources.{version}.pickle"

    def module(self, name: str) -> Module | None:
        """A module of this project, read at first use; None for any other, and for one with a syntax error."""
        if name not in self._modules:
            if name not in self.files:
                return None
            path, source = self.files[name]
            if self._cache not in _loaded:
                _loaded.add(self._cache)
                _parsed.update(self._load())
            key = _sha(name.encode() + b"\n" + source)
            if key not in _parsed:
                try:
                    _parsed[key] = _read(source.decode("utf-8"), name, path.name == "__init__.py")
                except (SyntaxError, UnicodeDecodeError):  # its import will say so; until then the whole text is its key
                    _parsed[key] = Module({BODY: Definition(_sha(source), _sha(source), frozenset(), frozenset())})
                self._new = True
            self._modules[name] = _parsed[key]
        return self._modules[name]

    def keep(self) -> None:
        """Leave what was read beside Python's own compiled files, so that the next start is quick."""
        if self._new and self._cache.parent.is_dir():
            self._new = False
            keys = {_sha(name.encode() + b"\n" + source) for name, (_, source) in self.files.items()}
            temporary = self._cache.with_suffix(f".{os.getpid()}")
            with contextlib.suppress(OSError):  # a folder that can't be written to costs time only
                temporary.write_bytes(pickle.dumps({k: m for k, m in _parsed.items() if k in keys}))
                os.replace(temporary, self._cache)

    def _load(self) -> dict[str, Module]:
        try:
            return pickle.loads(self._cache.read_bytes())
        except Exception:  # absent, cut short, or of another version: read the source again
            return {}

    def file(self, module: str) -> str:
        """Path of a module from the project's root, with slashes."""
        return self.files[module][0].as_posix()

    @cached_property
    def routes(self) -> dict[str, Node]:
        """Module and class of every slide, by route, unsorted."""
        found: dict[str, Node] = {}
        for name in self.files:
            if name.startswith("scenes.") and not name.startswith("scenes.kit."):
                for route, slide in self.module(name).routes.items():
                    if route in found:
                        raise ValueError(f"two slides claim the route {route}: {found[route][1]} and {slide}")
                    found[route] = name, slide
        return found

    def moves(self, route: str) -> int:
        """How many calls in a slide's own class play something: a first guess at its length."""
        module, name = self.routes[route]
        return self.module(module).moves.get(name, 0)

    def digests(self, *roots: Node, verbatim: bool = False) -> dict[str, dict[str, str]]:
        """Everything that ``roots`` are made of: file → definition → digest; ``verbatim`` with comments and notes."""
        nodes = self.reach(*roots)
        pieces = {node: self._definition(node) for node in nodes}
        # code that looks at source text or docstrings shows what the digest leaves out
        verbatim = verbatim or any(("inspect",) == n[:1] for p in pieces.values() for n in p.names) or any("__doc__" in p.attributes for p in pieces.values())
        verbatim = verbatim or any("notes" in p.attributes for p in pieces.values())
        out: dict[str, dict[str, str]] = {}
        for (module, name), piece in sorted(pieces.items()):
            out.setdefault(self.file(module), {})[name] = piece.verbatim if verbatim else piece.digest
        return out

    def reach(self, *roots: Node) -> set[Node]:
        """The definitions that ``roots`` use, directly or through others."""
        seen: set[Node] = set()
        attributes: set[str] = set()
        waiting: dict[str, set[Node]] = {}  # methods of parts, until somebody calls such a method
        todo, modules = list(roots), set()

        def touch(name: str) -> None:  # importing a module runs its body, and that of what it imports
            if name in modules or self.module(name) is None:
                return
            modules.add(name)
            if BODY in self.module(name).definitions:
                todo.append((name, BODY))
            for other in self.module(name).modules:
                touch(other)

        while todo:
            node = todo.pop()
            if node in seen or node in OPAQUE:
                continue
            piece = self._definition(node)
            if piece is None:
                continue
            seen.add(node)
            touch(node[0])
            todo += self._uses(node)
            for method in piece.methods:
                waiting.setdefault(method, set()).add((node[0], f"{node[1]}.{method}"))
            attributes |= piece.attributes
            if piece.methods or not waiting.keys().isdisjoint(piece.attributes):
                for method in attributes & waiting.keys():
                    todo += waiting.pop(method)
        return seen

    def _definition(self, node: Node) -> Definition | None:
        module = self.module(node[0])
        name, _, method = node[1].partition(".")
        piece = module.definitions.get(name) if module else None
        return piece.methods.get(method) if piece and method else piece

    def _uses(self, node: Node) -> set[Node]:
        """The definitions that one definition names."""
        if node not in self._used:
            self._used[node] = {found for name in self._definition(node).names for found in self._resolve(node[0], name, set())}
        return self._used[node]

    def _resolve(self, module: str, name: tuple[str, ...], busy: set) -> list[Node]:
        """The definitions that a dotted name in ``module`` may stand for; none for names of other packages."""
        if (module, name) in busy:
            return []
        busy.add((module, name))
        here, root = self.module(module), name[0]
        found: list[Node] = [(module, root)] if root in here.definitions else [(module, BODY)] if root in here.inner else []
        for target, member in here.imported.get(root, ()):
            if self.module(target):
                found += self._inside(target, name[1:], busy) if member is None else self._member(target, (member, *name[1:]), busy) or []
        if not found and root not in here.imported:
            for star in here.stars:
                if self.module(star):
                    found += self._member(star, name, busy) or []
        return found

    def _inside(self, module: str, rest: tuple[str, ...], busy: set) -> list[Node]:
        """What a module stands for with the attributes after it; all it defines if they can't be followed."""
        found = self._member(module, rest, busy) if rest else None
        return [(module, n) for n in self.module(module).definitions] if found is None else found

    def _member(self, module: str, name: tuple[str, ...], busy: set) -> list[Node] | None:
        """What an attribute of a module stands for; None if the module has no such name."""
        here, found, known = self.module(module), [], False
        if name[0] in here.definitions or name[0] in here.imported or name[0] in here.inner:
            found, known = self._resolve(module, name, busy), True
        if f"{module}.{name[0]}" in self.files:
            return found + self._inside(f"{module}.{name[0]}", name[1:], busy)
        return found if known else self._resolve(module, name, busy) or None


_parsed: dict[str, Module] = {}  # by content, for all projects of this process
_loaded: set[Path] = set()


def _sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _read(source: str, name: str, package: bool) -> Module:
    tree, module = ast.parse(source), Module()
    lines = source.splitlines(keepends=True)
    groups: dict[str, list[ast.stmt]] = {}
    for statement in tree.body:
        for key in _keys(statement):
            groups.setdefault(key, []).append(statement)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            _bind(node, module, name.split(".") if package else name.split(".")[:-1])
    for statement in groups.get(BODY, ()):
        module.inner |= {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        module.inner |= {n.name for n in ast.walk(statement) if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    for key, statements in groups.items():
        for statement in statements:
            if isinstance(statement, ast.ClassDef):
                _slide(statement, module)
        module.definitions[key] = _define(statements, lines, parts=name == _PARTS)
    return module


def _keys(statement: ast.stmt) -> list[str]:
    """The names that a top-level statement defines; BODY if it does anything else."""
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [statement.name]
    if isinstance(statement, (ast.Import, ast.ImportFrom)) or _docstring(statement):
        return []
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target] if isinstance(statement, (ast.AnnAssign, ast.AugAssign)) else []
    names = [n.id for t in targets for n in (t.elts if isinstance(t, ast.Tuple) else [t]) if isinstance(n, ast.Name)]
    plain = targets and all(isinstance(n, ast.Name) for t in targets for n in (t.elts if isinstance(t, ast.Tuple) else [t]))
    return names if plain else [BODY]


def _bind(node: ast.Import | ast.ImportFrom, module: Module, package: list[str]) -> None:
    if isinstance(node, ast.Import):
        for alias in node.names:
            module.modules.add(alias.name)
            bound = alias.asname or alias.name.split(".")[0]
            module.imported.setdefault(bound, set()).add((alias.name if alias.asname else bound, None))
        return
    base = package[: len(package) - node.level + 1] if node.level else []
    source = ".".join([*base, *((node.module or "").split(".") if node.module else [])])
    module.modules.add(source)
    for alias in node.names:
        if alias.name == "*":
            module.stars.append(source)
        else:
            module.modules.add(f"{source}.{alias.name}")
            module.imported.setdefault(alias.asname or alias.name, set()).add((source, alias.name))


def _slide(node: ast.ClassDef, module: Module) -> None:
    for statement in node.body:
        for target, assigned in _assigned(statement):
            if isinstance(target, ast.Name) and target.id == "route" and isinstance(assigned, ast.Constant) and assigned.value:
                if assigned.value in module.routes:
                    raise ValueError(f"two slides claim the route {assigned.value}: {module.routes[assigned.value]} and {node.name}")
                module.routes[assigned.value] = node.name
    calls = (n.func for n in ast.walk(node) if isinstance(n, ast.Call))
    module.moves[node.name] = sum(isinstance(f, ast.Attribute) and f.attr in ("step", "go", "play") for f in calls)


def _assigned(statement: ast.stmt) -> list[tuple[ast.expr, ast.expr]]:
    """The pairs of an assignment: ``a, b = x, y`` has two."""
    if isinstance(statement, ast.AnnAssign) and statement.value:
        return [(statement.target, statement.value)]
    pairs = [(t, statement.value) for t in statement.targets] if isinstance(statement, ast.Assign) else []
    return [q for t, v in pairs for q in (zip(t.elts, v.elts) if isinstance(t, ast.Tuple) and isinstance(v, ast.Tuple) else [(t, v)])]


def _define(statements: list[ast.stmt], lines: list[str], parts: bool) -> Definition:
    texts, dumps, names, attributes, methods = [], [], set(), set(), {}
    for statement in statements:
        first = min([statement.lineno, *(d.lineno for d in getattr(statement, "decorator_list", ()))])
        texts.append("".join(lines[first - 1 : statement.end_lineno]))
        if isinstance(statement, ast.ClassDef) and parts and _is_part(statement):
            # the fields of a part are compared as values, and what they are called is how they are read
            own = [s for s in statement.body if _plain_method(s)]
            methods |= {s.name: _define([s], lines, False) for s in own}
            fields = [s for s in statement.body if isinstance(s, ast.AnnAssign)]
            for s in fields:
                _collect(s.annotation, names, attributes)
            statement.body = [s for s in statement.body if s not in own and s not in fields] or [ast.Pass()]
            texts[-1] = statement.name
        _strip(statement)
        _collect(statement, names, attributes)
        dumps.append(ast.dump(statement))
    return Definition(_sha("\n".join(dumps).encode()), _sha("\n".join(texts).encode()), frozenset(names), frozenset(attributes), methods)


def _is_part(node: ast.ClassDef) -> bool:
    return any(isinstance(b, ast.Name) and b.id == "Part" for b in node.bases)


def _plain_method(node: ast.stmt) -> bool:
    """A method that runs only when called by its name."""
    known = ("property", "classmethod", "staticmethod")
    return isinstance(node, ast.FunctionDef) and not node.name.startswith("__") and all(isinstance(d, ast.Name) and d.id in known for d in node.decorator_list)


def _docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, str)


def _strip(statement: ast.stmt) -> None:
    """Take out docstrings and the spoken notes: no frame shows them."""
    for node in ast.walk(statement):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            kept = [s for s in node.body if not _docstring(s)]
            if isinstance(node, ast.ClassDef):
                kept = [s for s in kept if not (isinstance(s, ast.FunctionDef) and s.name == "notes")]
            node.body = kept or [ast.Pass()]


def _collect(node: ast.AST, names: set, attributes: set, local: frozenset[str] = frozenset()) -> None:
    """Dotted names in a tree that may stand for something outside it, and all attributes."""
    if isinstance(node, ast.Attribute):
        chain: list[str] = []
        while isinstance(node, ast.Attribute):
            chain.append(node.attr)
            node = node.value
        attributes.update(chain)
        if isinstance(node, ast.Name):
            if node.id not in local:
                names.add((node.id, *reversed(chain)))
        else:
            _collect(node, names, attributes, local)
        return
    if isinstance(node, ast.Name):
        if isinstance(node.ctx, ast.Load) and node.id not in local:
            names.add((node.id,))
        return
    inner = local
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        inside = node.body if isinstance(node.body, list) else [node.body]
        outside = [*getattr(node, "decorator_list", ()), node.args, *([node.returns] if getattr(node, "returns", None) else [])]
        for part in outside:
            _collect(part, names, attributes, local)
        parameters = {a.arg for a in ast.walk(node.args) if isinstance(a, ast.arg)}
        inner = local | parameters | _stored(inside)
        for part in inside:
            _collect(part, names, attributes, inner)
        return
    if isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
        inner = local | _stored([g.target for g in node.generators])
    for child in ast.iter_child_nodes(node):
        _collect(child, names, attributes, inner)


def _stored(body: list[ast.AST]) -> set[str]:
    """The names that these statements of a function make local to it; imports in it are followed as the module's."""
    stored, other, todo = set(), set(), list(body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            stored.add(node.id)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            other.update(node.names)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            other.update(alias.asname or alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, (ast.MatchAs, ast.MatchStar, ast.ExceptHandler)) and node.name:
            stored.add(node.name)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            stored.add(node.name)
        elif not isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            todo.extend(ast.iter_child_nodes(node))
    return stored - other


NOW = Project()  # taken before any slide is imported, so that what is drawn is never newer than what is recorded
