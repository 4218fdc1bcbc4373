"""Statements that an edit changes or copies alike: one that ran says what another does, that did not."""

from __future__ import annotations

import ast
import copy
import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from autofix.syntax.calls import Function, name_of, path_of
from autofix.syntax.names import binds, bound_by
from autofix.syntax.writes import root
from autofix.verdict.parts.bare import asks_kind, cut_only
from autofix.verdict.parts.rewritten import shape

_HOLE = "what was there"
_TOLD_CHECKPOINTS = {"use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug"}
"""What a checkpoint is told that it gives to nobody."""


def ran_alike(old: bytes, new: bytes, line: int, ran: Collection[int], *, before: bool) -> int:
    """The line of a changed statement that ran, and was changed in the same way; 0 for none.

    Lines are those of the old text if `before`, else of the new one. A statement of the same text is, wherever it
    stands. So is one that the edit puts before others, where it puts the same before the same in code that ran, and all
    that follows in both blocks is alike. In the other branch of its condition: around what was there stands the same,
    it is given to the same name, and what was there is made of nothing else. Or both say the same, before the edit and
    after it, be it through a checkpoint.
    """
    trees = ast.parse(old), ast.parse(new)
    lines = {(one[0] if before else one[1]).lineno: _text(one) for one in _changed(*trees)}
    lines = lines if before else _put_before(*trees) | lines
    for there in set(ran) - {line}:
        if lines.get(there, there) == lines.get(line):
            return there
    return _in_other_branch(*trees, line, ran, before=before)


def changed_alike(old: bytes, new: bytes, line: int, ran: Collection[int]) -> int:
    """The line that ran in the other branch of the condition of one that did not, and was changed alike; 0 for none."""
    return _in_other_branch(ast.parse(old), ast.parse(new), line, ran, before=False)


def _in_other_branch(old: ast.Module, new: ast.Module, line: int, ran: Collection[int], *, before: bool) -> int:
    modules = {(one.asname or one.name).split(".")[0] for one in _imported(old)}
    for was, now in _conditions(old, new):
        for mine, other in ((was.body, was.orelse), (was.orelse, was.body)):
            pairs = _changes(mine, now.body if mine is was.body else now.orelse)
            others = _changes(other, now.body if other is was.body else now.orelse)
            for change in pairs:
                if (change[0] if before else change[1]).lineno != line:
                    continue
                for one in others:
                    there = (one[0] if before else one[1]).lineno
                    made, known = _made_of(change[0], modules), _made_of(one[0], modules)
                    around = made <= known and _way(*change) == _way(*one) != ""
                    if there in ran and (around or [*map(_uncheckpointed, change)] == [*map(_uncheckpointed, one)]):
                        return there
    return 0


def copied(old: bytes, new: bytes, line: int, ran: Collection[int]) -> int:
    """The line that ran in the other branch of a condition that the edit copies from the program; 0 for none."""
    first, last = ast.parse(old), ast.parse(new)
    for node in ast.walk(last):
        if isinstance(node, ast.If):
            for mine, other in ((node.body, node.orelse), (node.orelse, node.body)):
                there = [one.lineno for one in other if one.lineno in ran]
                if any(one.lineno == line for one in mine) and there and decided(first, last, node):
                    return there[0]
    return 0


def refused_alike(old: bytes, new: bytes, line: int, ran: Collection[int]) -> int:
    """The line that ran of a branch for what torch refused, beside which the edit has the same for another call; or 0.

    The code as written fails wherever such a branch runs.
    """
    found = [*for_refused(ast.parse(old), ast.parse(new))]
    for way, branch in found:
        within = [one.lineno for one in ast.walk(branch) if isinstance(one, ast.stmt)]
        for other, twin in found if line in within else ():
            there = [one.lineno for one in ast.walk(twin) if isinstance(one, ast.stmt)][within.index(line)]
            if way == other and there != line and there in ran:
                return there
    return 0


def for_refused(old: ast.Module, new: ast.Module) -> Iterator[tuple[str, ast.If]]:
    """Each new branch for a None that a derivative gives only since the edit allows what is unused; and how both came.

    It stands behind that call. Where two came in the same way, the text of the branches is the same, and the calls are
    changed in the same way.
    """
    known = [*map(ast.dump, ast.walk(old))]
    statements = {ast.dump(one): one for one in ast.walk(old) if isinstance(one, ast.stmt)}
    blocks = (block for node in ast.walk(new) for block in ast.iter_fields(node) if isinstance(block[1], list))
    for made, branch in (pair for _, block in blocks for pair in itertools.pairwise(block)):
        match made, branch:
            case ast.Assign(_, ast.Call() as call), ast.If(ast.Compare(ast.Name(name), [ast.Is()], [none]), orelse=[]):
                before = copy.deepcopy(made)
                words = [word for word in call.keywords if word.arg != "allow_unused"]
                before.value = ast.Call(call.func, call.args, words)
                was = statements.get(ast.dump(before))
                new_here = len(words) < len(call.keywords) and ast.dump(branch) not in known
                if was is not None and ast.unparse(none) == "None" and new_here and name in bound_by([made]):
                    yield shape(was, made) + ast.dump(branch), branch


