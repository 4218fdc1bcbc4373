"""What of an edit says nothing new: the same change as another one, or what was said before, by another name."""

from __future__ import annotations

import ast
import builtins
import copy
import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from autofix.syntax.calls import Function, name_of, path_of
from autofix.verdict.parts.bare import converts, exact, formless, reforms
from autofix.verdict.parts.statements import Item
from autofix.verdict.parts.texts import side_by_side


def shape(old: ast.stmt, new: ast.stmt) -> str:
    """A change of a statement, as text that is the same where it is made in the same way to other variables.

    What is called, and what only the new statement names, has to be the same. A text may be the name of a variable.
    Where it gives the same variables another value, only that counts: `x = f(x)` is changed as `y = f(x)` is.
    """
    match old, new:
        case ast.Assign(targets, ast.expr() as was), ast.Assign(others, ast.expr() as now) if old is not new:
            if [*map(ast.dump, targets)] == [*map(ast.dump, others)]:
                old, new = ast.Expr(was), ast.Expr(now)
    both = [copy.deepcopy(old), copy.deepcopy(new)]
    called = {id(node.func) for one in both for node in ast.walk(one) if isinstance(node, ast.Call)}
    numbers: dict[tuple[str, str], str] = {}
    for one in both:
        for node in ast.walk(one):
            match node:
                case ast.Name(name) if not hasattr(builtins, name):
                    key, place = ("", name), "id"
                case ast.Attribute(attr=name) if id(node) not in called:
                    key, place = (".", name), "attr"
                case ast.Constant(str(name)) if ("", name) in numbers:  # a key that is called as its variable
                    key, place = ("", name), "value"
                case _:
                    continue
            if one is both[0]:
                numbers.setdefault(key, f"{len(numbers)}")
            setattr(node, place, numbers.get(key, name))
    return "\n".join(map(ast.dump, both))


def rewrites(
    old: ast.stmt | None, new: ast.stmt | None, tree: ast.AST, names: Mapping[str, str], moved: Collection[str]
) -> bool:
    """Whether a statement only says otherwise what it said, or what another one said that is gone, whatever runs show.

    `tree` is the new text, `names` the variables that it calls otherwise, and `moved` the expressions that are gone.
    """
    if old is None or new is None:
        return False
    of_its_own = (_follows(names, old, new), _takes_over(old, new, moved), converts(old, new))
    return any(of_its_own) or _leaves_function(old, new, tree) or _becomes_static(old, new, tree)


def renamed(
    gone: Iterable[Item],
    fresh: Iterable[Item],
    old: ast.AST,
    new: ast.AST,
    stretches: Collection[tuple[str, int, int, int, int]],
) -> Mapping[str, str]:
    """The variables that the edit calls otherwise, by their old names; of the statements that each text alone has.

    Both names are bound once, in the same place, to the same value, and the old text does not know the new one.
    """
    before, after = bound_in(old), bound_in(new)
    known = {node.id for node in ast.walk(old) if isinstance(node, ast.Name)}
    found: dict[str, str] = {}
    for mine, theirs in itertools.product(gone, fresh):
        match mine.node, theirs.node:
            case ast.Assign([ast.Name(one)], was), ast.Assign([ast.Name(other)], now) if other not in known:
                if ast.dump(was) == ast.dump(now) and side_by_side(mine, theirs, stretches):
                    found |= {one: other} if before[one] == after[other] == 1 else {}
    return found


_SAME = (
    "(lambda same, *both: same(same, *both))(lambda same, a, b: a is b or "
    "(isinstance(a, list | tuple) and len(a) == len(b) and all(same(same, *pair) for pair in zip(a, b))) or "
    "(hasattr(a, 'data_ptr') and a.numel() == b.numel() > 0 and a.data_ptr() == b.data_ptr()), {name}, {value})"
)
"""Holds two values to be one object or memory, which what is written in between changes for both, or rows of these.

What can be read once only has no length.
"""
_PUT = "(lambda a, b: a.shape == b.shape and a.dtype == b.dtype)({name}, {value})"
"""Holds what was just put into a place to be there as it was."""


def named(old: ast.stmt | None, new: ast.stmt | None, fresh: Iterable[ast.stmt], tree: ast.AST) -> str:
    """What has to hold where a statement only reads by a name what it read or computed itself before; '' of any other.

    `fresh` are the statements that only the new text has, which is `tree`. The name is bound once, in one function, to
    what the statement computed, or to another form of what it read; what a form is for shows in the runs of the whole
    edit. Or the statement just before put it into the place that was read.
    """
    if old is None or new is None:
        return ""
    scope = scope_of(tree, new)
    bound = bound_in(scope)
    before = _before(tree, new)

    def reads(name: str, value: ast.expr) -> bool:
        told = _Named(name, value).visit(copy.deepcopy(new))
        in_another_form = reforms(value) and formless(told) == formless(old) != formless(new)
        return exact(told) == exact(old) or in_another_form

    for one in fresh:
        match one:
            case ast.Assign([ast.Name(name)], value) if bound[name] == 1 and scope_of(tree, one) is scope:
                if reads(name, value):
                    return _SAME.format(name=name, value=ast.unparse(value))
    match before:
        case ast.Assign([ast.Subscript() as place], ast.Name(name)):
            if reads(name, ast.Subscript(place.value, place.slice, ast.Load())):
                return _PUT.format(name=name, value=ast.unparse(place))
    return ""


