"""The steps that a translation comes to: new words, numbers for those who read them, namesakes of functions."""

from __future__ import annotations

import ast
from collections.abc import Callable

from autofix.core.edit import Declined
from autofix.syntax.blocks import block_of
from autofix.syntax.calls import Function, name_of, path_of
from autofix.syntax.edits import Step, delete, ensure_import, insert_after, replace, replace_statement
from autofix.syntax.layout import lines_of
from autofix.syntax.source import Source
from autofix.syntax.translate.functions import Translation
from autofix.syntax.translate.made import MOVED, Body, Kind, Translated, respelled
from autofix.syntax.vocabulary import STORES

_LEFT = ("backward", "shape", "ndim", "item", "tolist", "detach", "cpu", "dim", "numel", "requires_grad")
"""What may be asked of a tensor as of what it was."""
_SUFFIX = "_torch"


def written_out(translation: Translation, used: Callable[[Function, Source], int]) -> list[Step]:
    """The edits of a translation. `used` counts the places that read a function by its name."""
    steps: list[Step] = []
    scopes = list(translation.scopes.values())
    written = {s.source.path: s.source for s in scopes if any("torch." in (text or "") for text in s.texts.values())}
    for scope in scopes:
        _numbers(scope)
    for scope in reversed(scopes):  # what is called, before those who call it
        function = scope.body
        if isinstance(function, ast.Module) or not (scope.calls and scope.texts):
            continue
        # What takes tensors and gives one goes on doing that, whoever calls it.
        turned = [*scope.given.values(), *([scope.result] if scope.result is not None else [])]
        if any(one.kind in MOVED for one in turned) and used(function, scopes[0].source) > len(scope.calls):
            steps += _namesake(scope)
            scope.texts.clear()
    for scope in scopes:
        steps += _in_place(scope)
    for source in written.values():
        name, added = ensure_import(source, "torch")
        if name != "torch":
            raise Declined("torch is known by another name here")
        steps += added
    return steps


def _in_place(scope: Body) -> list[Step]:
    steps: list[Step] = []
    texts = scope.texts
    for node, text in texts.items():
        if any(other is not node and node in ast.walk(other) for other in texts):
            continue  # written with what it stands in
        if text is None:
            steps += delete(scope.source, node)  # type: ignore[arg-type]  # a statement
        elif isinstance(node, ast.stmt):
            steps += replace_statement(scope.source, node, [text])
        else:
            steps += replace(scope.source, node, text)  # type: ignore[arg-type]  # an expression
    return steps


def _namesake(scope: Body) -> list[Step]:
    """The function once more, for tensors, behind the one that takes arrays; and the calls of it."""
    function, source = scope.body, scope.source
    assert not isinstance(function, ast.Module)  # noqa: S101  a module is called by nobody
    name = f"{function.name.strip('_')}{_SUFFIX}"
    gone = "\0"
    parts = [(node, gone if text is None else text) for node, text in scope.texts.items()]
    text = respelled(source, function, parts)
    text = text.replace(f"def {function.name}", f"def {name}", 1)
    lines = [line for line in lines_of(source, block_of(source, function), text) if line.strip() != gone]
    if any(gone in line for line in lines):
        raise Declined("a statement that would be removed shares its line")
    opening = [""] if function.col_offset else ["", ""]
    steps = insert_after(source, function, [*opening, *lines])
    for caller, call in scope.calls:
        of_instance = name_of(call) != function.name
        _renamed(caller, call, name, of_instance=of_instance)
        if caller.source is not source and isinstance(call.func, ast.Name) and not of_instance:
            steps += _imported(caller.source, function.name, name)
    return steps


def _renamed(caller: Body, call: ast.Call, name: str, *, of_instance: bool) -> None:
    """Have a call call the namesake, within whatever new words it has."""
    old = ast.unparse(call.func)
    owner = old if of_instance else old.rpartition(".")[0]
    new = f"{owner}.{name}" if owner else name
    for node, text in caller.texts.items():
        if text is not None and call in ast.walk(node):
            if text.count(f"{old}(") != 1:
                raise Declined(f"{old} is called more than once in one expression")
            caller.texts[node] = text.replace(f"{old}(", f"{new}(")
            return
    caller.texts[call.func] = new


def _imported(source: Source, old: str, new: str) -> list[Step]:
    for node in source.walk():
        if isinstance(node, ast.ImportFrom) and any(alias.name == old and alias.asname is None for alias in node.names):
            dots = "." * node.level
            return insert_after(source, node, [f"from {dots}{node.module or ''} import {new}"])
    raise Declined(f"it is not seen where {old} is imported from")


def _numbers(scope: Body) -> None:
    """Numbers for those who read a translated value and are not translated."""
    moved = {
        node: made
        for node, made in scope.known.items()
        if made.kind in MOVED or any(p.kind in MOVED for p in made.parts)
    }
    for read, definitions in scope.reaching.reads.items():
        if read in scope.seen or not definitions:
            continue
        made = [moved[one] for one in definitions if one in moved]
        arguments = (one.arg for one in definitions if isinstance(one, ast.arg))
        made += [scope.given[name] for name in arguments if name in scope.given]
        made = [one for one in made if one.kind in MOVED]
        if not made or _left(scope.source, read):
            continue
        if len(made) < len([one for one in definitions if one in scope.known]):
            others = [scope.known[one] for one in definitions if one in scope.known and one not in moved]
            if any(one.kind in (Kind.TORCH, Kind.OTHER) for one in others):
                raise Declined(f"{path_of(read)} is an array in one place and a tensor in another")
        scope.texts[read] = _number(path_of(read), made)


def _left(source: Source, read: ast.expr) -> bool:
    """Whether a place that reads a value takes a tensor as well."""
    holder = source.parent(read)
    match holder:
        case ast.Attribute(attr=name):
            return name in _LEFT or name in STORES
        case ast.FormattedValue() | ast.Expr():
            return True
        case ast.Compare(ops=[ast.Is() | ast.IsNot()]):
            return True
        case ast.Call(func=ast.Name(id="len")):
            return True
    return False


def _number(path: str, made: list[Translated]) -> str:
    if any(one.kind is Kind.LIST for one in made):
        return (
            f"[t.item() for t in {path}]"
            if all(one.scalar for one in made)
            else f"[t.detach().cpu().numpy() for t in {path}]"
        )
    return f"{path}.item()" if all(one.scalar for one in made) else f"{path}.detach().cpu().numpy()"