def decided(old: ast.Module, new: ast.Module, copy: ast.If | ast.IfExp, target: ast.expr | None = None) -> bool:
    """Whether the program decides as a copy behind it does, and gives the same names the same values in each branch.

    The copy may be one expression, whose value is given to `target`. The condition has one value wherever it stands,
    and nothing from there on writes what only one of the branches is made of: so where the copy of one branch does
    what that did, the other one does.
    """
    mine = [_bindings(one, target) for one in (copy.body, copy.orelse)]
    names = [bound_by(branch) for branch in mine]
    if not names[0] or names[0] != names[1] or not _is_fixed(copy.test, new):
        return False
    known = {ast.dump(node) for node in ast.walk(old) if isinstance(node, ast.If)}
    modules = {(one.asname or one.name).split(".")[0] for one in _imported(new)}
    made = [{name.split(".")[0] for one in branch for name in _made_of(one, modules)} for branch in mine]
    alone = made[0] ^ made[1]
    for node in ast.walk(new):
        if isinstance(node, ast.If) and ast.dump(node.test) == ast.dump(copy.test) and ast.dump(node) in known:
            end = node.end_lineno or node.lineno
            others = {written(one) for one in ast.walk(new) if node.lineno < getattr(one, "lineno", 0) < copy.lineno}
            near = end < copy.lineno and _functions(new, node) == _functions(new, copy)
            theirs = [[one for one in branch if binds(one) & names[0]] for branch in (node.body, node.orelse)]
            if near and alone.isdisjoint(others) and [*map(_text, mine)] == [*map(_text, theirs)]:
                return True
    return False


def tells_form(old: ast.Module, new: ast.Module, choice: ast.IfExp) -> bool:
    """Whether a condition asks only which form a variable has that both its sides cut: one tensor, or several.

    It asks the variable for its kind, or it is one by which the program reads that variable in two ways.
    """
    name, other = map(cut_only, (choice.body, choice.orelse))
    if not name or name != other:
        return False
    test = choice.test.operand if isinstance(choice.test, ast.UnaryOp) else choice.test
    ways = [
        [{ast.unparse(one) for part in branch for one in ast.walk(part)} for branch in (node.body, node.orelse)]
        for node in ast.walk(old)
        if isinstance(node, ast.If) and ast.dump(node.test) == ast.dump(test)
    ]
    known = any(name in one and name in another for one, another in ways) and _is_fixed(test, new)
    return asks_kind(test, name) or known


def _functions(tree: ast.Module, inner: ast.stmt | ast.expr) -> list[int]:
    """The lines of the functions around a node."""
    found = (node for node in ast.walk(tree) if isinstance(node, Function))
    return [one.lineno for one in found if one.lineno <= inner.lineno <= (one.end_lineno or 0)]


def written(node: ast.AST) -> str:
    """The variable that a node binds, or writes in place; '' of any other node."""
    match node:
        case ast.Name(ctx=ast.Store() | ast.Del()) | ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
            return root(node).split(".")[0]
        case ast.Call(ast.Attribute(value, name)) if name.endswith("_"):
            return root(value).split(".")[0]
    return ""


def _bindings(branch: list[ast.stmt] | ast.expr, target: ast.expr | None) -> list[ast.Assign]:
    """A branch as statements that each give one variable a value; none where it does anything else."""
    found = [ast.Assign([target], branch)] if isinstance(branch, ast.expr) and target is not None else branch
    match found:
        case [*rest] if all(isinstance(one, ast.Assign) and [*map(type, one.targets)] == [ast.Name] for one in rest):
            return [one for one in rest if isinstance(one, ast.Assign)]
    return []


