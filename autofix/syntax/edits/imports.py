"""How a module calls another one, and the import that lets it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autofix.core.edit import Declined
from autofix.syntax.calls import Function
from autofix.syntax.edits.statements import decorate, insert_after, insert_before, wrap
from autofix.syntax.edits.steps import Splice, Step
from autofix.syntax.layout import newline_near
from autofix.syntax.source import Source


def ensure_import(source: Source, module: str) -> tuple[str, list[Step]]:
    """The name by which a top-level module is known in the file, and the edits that make it known."""
    names = [name for name, _ in _names(source.tree.body, module)]
    if names:
        return (module if module in names else names[0]), []
    if module in _bound(source.tree):
        raise Declined(f"the name {module} stands for something else in this file")
    return module, _added(source, f"import {module}")


def ensure_name(source: Source, path: str) -> tuple[str, list[Step]]:
    """How the file says `module.name`: as it imports that name, or by the module, and the edits that make it known."""
    module, _, name = path.partition(".")
    for statement in source.tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == module and not statement.level:
            for alias in statement.names:
                if alias.name == name:
                    return alias.asname or name, []
    known, steps = ensure_import(source, module)
    return f"{known}.{name}", steps


def without_gradient(source: Source, what: Sequence[ast.stmt] | Function) -> list[Step]:
    """Statements under `torch.no_grad()`, or a function decorated with it."""
    torch, imports = ensure_import(source, "torch")
    if isinstance(what, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return [*imports, *decorate(source, what, f"@{torch}.no_grad()")]
    return [*imports, *wrap(source, what, f"with {torch}.no_grad():")]


def with_gradient(source: Source, function: Function) -> list[Step]:
    """A function decorated with `torch.enable_grad()`."""
    torch, imports = ensure_import(source, "torch")
    return [*imports, *decorate(source, function, f"@{torch}.enable_grad()")]


def _names(body: list[ast.stmt], module: str) -> Iterator[tuple[str, ast.stmt]]:
    """The names that statements of a module bind to another one, in whatever branch."""
    for statement in body:
        match statement:
            case ast.Import(names=aliases):
                for alias in aliases:
                    if alias.name == module:
                        yield alias.asname or module, statement
                    elif alias.name.startswith(f"{module}.") and alias.asname is None:
                        yield module, statement
            case ast.Try(body=inner) | ast.With(body=inner):
                yield from _names(inner, module)
            case ast.If(test=test, body=inner) if "TYPE_CHECKING" not in ast.dump(test):
                yield from _names(inner, module)


def _bound(tree: ast.Module) -> set[str]:
    """Every name that the file binds, wherever; an import in a function binds only what it says."""
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) | ast.arg(arg=name):
                found.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.ImportFrom(names=aliases):
                found.update(alias.asname or alias.name for alias in aliases)
            case ast.Import(names=aliases):
                found.update(alias.asname for alias in aliases if alias.asname)
    return found


def _added(source: Source, line: str) -> list[Step]:
    """Insert an import after those that open the file, or first of all."""
    body = source.tree.body
    anchor: ast.stmt | None = None
    for place, statement in enumerate(body):
        documents = place == 0 and ast.get_docstring(source.tree, clean=False) is not None
        if not documents and not isinstance(statement, ast.Import | ast.ImportFrom):
            break
        anchor = statement
    if anchor is not None:
        return insert_after(source, anchor, [line])
    if body:
        return insert_before(source, body[0], [line])
    end, newline = len(source.text), newline_near(source, 0)
    opening = newline if source.lines and not source.lines[-1].endswith(("\r", "\n")) else ""
    return [Splice(source, end, end, f"{opening}{line}{newline}")]
