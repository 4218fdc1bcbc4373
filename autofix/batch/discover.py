"""Finds what can be run in a repository: its own word for it, else scripts that train, else test files."""

from __future__ import annotations

import ast
import re
import shlex
import tomllib
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

from autofix.check import walk
from autofix.syntax.calls import imported
from autofix.target import notebook
from autofix.target.cells import CellError

_TRAINS = re.compile(rb"\b(backward|autograd|requires_grad|optim)\b")
_NOT_RUN = {"setup.py", "conftest.py", "noxfile.py", "tasks.py"}
_TESTS = re.compile(r"test_.*\.py|.*_test\.py")
_PYTEST = "pytest"


def commands(root: Path, given: Sequence[str], *, pytest: bool) -> list[str]:
    """The command lines to run in a repository: those given, else those it names, else what looks like one."""
    if given:
        return [*dict.fromkeys(given)]
    on_record = named(root)
    found = on_record or [shlex.quote(name) for name in (*scripts(root), *_notebooks(root))]
    if pytest:
        found += [f"{_PYTEST} {shlex.quote(name)}" for name in _test_files(root)]
    return [*dict.fromkeys(found)]


def scripts(root: Path) -> list[str]:
    """The scripts that train: a `__main__` guard or a program at the top, and gradients in it or in what it imports."""
    files = dict(_python_files(root))
    read = {name: tree for name, data in files.items() if (tree := _parsed(data)) is not None}
    trees = {name: tree for name, tree in read.items() if not _is_test(name, tree)}
    trains = {name for name in trees if b"torch" in files[name] and _TRAINS.search(files[name])}
    libraries = {file for name in trees for file in _imported(name, trees)}
    return [
        name
        for name, tree in trees.items()
        if Path(name).name not in _NOT_RUN
        and (_is_program(tree) or (name not in libraries and _makes(tree)))
        and _reaches(name, trees, trains)
    ]


def named(root: Path) -> list[str]:
    """`run` of [tool.autofix], or `targets` of [tool.autofix.batch]. Nothing else there counts: it is a stranger's."""
    try:
        table = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["tool"]["autofix"]
        found = table.get("batch", {}).get("targets") or table.get("run") or []
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return []
    lines = [found] if isinstance(found, str) else found
    return [line for line in lines if isinstance(line, str)] if isinstance(lines, list) else []


def _python_files(root: Path) -> Iterator[tuple[str, bytes]]:
    for path in walk.python_files([str(root)]):
        if path.suffix == ".py":
            try:
                yield path.relative_to(root).as_posix(), path.read_bytes()
            except OSError:
                continue


def _notebooks(root: Path) -> list[str]:
    """The notebooks whose code speaks of gradients; one that repeats the script beside it adds nothing."""
    found = []
    for path in sorted(root.rglob(f"*{notebook.SUFFIX}")):
        inner = path.relative_to(root)
        if not walk.SKIPPED.isdisjoint(inner.parts) or path.with_suffix(".py").exists() or path.is_symlink():
            continue
        try:
            code = notebook.parse(path, path.read_bytes()).text
        except (OSError, CellError):
            continue
        if b"torch" in code and _TRAINS.search(code):
            found.append(inner.as_posix())
    return found


def _is_test(name: str, tree: ast.Module) -> bool:
    """Whether a file is for a test runner: it lies among tests, or is called like one and defines tests."""
    path = Path(name)
    if "tests" in path.parts[:-1]:
        return True
    return _TESTS.fullmatch(path.name) is not None and any(_defines_tests(node) for node in tree.body)


def _defines_tests(node: ast.stmt) -> bool:
    match node:
        case ast.FunctionDef(name) | ast.AsyncFunctionDef(name):
            return name.startswith("test_")
        case ast.ClassDef(name):
            return name.startswith("Test") or name.endswith("Test")
    return False


def _test_files(root: Path) -> list[str]:
    return [
        name
        for name, data in _python_files(root)
        if _TESTS.fullmatch(Path(name).name) and b"torch" in data and _TRAINS.search(data)
    ]


def _parsed(data: bytes) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_program(tree: ast.Module) -> bool:
    """Whether something happens at the top: a `__main__` guard, a loop, or a call that is a statement of its own."""
    own = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)}
    return any(_happens(node, own) for node in tree.body)


def _happens(node: ast.stmt, own: set[str]) -> bool:
    match node:
        case ast.If(test=ast.Compare(left=ast.Name("__name__"))):
            return True
        case ast.For() | ast.While():
            return True
        case ast.If() | ast.With() | ast.Try():
            return any(_happens(child, own) for child in node.body)
        case ast.Expr(value=ast.Call(func=ast.Name(name))):
            return name in own
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr=name))):
            return name in {"backward", "step", "fit", "train", "run", "main", "add_", "sub_", "mul_"}
    return False


def _makes(tree: ast.Module) -> bool:
    """Whether the top makes tensors or calls what the file defines: a program does so, unless others import it."""
    own = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    at_top = (node for node in tree.body if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr))
    values = (node.value for node in at_top if node.value is not None)
    return any(_computes(part, own) for value in values for part in ast.walk(value))


def _computes(node: ast.AST, own: set[str]) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name("torch" | "nn"))):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Attribute(value=ast.Name("torch")))):
            return True
        case ast.Call(func=ast.Name(name)):
            return name in own
    return False


def _reaches(name: str, trees: dict[str, ast.Module], trains: set[str]) -> bool:
    """Whether a script, or a file of the repository that it imports, speaks of gradients."""
    waiting, seen = [name], {name}
    while waiting:
        here = waiting.pop()
        if here in trains:
            return True
        new = {file for file in _imported(here, trees) if file not in seen}
        seen |= new
        waiting += new
    return False


def _imported(name: str, trees: dict[str, ast.Module]) -> Iterator[str]:
    """The files of the repository that a script imports."""
    paths = (path.as_posix() for path in imported(ast.walk(trees[name]), Path(name), Path()))
    return (path for path in paths if path in trees)