def _is_fixed(test: ast.expr, tree: ast.Module) -> bool:
    """Whether a condition asks only for what is bound once, and in no loop: it has the same value at two places."""
    if any(isinstance(node, (ast.Call, ast.NamedExpr, ast.Await, ast.Subscript)) for node in ast.walk(test)):
        return False
    read = {ast.unparse(node) for node in ast.walk(test) if isinstance(node, (ast.Name, ast.Attribute))}
    loops = [node for node in ast.walk(tree) if isinstance(node, (ast.For, ast.AsyncFor, ast.While))]
    again = {name for loop in loops for name in _stored(loop)}
    once = Counter([name for name in _stored(tree) if name != "self"])
    return all(once[name] <= 1 and name not in again for name in read)


def _stored(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Name, ast.Attribute)) and not isinstance(node.ctx, ast.Load):
            yield ast.unparse(node)
        elif isinstance(node, ast.arg):
            yield node.arg


def _text(branch: Iterable[ast.AST]) -> list[str]:
    return [*map(ast.dump, branch)]


def _imported(tree: ast.Module) -> Iterator[ast.alias]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from node.names


def _conditions(old: ast.Module, new: ast.Module) -> Iterator[tuple[ast.If, ast.If]]:
    """The conditions of both texts, in their order, if the edit adds and takes none."""
    found = [[node for node in ast.walk(tree) if isinstance(node, ast.If)] for tree in (old, new)]
    if [ast.dump(node.test) for node in found[0]] == [ast.dump(node.test) for node in found[1]]:
        yield from zip(*found, strict=True)


def _changed(old: ast.AST, new: ast.AST) -> Iterator[tuple[ast.stmt, ast.stmt]]:
    """The statements that have another text, each as it was and as it is, of blocks with as many as before."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        was, now = getattr(old, name, None), getattr(new, name, None)
        if isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
            for one, other in zip(was, now, strict=True):
                yield from _changed(one, other)
                if isinstance(one, ast.stmt) and not hasattr(one, "body") and ast.dump(one) != ast.dump(other):
                    yield one, other


def _put_before(old: ast.Module, new: ast.Module) -> dict[int, list[str]]:
    """Simple statements that the edit puts before others: each with all that follows in its block, by its line."""
    known, rest = [_text(one[:2]) for one in _ends(old)], {ast.dump(node) for node in ast.walk(old)}
    found = {one[0].lineno: _text(one) for one in _ends(new) if not hasattr(one[0], "body")}
    return {line: text for line, text in found.items() if text[:2] not in known and text[1] in rest}


def _ends(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """Each statement that others follow in its block, with these."""
    for node in ast.walk(tree):
        for block in (found for _, found in ast.iter_fields(node) if isinstance(found, list)):
            if len(block) > 1 and isinstance(block[0], ast.stmt):
                yield from (block[at:] for at in range(len(block) - 1))


def _changes(old: list[ast.stmt], new: list[ast.stmt]) -> list[tuple[ast.stmt, ast.stmt]]:
    """The statements of a branch that the edit changes, where it adds and takes none."""
    pairs = zip(old, new, strict=True) if len(old) == len(new) else ()
    return [(was, now) for was, now in pairs if ast.dump(was) != ast.dump(now)]


def _way(old: ast.stmt, new: ast.stmt) -> str:
    """What an edit puts around the value of a statement, and to whom it is given; '' where it changes more."""
    match old, new:
        case ast.Expr(was), ast.Expr(now):
            given = ""
        case ast.Assign([target], was), ast.Assign([other], now) if ast.dump(target) == ast.dump(other):
            given = ast.dump(target)
        case _:
            return ""
    whole, part = ast.dump(now), ast.dump(was)
    return given + whole.replace(part, _HOLE) if whole.count(part) == 1 else ""


def _uncheckpointed(statement: ast.stmt) -> str:
    """A statement, as text, in which what a checkpoint is to call is called."""
    return ast.dump(_Uncheckpointed().visit(copy.deepcopy(statement)))


class _Uncheckpointed(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        told = {word.arg for word in node.keywords} <= _TOLD_CHECKPOINTS
        of_one = name_of(node) == "checkpoint" and node.args and told
        return ast.Call(node.args[0], node.args[1:], []) if of_one else node


def _made_of(node: ast.stmt, modules: set[str]) -> set[str]:
    """The names and attributes that a statement reads, but for modules and for methods that write in place."""
    found = set()
    inner = {id(one.value) for one in ast.walk(node) if isinstance(one, ast.Attribute)}
    for one in ast.walk(node):
        if (
            isinstance(one, (ast.Name, ast.Attribute))
            and id(one) not in inner
            and path_of(one).split(".")[0] not in modules
        ):
            in_place = isinstance(one, ast.Attribute) and one.attr.endswith("_")
            found.add(ast.unparse(one.value if in_place and isinstance(one, ast.Attribute) else one))
    return found
