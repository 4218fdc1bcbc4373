"""Which names statements bind and read, where a variable is assigned or filled, and which statements hang together."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from autofix.core.edit import Declined
from autofix.syntax.blocks import block_of
from autofix.syntax.calls import Function, choices, may_be_plain, name_of, parameters, path_of, whole
from autofix.syntax.layout import lines_of
from autofix.syntax.source import Source
from autofix.syntax.vocabulary import CUTS, STORES, samples

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def binds(statement: ast.AST) -> set[str]:
    """The variables that a statement gives a value; an item assigned changes what holds it."""
    found = set()
    for node in _inside(statement):
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and isinstance(node.ctx, (ast.Store, ast.Del)):
            found.add(path_of(whole(node)))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
    return found - {""}


def reads(statement: ast.AST) -> set[str]:
    """The variables whose values a statement uses, each as far as its attributes go."""
    updated = {path_of(node.target) for node in ast.walk(statement) if isinstance(node, ast.AugAssign)}
    return ({path_of(node) for node in uses(statement)} | updated) - {""}


def bound_by(statements: Iterable[ast.AST]) -> set[str]:
    """The variables that some statements give a value."""
    return {name for one in statements for name in binds(one)}


def read_by(statements: Iterable[ast.AST]) -> set[str]:
    """The variables whose values some statements use."""
    return {name for one in statements for name in reads(one)}


def uses(statement: ast.AST) -> Iterator[ast.expr]:
    """The places where a statement takes the value of a variable."""
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        if not isinstance(node, (ast.Name, ast.Attribute)) or not path_of(node):
            stack.extend(ast.iter_child_nodes(node))
        elif isinstance(node.ctx, ast.Load):
            yield node


def mentions(node: ast.AST, path: str) -> Iterator[ast.Name | ast.Attribute | ast.Subscript]:
    """The places in a node where a value is read or written by its path, as it is written."""
    kinds = (ast.Name, ast.Attribute, ast.Subscript)
    return (one for one in ast.walk(node) if isinstance(one, kinds) and ast.unparse(one) == path)


def first_use(statements: Iterable[ast.stmt], variables: Iterable[str]) -> ast.stmt | None:
    """The first of some statements that reads one of some variables."""
    bound = set(variables)
    return next((one for one in statements if meets(bound, reads(one))), None)


def leading(statements: Sequence[ast.stmt], end: ast.AST) -> list[ast.stmt]:
    """Those of these statements whose values come to `end` with their graph: not what is only read detached."""
    found: list[ast.stmt] = []
    for one in reversed(statements):
        bound = binds(one)
        if not bound or any(meets(bound, _with_graph(after)) for after in (*found, end)):
            found.append(one)
    return found[::-1]


def _with_graph(statement: ast.AST) -> set[str]:
    return {name for name in reads(statement) if name.rpartition(".")[2] not in CUTS}


def meets(bound: Iterable[str], read: Iterable[str]) -> bool:
    """Whether something read is, or hangs on, something bound."""
    names = set(read)
    return any(name == one or name.startswith(f"{one}.") for one in bound for name in names)


def forward(first: ast.stmt, following: Sequence[ast.stmt]) -> list[ast.stmt]:
    """`first` and the statements after it that use what it, or one of them, binds."""
    found, bound = [first], binds(first)
    for statement in following:
        if meets(bound, reads(statement)):
            found.append(statement)
            bound |= binds(statement)
    return found


def backward(needed: set[str], before: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements of `before` that the values of `needed` come from."""
    found: list[ast.stmt] = []
    wanted = set(needed)
    for statement in reversed(before):
        if meets(binds(statement), wanted):
            found.append(statement)
            wanted |= reads(statement)
    return found[::-1]


