"""A call of a function that gives one expression, spelled out where it stands: the function stays for other callers."""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Iterator, Mapping

from autofix.core.edit import Declined
from autofix.syntax import calls, modes, names
from autofix.syntax.calls import Function
from autofix.syntax.edits.expressions import replace
from autofix.syntax.edits.steps import Step
from autofix.syntax.source import Source

_CUTS = ("detach", "numpy", "cpu", "tolist", "item")
_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.NamedExpr, ast.Yield, ast.Await)
_MARKS = (ast.Name, ast.Attribute, ast.Constant)
"""What may be written as often as one likes."""


def spelled_out(source: Source, call: ast.Call, defined: Source, function: Function) -> list[Step]:
    """The expression that a function gives, with its graph, in the place of a call of it, in the caller's words.

    What switches gradients off in the function, or cuts what it gives, is left out. Declines where the function does
    more, where it would compute something twice, or where a name means something else to the caller.
    """
    known = dict(_given(call, function))
    _check(source, call, defined, function)
    for statement in _body(function):
        match statement:
            case (
                ast.Assign(targets=[ast.Name(name)], value=value)
                | ast.AnnAssign(target=ast.Name(name), value=ast.expr() as value)
            ):
                known[name] = _in_words(value, known)
            case ast.Return(value=ast.expr() as value):
                return replace(source, call, _text(_in_words(_with_graph(value), known)))
            case _:
                break
    raise Declined(f"{function.name} does more than to give one expression")


def _body(function: Function) -> Iterator[ast.stmt]:
    """The statements of a function up to what it gives, those of a block without gradients among them."""
    for statement in function.body:
        match statement:
            case ast.Expr(value=ast.Constant()):
                continue
            case ast.With(items=[item], body=inner) if item.optional_vars is None and modes.may_switch_off(
                item.context_expr
            ):
                yield from inner
            case _:
                yield statement


def _given(call: ast.Call, function: Function) -> Iterator[tuple[str, ast.expr]]:
    """What each parameter is: as the call says, or else the function."""
    if any(isinstance(one, ast.Starred) for one in call.args) or any(word.arg is None for word in call.keywords):
        raise Declined("what the call gives is not spelled out")
    if function.args.vararg is not None or function.args.kwarg is not None:
        raise Declined(f"{function.name} takes any number of arguments")
    defaults, known = calls.defaults(function), calls.parameters(function)
    values: list[ast.expr] = list(call.args)
    if known[:1] == ["self"]:
        if not isinstance(call.func, ast.Attribute) or not calls.path_of(call.func.value):
            raise Declined("the object that the method is called on has no name")
        values.insert(0, call.func.value)
    for place, name in enumerate(known):
        found = values[place] if place < len(values) else calls.keyword(call, name) or defaults.get(name)
        if found is None:
            raise Declined(f"the call does not say what {name} is")
        yield name, found


def _in_words(value: ast.expr, known: Mapping[str, ast.expr]) -> ast.expr:
    """An expression with what its variables are in their places, each computed once."""
    read = [one.id for one in ast.walk(value) if isinstance(one, ast.Name)]
    for name in set(read) & known.keys():
        if read.count(name) > 1 and not isinstance(known[name], _MARKS):
            raise Declined(f"{name} would be computed twice")

    class Words(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return copy.deepcopy(known.get(node.id, node))

    found: ast.expr = Words().visit(copy.deepcopy(value))
    return found


def _with_graph(value: ast.expr) -> ast.expr:
    """What a function gives, without what cuts it from its graph at the end."""
    while True:
        match value:
            case ast.Call(func=ast.Attribute(value=inner, attr=name), args=[]) if name in _CUTS:
                value = inner
            case ast.Attribute(value=inner, attr="data"):
                value = inner
            case _:
                return value


def _check(source: Source, call: ast.Call, defined: Source, function: Function) -> None:
    """Decline where the function does not give what it computes, or the caller knows a name otherwise."""
    nodes = [one for statement in _body(function) for one in ast.walk(statement)]
    if any(isinstance(one, _SCOPES) for one in nodes) or not any(isinstance(one, ast.Call) for one in nodes):
        raise Declined(f"{function.name} gives no expression that another function could")
    free = {one.id for one in nodes if isinstance(one, ast.Name)} - names.locals_of(function) - set(dir(builtins))
    around = source.function(call)
    other = free & names.locals_of(around) if around is not None else set[str]()
    if source is not defined:
        mine, theirs = _imported(source), _imported(defined)
        other |= {name for name in free if not theirs.get(name) or theirs[name] != mine.get(name)}
    if other:
        raise Declined(f"{min(other)} may be something else to the caller of {function.name}")


def _imported(source: Source) -> dict[str, str]:
    """What the names of a file are that it imports from elsewhere."""
    found: dict[str, str] = {}
    for node in source.mentioning("import"):
        match node:
            case ast.Import(names=aliases):
                found |= {one.asname or one.name.partition(".")[0]: one.name for one in aliases}
            case ast.ImportFrom(module=str(module), names=aliases, level=0):
                found |= {one.asname or one.name: f"{module}:{one.name}" for one in aliases}
    return found


def _text(value: ast.expr) -> str:
    text = ast.unparse(value)
    return text if isinstance(value, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)) else f"({text})"
