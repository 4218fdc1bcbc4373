"""Where the gradient of a tensor that is no leaf arrives, and how it is read from there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.core.edit import Declined
from autofix.probe.wire import Origin
from autofix.syntax import live, names
from autofix.syntax.calls import argument, known, method, name_of, only, parameters, path_of
from autofix.syntax.edits import Step, delete, insert_after, replace
from autofix.syntax.source import Source
from autofix.syntax.sources import Sources

WHY = "The tensor with the final value is the leaf, so that its gradient arrives in it."
LEAF = ".detach().requires_grad_()"
"""What makes a leaf of a tensor, with its value."""
_JOINS = ("cat", "column_stack", "concat", "concatenate", "dstack", "hstack", "stack", "vstack")
_VECTOR = "parameters_to_vector"
_FORMS = ("flatten", "ravel", "reshape", "unsqueeze", "view")


def read_from_whole(origin: Origin, sources: Sources) -> list[Step]:
    """The same part of the gradient of what a tensor is a part of, `noise.grad[:n]` of `noise[:n]`; [] of no part."""
    for _, source, node in sources.located(origin.stack[:1]):
        statement = source.statement(node)
        given = list(names.assignments(source, origin.name))
        if not isinstance(node, ast.Subscript) or given != [statement] or given[0].value is not node:
            return []
        reads = names.mentions(source.function(statement) or source.tree, f"{origin.name}.grad")
        part = f"{source.segment(node.value)}.grad[{source.segment(node.slice)}]"
        return [edit for one in reads for edit in replace(source, one, part)]
    return []


def handed_to_optimizer(source: Source, statement: ast.stmt) -> list[Step]:
    """What gives a variable that a statement binds anew to the optimizer that was made for its value before.

    The optimizer is made anew, where what it is made of is known there, or else is given the variable and forgets what
    it knows of the old one. Declines where it has others as well, or none.
    """
    path = path_of(statement.targets[0]) if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else ""
    for one in source.mentioning(path) if path else ():
        match one:
            case ast.Assign(targets=[target], value=ast.Call(args=[ast.List(elts=[owned]), *_]) as call) if (
                path_of(owned) == path
                and path_of(target)
                and known(source, call.func, ("torch",)).startswith("optim.")
                and _comes_later(source, statement, one, path)
            ):
                name = path_of(target)
                swap = [f'{name}.param_groups[0]["params"] = [{path}]', f"{name}.state.clear()"]
                return insert_after(source, statement, _in_words_of(source, one, call, statement) or swap)
    raise Declined(f"no optimizer is made for {path or 'it'} alone")


def _comes_later(source: Source, statement: ast.stmt, made: ast.stmt, path: str) -> bool:
    """Whether a statement binds a variable once more that an optimizer was made for: it is known there, too."""
    here, there = source.function(statement), source.function(made)
    if here is there:
        return statement.lineno > made.lineno
    return path.startswith("self.") and getattr(there, "name", "") == "__init__"


def _in_words_of(source: Source, made: ast.stmt, call: ast.Call, statement: ast.stmt) -> list[str]:
    """The lines that make an optimizer, as the function of a statement can spell them; [] where it cannot.

    What a constructor was given is known by the attribute that keeps it.
    """
    here, there = source.function(statement), source.function(made)
    if here is there or there is None:
        return names.copied(source, made)
    kept = {
        value.id: path_of(target)
        for one in ast.walk(there)
        if isinstance(one, ast.Assign)
        for target, value in names.paired(one)
        if isinstance(value, ast.Name) and path_of(target).startswith("self.")
    }
    own = names.locals_of(there) - {"self"}
    read = [one for one in ast.walk(call) if isinstance(one, ast.Name) and one.id in own]
    if any(one.id not in kept for one in read):
        return []
    return names.copied(source, made, renamed={one: kept[one.id] for one in read})


def under_own_name(source: Source, scope: ast.AST, bound: ast.stmt, path: str, root: ast.expr) -> list[Step]:
    """A leaf made of a variable, by whose name all but `root` read that; [] where nothing reads a gradient there."""
    uses = (part for one in names.uses(scope) for part in _held(one, path))
    reads = [one for one in uses if one is not root and one.lineno > bound.lineno]
    if not any(isinstance(whole := source.parent(one), ast.Attribute) and whole.attr == "grad" for one in reads):
        return []
    name = f"{path}_leaf" if "." in path else names.unused(source, f"{path}_leaf")
    edits = insert_after(source, bound, [f"{name} = {path}{LEAF}"])
    keeps = {one for one in map(source.statement, reads) if method(one) == "retain_grad"}
    edits += [step for one in keeps for step in delete(source, one)]
    return edits + [s for one in reads if source.statement(one) not in keeps for s in replace(source, one, name)]


def _held(node: ast.expr, path: str) -> Iterator[ast.expr]:
    """The part of a read that is the variable itself: `h` of `h.grad`."""
    while isinstance(node, ast.Attribute) and path_of(node) != path:
        node = node.value
    if path_of(node) == path:
        yield node


def joined(source: Source, given: ast.expr | None) -> tuple[ast.Call | None, ast.Assign | None]:
    """The call that joins tensors to what a derivative is taken by, and the one statement that binds it."""
    node, bound = _bound(source, only(given))
    joins = isinstance(node, ast.Call) and name_of(node) in (*_JOINS, _VECTOR) and len(node.args) > 0
    return (node, bound) if isinstance(node, ast.Call) and joins else (None, None)


def parts_of(source: Source, joined: ast.Call) -> tuple[str, str | None]:
    """What is joined, and the text that joins the derivatives by it, at `{}`; None where that is torch's own layout."""
    match joined.args[0]:
        case ast.ListComp(elt=elt, generators=[ast.comprehension(target=ast.Name(id=name), ifs=[]) as one]) if _is_laid(
            elt, name
        ):
            spelled = source.segment(joined)
            laid = spelled.replace(".view(", ".reshape(") if isinstance(elt, ast.Call) else spelled
            each = source.segment(one.iter)
            return each, _escaped(laid, f" in {each}]", " in {}]")
        case ast.List(elts=elts) | ast.Tuple(elts=elts) if elts and all(map(path_of, elts)):
            pass
        case ast.Name() | ast.Attribute() | ast.Call():
            if name_of(joined) == _VECTOR:
                return source.segment(joined.args[0]), None
        case _:
            raise Declined("the parts are computed where they are joined")
    each = source.segment(joined.args[0])
    return each, _escaped(source.segment(joined), f"({each}", "({}")