def _before(tree: ast.AST, statement: ast.stmt) -> ast.stmt | None:
    """The statement before one in its block."""
    blocks = (block for node in ast.walk(tree) for _, block in ast.iter_fields(node) if isinstance(block, list))
    beside = next((block for block in blocks if any(one is statement for one in block)), [])
    at = next((at for at, one in enumerate(beside) if one is statement), 0)
    return beside[at - 1] if at else None


def scope_of(tree: ast.AST, inner: ast.stmt) -> ast.AST:
    """The innermost function around a statement, or the module."""
    around = [node for node in ast.walk(tree) if isinstance(node, Function)]
    found = [node for node in around if node.lineno < inner.lineno <= (node.end_lineno or 0)]
    return max(found, key=lambda node: node.lineno, default=tree)


class _Named(ast.NodeTransformer):
    """Puts a value in the place of its name."""

    def __init__(self, name: str, value: ast.expr) -> None:
        self._name, self._value = name, value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._value if node.id == self._name and isinstance(node.ctx, ast.Load) else node


def bound_in(tree: ast.AST) -> Counter[str]:
    names = (node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load))
    return Counter([*names, *(node.arg for node in ast.walk(tree) if isinstance(node, ast.arg))])


def _follows(names: Mapping[str, str], old: ast.stmt, new: ast.stmt) -> bool:
    """Whether a statement only calls variables by their new names."""
    if not names:
        return False
    other = copy.deepcopy(old)
    for node in ast.walk(other):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            node.id = names.get(node.id, node.id)
    return exact(other) == exact(new)


def _takes_over(old: ast.stmt, new: ast.stmt, moved: Collection[str]) -> bool:
    """Whether a statement only does to a value, as it uses it, what was done in a statement that is gone.

    `moved`: the expressions of what is gone. `keep(x.detach())` in place of `keep(x)`, where `x = x.detach()` is gone,
    is one change with that.
    """
    wanted, whole = ast.dump(old), ast.dump(new)
    for node in ast.walk(new):
        if isinstance(node, ast.Call) and (done := ast.dump(node)) in moved:
            inner = [*node.args[:1], *([node.func.value] if isinstance(node.func, ast.Attribute) else [])]
            if any(whole.replace(done, ast.dump(one)) == wanted for one in inner):
                return True
    return False


def takes_out(old: ast.stmt | None, new: ast.stmt | None, tree: ast.AST, fresh: Iterable[ast.stmt]) -> bool:
    """Whether a statement only reads by a new name, bound once and just before, what it computed itself there.

    `fresh` are the statements that only the new text has, which is `tree`. By a name that was there before the
    statement would read what another draw has given.
    """
    if old is None or new is None:
        return False
    match before := _before(tree, new):
        case ast.Assign([ast.Name(name)], value) if bound_in(scope_of(tree, new))[name] == 1:
            told = exact(_Named(name, value).visit(copy.deepcopy(new)))
            return any(one is before for one in fresh) and told == exact(old) != exact(new)
    return False


def _leaves_function(old: ast.stmt, new: ast.stmt, tree: ast.AST) -> bool:
    """Whether a class only stops being a function of autograd, and nothing in the new `tree` takes it for one.

    Whoever calls a function of its own in its place, with the object, may leave the class what it was.
    """
    match old, new:
        case ast.ClassDef(name, [base]), ast.ClassDef(other, [] | [ast.Name("object")]) if other == name:
            nodes = [*ast.walk(tree)]
            known = path_of(base) in ("torch.autograd.Function", "autograd.Function") or any(
                isinstance(one, ast.ImportFrom) and one.module == "torch.autograd" for one in nodes
            )
            alike = (old.keywords, old.decorator_list, new.keywords, new.decorator_list) == ([], [], [], [])
            applied = (path_of(one) == f"{name}.apply" for one in nodes if isinstance(one, ast.Attribute))
            return name_of(base) == "Function" and known and alike and not any(applied)
    return False


def _becomes_static(old: ast.stmt, new: ast.stmt, tree: ast.AST) -> bool:
    """Whether a function only becomes static, in a class of which nothing in the new `tree` may make an object.

    Each name of the class then stands for what is asked of the class itself, as in `Bound.apply`.
    """
    match old, new:
        case ast.FunctionDef(name), ast.FunctionDef(other, decorator_list=[ast.Name("staticmethod")]) if name == other:
            plain = copy.copy(new)
            plain.decorator_list = []
            classes = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
            owner = next((one.name for one in classes if new.lineno in [inner.lineno for inner in one.body]), "")
            asked = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
            named = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == owner]
            return bool(named) and ast.dump(plain) == ast.dump(old) and asked.issuperset(map(id, named))
    return False