def copied(
    source: Source, statement: ast.stmt, detached: Container[str] = (), renamed: Mapping[Any, str] | None = None
) -> list[str]:  # fmt: skip
    """The lines of a statement, to be written again elsewhere; the variables `detached` lose their graph in it."""
    for node in ast.walk(statement):
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and (node.end_lineno or 0) > node.lineno:
            raise Declined("a string over several lines cannot be repeated at another place")
    start, end = source.extent(statement)
    values = [node for node in uses(statement) if path_of(node) in detached and not _called(source, node)]
    if vain := next((path for path in map(path_of, values) if sometimes_plain(source, path)), ""):
        raise Declined(f"{vain} is sometimes a number or None, which cannot be detached")
    put = [(source.extent(node)[1], source.extent(node)[1], ".detach()") for node in values]
    put += [(*source.extent(node), name) for node, name in (renamed or {}).items()]
    text = source.text[start:end]
    for first, last, new in sorted(put, reverse=True):
        text = f"{text[: first - start]}{new}{text[last - start :]}"
    return lines_of(source, block_of(source, statement), text)


def unused(source: Source, *wanted: str) -> str:
    """A name that stands nowhere in a file: one of these, or the last made longer."""
    for name in itertools.chain(wanted, itertools.accumulate(itertools.repeat("_"), initial=wanted[-1])):
        if not any(name in (getattr(one, "id", ""), getattr(one, "arg", "")) for one in source.mentioning(name)):
            break
    return name


def _called(source: Source, node: ast.AST) -> bool:
    caller = source.parent(node)
    return isinstance(caller, ast.Call) and caller.func is node


def _inside(statement: ast.AST) -> Iterator[ast.AST]:
    """A statement's nodes without those of the functions that it defines, which run later."""
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, _SCOPES):
            stack.extend(ast.iter_child_nodes(node))


def assignments(source: Source, path: str) -> Iterator[ast.Assign | ast.AnnAssign | ast.AugAssign]:
    """The statements that bind the variable written `path`, alone or within a tuple of targets."""
    for node in source.mentioning(path):
        if isinstance(node, ast.Assign):
            targets = [part for target in node.targets for part in parts(target)]
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign)):
            targets = [node.target]
        else:
            continue
        if any(ast.unparse(target) == path for target in targets):
            yield node