def vector_of(source: Source, given: ast.expr, sources: Sources) -> str:
    """The tensors of which something is one vector, by a function of the user's, too; '' where it is none."""
    node = _bound(source, only(given))[0]
    if not isinstance(node, ast.Call):
        return ""
    if name_of(node) in (*_JOINS, _VECTOR):
        return _flat(source, node)
    made = sources.called(source, node)
    values = live.returned(made[1]) if made is not None else []
    if made is None or len(values) != 1 or not isinstance(values[0], ast.Call):
        return ""
    root, dot, rest = _flat(made[0], values[0]).partition(".")
    handed = argument(node, parameters(made[1]), root)
    owner = path_of(handed) if handed is not None else ""
    return f"{owner}{dot}{rest}" if owner else ""


def _flat(source: Source, joined: ast.Call) -> str:
    """The tensors that a call lays out one behind the other; '' of another call."""
    match joined.args:
        case [
            ast.ListComp(ast.Call(ast.Attribute(ast.Name(one), form)), [ast.comprehension(ast.Name(name), each, [])])
        ]:
            flat = form in ("flatten", "ravel") or ast.unparse(joined.args[0]).startswith(f"[{one}.{form}(-1) ")
            return source.segment(each) if flat and one == name and name_of(joined) in ("cat", "concat") else ""
        case [each] if name_of(joined) == _VECTOR:
            return source.segment(each)
    return ""


def _bound(source: Source, node: ast.expr | None) -> tuple[ast.expr | None, ast.Assign | None]:
    """What an expression is, or what the one statement gives it that binds it, with that."""
    if not isinstance(node, ast.Name):
        return node, None
    around = source.function(node)
    found = [one for one in names.assignments(source, node.id) if source.function(one) is around]
    bound = found[0] if len(found) == 1 and isinstance(found[0], ast.Assign) else None
    return (next(names.given_to(bound, node.id), None), bound) if bound is not None else (None, None)


def _escaped(text: str, old: str, new: str) -> str:
    """A template of some code, in which a place is left open."""
    if text.count(old) != 1:
        raise Declined("the parts are written in a way of their own")
    before, after = (one.replace("{", "{{").replace("}", "}}") for one in text.split(old))
    return before + new + after


def _is_laid(elt: ast.expr, name: str) -> bool:
    """Whether an element is a variable itself, or in another form."""
    match elt:
        case ast.Name(id=found):
            return found == name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=found), attr=form)):
            return found == name and form in _FORMS
    return False