def paired(node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What an assignment binds, each with what it is given: of as many values as targets, its own."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets if node.value is not None else ():
        match target, node.value:
            case (ast.Tuple(elts=several) | ast.List(elts=several), ast.Tuple(elts=values) | ast.List(elts=values)) if (
                len(several) == len(values)
            ):
                yield from zip(several, values, strict=True)
            case _, ast.expr() as value:
                yield from ((part, value) for part in parts(target))


def given_to(node: ast.Assign | ast.AnnAssign | ast.AugAssign, path: str) -> Iterator[ast.expr]:
    """What an assignment gives the variable written `path`."""
    return (value for part, value in paired(node) if ast.unparse(part) == path)


def bound_once(function: Function, name: str) -> ast.expr | None:
    """The value of a variable that a function binds in one plain assignment, and is not given."""
    loops = (ast.For, ast.AsyncFor)
    plain = (one for one in ast.walk(function) if isinstance(one, ast.stmt) and not hasattr(one, "body"))
    given = (one.target for one in ast.walk(function) if isinstance(one, loops))
    match [one for one in (*plain, *given) if name in binds(one)]:
        case [ast.Assign(targets=[ast.Name()], value=value)] if name not in parameters(function):
            return value
    return None


def sometimes_plain(source: Source, path: str) -> bool:
    """Whether a variable is somewhere given what may be a tensor and may be none."""
    values = [one.value for one in assignments(source, path) if one.value is not None]
    return any(choices(value) and may_be_plain(value) for value in values)


def fills(source: Source, path: str) -> Iterator[tuple[ast.expr | ast.stmt, ast.expr]]:
    """What puts a value into the container written `path`, with the value: a call like `append`, an item set."""
    for node in source.mentioning(path):
        if isinstance(node, (ast.expr, ast.stmt)):
            yield from ((node, item) for holder, item in filled(node) if ast.unparse(holder) == path)


def kept(statement: ast.stmt, name: str) -> Iterator[ast.AST]:
    """What keeps the variable `name` for later within a statement: a container that takes it, an attribute."""
    for node in ast.walk(statement):
        held = [item for _, item in filled(node)]
        match node:
            case ast.Assign(targets=[ast.Attribute()], value=item):
                held.append(item)
        if any(isinstance(item, ast.Name) and item.id == name for item in held):
            yield node


def filled(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The container that a call like `append`, or an item set, puts a value into, with the value."""
    match node:
        case ast.Call(func=ast.Attribute(value=holder, attr=name), args=[*_, item]) if name in STORES:
            yield holder, item
        case ast.Assign(targets=[ast.Subscript(value=holder)], value=item):
            yield holder, item


def parts(target: ast.expr) -> Iterator[ast.expr]:
    """The single targets of an assignment's target, which may be a tuple of tuples."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for part in target.elts:
            yield from parts(part)
    else:
        yield target


def locals_of(function: Function) -> set[str]:
    """The local names of a function: its parameters and what it binds, but for what it says is another's."""
    own = {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
    own |= {one.name for one in ast.walk(function) if isinstance(one, _SCOPES[:3]) and one is not function}
    own |= {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    return own - {name for n in ast.walk(function) if isinstance(n, (ast.Global, ast.Nonlocal)) for name in n.names}


def locals_read(function: Function, expression: ast.expr) -> set[str]:
    """The local names of `function` that `expression` reads."""
    return locals_of(function) & {n.id for n in ast.walk(expression) if isinstance(n, ast.Name)}


def gives_on(function: Function, name: str) -> bool:
    """Whether a function gives a variable on as it is: to its caller, or by another name."""
    values = (one.value for one in ast.walk(function) if isinstance(one, (ast.Return, ast.Yield, ast.Assign)))
    return any(isinstance(value, ast.Name) and value.id == name for value in values)


def writes_into_parts(function: Function, name: str) -> bool:
    """Whether a function writes into what a variable's object holds, rather than gives the object itself a value."""
    nodes = (one for one in ast.walk(function) if isinstance(one, (ast.Attribute, ast.Subscript)))
    stored = (one for one in nodes if not isinstance(one.ctx, ast.Load))
    deeper = (one for one in stored if isinstance(one, ast.Subscript) or not isinstance(one.value, ast.Name))
    return any(True for one in deeper for _ in mentions(one, name))


def grows(source: Source, attribute: str) -> bool:
    """Whether an attribute of that name, on whatever object, takes values by a method like `append`."""
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in STORES
        and isinstance(node.func.value, ast.Attribute)
        and node.func.value.attr == attribute
        for node in source.mentioning(attribute)
    )


def sampled(source: Source, path: str) -> bool:
    """Whether some of a container of that name are drawn at random: `random.sample(memory, 8)`."""
    name = path.rpartition(".")[2]
    return any(
        isinstance(node, ast.Call)
        and samples(name_of(node))
        and any(path_of(one).rpartition(".")[2] == name for one in ast.walk(node) if isinstance(one, ast.expr))
        for node in source.mentioning(name)
    )


def in_step(source: Source, paths: list[str]) -> Iterator[str]:
    """What is filled too and gone through in step with records: with some emptied alone, the pairs were others."""
    for node in source.mentioning("zip"):
        match node:
            case ast.Call(func=ast.Name(id="zip"), args=args):
                zipped = [ast.unparse(one) for one in args if isinstance(one, (ast.Name, ast.Attribute))]
                if any(name in paths for name in zipped):
                    filled = (name for name in zipped if any(True for _ in fills(source, name)))
                    yield from dict.fromkeys(filled)


def targets(target: ast.expr) -> list[str]:
    """The variables of a target, one or a tuple of them; [] where it is something else."""
    found = target.elts if isinstance(target, ast.Tuple) else [target]
    plain = all(isinstance(part, (ast.Name, ast.Attribute)) for part in found)
    return [ast.unparse(part) for part in found] if plain else []
