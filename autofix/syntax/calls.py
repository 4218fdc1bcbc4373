"""Calls, functions and imports: what is called, which argument a parameter gets, which operands may be tensors."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path

from autofix.syntax.source import Source
from autofix.syntax.vocabulary import BACKWARD, BACKWARD_FUNCTION, GRAD

Function = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
_NO_TENSOR = frozenset({
    "dict", "enumerate", "float", "frozenset", "int", "isinstance", "len", "list", "map", "print", "range", "reversed",
    "set", "sorted", "str", "super", "tuple", "type", "zip",
})  # fmt: skip
"""Functions of Python's own that never give a tensor."""
VALUES = (ast.Name, ast.Attribute, ast.Subscript, ast.Call, ast.BinOp, ast.UnaryOp)
"""Expressions that may hold a tensor; constants, lambdas, comprehensions and the like do not."""


def path_of(node: ast.AST | None) -> str:
    """`a.b.c` for a name or attributes of one, else the empty string."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def whole(node: ast.expr) -> ast.expr:
    """What an item is taken of: `a.b` of `a.b[0][1:]`; the expression itself where it has no subscript."""
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def name_of(node: ast.AST | None) -> str:
    """The last name of what is called, or of an expression: `backward` of `(a + b).backward()`."""
    if isinstance(node, ast.Call):
        node = node.func
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def known(source: Source, node: ast.expr, modules: Collection[str]) -> str:
    """The name below one of some modules that an expression means by the file's imports; '' for others."""
    path = path_of(node)
    first, _, rest = path.partition(".")
    for statement in source.mentioning(f"import {first}") if path else ():
        match statement:
            case ast.Import(names=names):
                for alias in names:
                    top, _, below = alias.name.partition(".")
                    if top in modules and first == (alias.asname or top):
                        return rest if not alias.asname or not below else f"{below}.{rest}"
            case ast.ImportFrom(module=str(module), names=names, level=0):
                top, _, below = module.partition(".")
                for alias in names:
                    if top in modules and first == (alias.asname or alias.name):
                        return ".".join(filter(None, (below, alias.name, rest)))
    return ""


def of_torch(source: Source, names: Collection[str]) -> Iterator[ast.Call]:
    """The calls in a file of some functions of torch, as its imports call them."""
    found = (one for one in source.walk() if isinstance(one, ast.Call))
    return (one for one in found if known(source, one.func, ("torch",)) in names)


def functions(source: Source) -> Iterator[ast.ClassDef]:
    """The classes of a file that are functions of autograd."""
    kinds = (one for one in source.mentioning("Function") if isinstance(one, ast.ClassDef))
    return (one for one in kinds if "Function" in map(name_of, one.bases))


def statement_call(statement: ast.stmt | None) -> ast.expr | None:
    """The expression that a statement consists of."""
    return statement.value if isinstance(statement, ast.Expr) else None


def method(statement: ast.stmt | None) -> str:
    """The last name of the function that a statement calls."""
    value = statement_call(statement)
    return name_of(value) if isinstance(value, ast.Call) else ""


def methods(statement: ast.stmt) -> set[str]:
    """The last names of the functions that a statement calls, or each statement of a loop."""
    if isinstance(statement, ast.For) and not statement.orelse:
        return {name for one in statement.body for name in methods(one)}
    return {method(statement)}


def keyword(call: ast.Call, name: str) -> ast.expr | None:
    """The value of a keyword argument."""
    return next((word.value for word in call.keywords if word.arg == name), None)


def parameters(function: Function) -> list[str]:
    """The parameters of a function by name, in the order in which a call gives them."""
    arguments = function.args
    return [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]


def defaults(function: Function) -> dict[str, ast.expr]:
    """What parameters are where a call does not give them, by name."""
    arguments = function.args
    plain = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(reversed(plain), reversed(arguments.defaults), strict=False)]
    pairs += [(one, value) for one, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value]
    return {one.arg: value for one, value in pairs}


def argument(call: ast.AST | None, names: Sequence[str], name: str) -> ast.expr | None:
    """The argument that a call gives to one of the parameters `names`, a method's `self` counted; None if unknown."""
    if not isinstance(call, ast.Call) or any(isinstance(one, ast.Starred) for one in call.args):
        return None
    if (named := keyword(call, name)) is not None or name not in names:
        return named
    place = place_of(names, name)
    return call.args[place] if 0 <= place < len(call.args) else None


def values(call: ast.Call) -> list[ast.expr]:
    """All that a call is given, by place or by name."""
    return [*call.args, *(word.value for word in call.keywords)]


def given(node: ast.AST, argument: str) -> ast.expr | None:
    """What a call is given for a parameter, by its name and place (`target 1`), or an operator as its `operand 1`."""
    name, place = argument.split()
    match node:
        case ast.BinOp(left=left, right=right) if name == "operand":
            return (left, right)[int(place)]
        case ast.Call(args=values) if name != "operand" and not any(isinstance(one, ast.Starred) for one in values):
            return keyword(node, name) or next(iter(values[int(place) : int(place) + 1]), None)
    return None


def handed(call: ast.AST, function: Function, name: str) -> ast.expr | None:
    """What a call gives to a parameter of the function that it calls, or calls it on."""
    known = parameters(function)
    if not isinstance(call, ast.Call) or known[:1] != [name] or name != "self":
        return argument(call, known, name)
    called = call.func
    return called.value if isinstance(called, ast.Attribute) and called.attr == function.name else called


def flagged(node: ast.AST) -> tuple[ast.expr, ast.expr | None] | None:
    """The tensor whose flag `requires_grad` a statement or call sets, and to what, if it says so; None of others."""
    match node:
        case ast.Assign(targets=[ast.Attribute(value=tensor, attr="requires_grad")], value=value):
            return tensor, value
        case ast.Call(func=ast.Attribute(value=tensor, attr="requires_grad_"), args=given):
            return tensor, given[0] if given else None
        case ast.Expr(value=value):
            return flagged(value)
    return None


def differentiation(call: ast.Call) -> Sequence[str]:
    """The parameters of torch's `backward` or `grad`, in the spelling in which a call has it; else none."""
    match name_of(call):
        case "grad":
            return GRAD
        case "backward":
            function = isinstance(call.func, ast.Name) or path_of(call.func).endswith("autograd.backward")
            return BACKWARD_FUNCTION if function else BACKWARD
    return ()


def started(call: ast.AST | None) -> ast.expr | None:
    """What a call of `backward` or `grad` starts from; None of another call, and where the text does not say."""
    own = differentiation(call) if isinstance(call, ast.Call) else ()
    if isinstance(call, ast.Call) and own is BACKWARD:
        return call.func.value if isinstance(call.func, ast.Attribute) else None
    return argument(call, own, own[0]) if own else None


def makes_tensor(node: ast.expr) -> bool:
    """Whether an expression itself makes the tensor that it gives, and is not code run from text."""
    return isinstance(node, VALUES) and path_of(getattr(node, "func", None)) not in ("exec", "eval")


def only(node: ast.expr | None) -> ast.expr | None:
    """The element of a list or a tuple that holds one alone; anything else as it is."""
    return node.elts[0] if isinstance(node, (ast.List, ast.Tuple)) and len(node.elts) == 1 else node


def differentiated_by(call: ast.AST) -> ast.expr | None:
    """What a call of `grad` differentiates by."""
    return only(argument(call, GRAD, "inputs"))


def place_of(names: Sequence[str], name: str) -> int:
    """Which of a call's arguments is a parameter's where it stands without its name; a method's `self` is none."""
    return names.index(name) - (names[0] == "self")


def within(*nodes: ast.AST) -> Iterator[ast.Call]:
    """The calls in some nodes."""
    return (one for node in nodes for one in ast.walk(node) if isinstance(one, ast.Call))


def operands(node: ast.expr) -> Iterator[ast.expr]:
    """The expressions whose values go into `node`: arguments, a method's receiver, both sides of an operator."""
    match node:
        case ast.Call(func=function, args=arguments, keywords=keywords):
            yield from (argument.value if isinstance(argument, ast.Starred) else argument for argument in arguments)
            yield from (keyword.value for keyword in keywords)
            if isinstance(function, ast.Attribute):
                yield function.value
        case ast.BinOp(left=left, right=right):
            yield from (left, right)
        case ast.UnaryOp(operand=operand):
            yield operand
        case ast.Compare(left=left, comparators=others):
            yield from (left, *others)
        case ast.Subscript(value=value) | ast.Attribute(value=value):
            yield value
        case ast.List(elts=items) | ast.Tuple(elts=items):
            yield from items


def may_be_plain(node: ast.expr) -> bool:
    """Whether an expression is no tensor, or may be none: the number or None of `max(0, x)`, `x if c else None`."""
    match node:
        case ast.Constant():
            return True
        case ast.UnaryOp(operand=one) | ast.Call(func=ast.Name(id="abs" | "round"), args=[one, *_]):
            return may_be_plain(one)
        case ast.BinOp(left=left, right=right):
            return may_be_plain(left) and may_be_plain(right)
    return any(map(may_be_plain, choices(node)))


def choices(node: ast.expr) -> list[ast.expr]:
    """The expressions of which one is chosen for a value: the arguments of `max`, both sides of a condition."""
    match node:
        case ast.Call(func=ast.Name(id="max" | "min"), args=[_, _, *_] as found, keywords=[]):
            return found
        case ast.IfExp(body=body, orelse=other):
            return [body, other]
        case ast.BoolOp(values=found):
            return found
    return []


def tensors_in(node: ast.expr) -> Iterator[ast.expr]:
    """The operands of `node` that may be tensors, lists of them opened."""
    for operand in operands(node):
        parts = operand.elts if isinstance(operand, (ast.List, ast.Tuple)) else [operand]
        for part in parts:
            match part:
                case ast.Call(func=ast.Name(id=name)) if name in _NO_TENSOR:
                    continue
                case _ if isinstance(part, VALUES):
                    yield part


def imported(nodes: Iterable[ast.AST], path: Path, root: Path) -> Iterator[Path]:
    """Where the modules that a file at `path` imports would lie: beside it or above, up to a root, or in its `src`."""
    above = [path.parent, *(one for one in path.parents[1:] if one.is_relative_to(root)), root / "src"]
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            bases = [*path.parents][node.level - 1 : node.level] if node.level else above
            names = node.module.split(".") if node.module else []
            modules = [names, *([*names, alias.name] for alias in node.names)]
        elif isinstance(node, ast.Import):
            bases, modules = above, [alias.name.split(".") for alias in node.names]
        else:
            continue
        for parts in modules:
            for folder in bases:
                yield folder.joinpath(*parts).with_suffix(".py") if parts else folder / "__init__.py"
                yield folder.joinpath(*parts, "__init__.py")


def evaluations(source: Source, module: str, made: ast.stmt) -> list[ast.Call]:
    """The calls of a module, written as its variable or as its `forward`, behind a statement of the same function."""
    behind = (made.end_lineno or 0, made.end_col_offset or 0)
    return [
        node
        for node in source.walk(source.function(made))
        if isinstance(node, ast.Call) and (node.lineno, node.col_offset) >= behind
        and module and ast.unparse(node.func) in (module, f"{module}.forward")
    ]  # fmt: skip


def owner(node: ast.AST) -> str:
    """The module behind `m.parameters()` or `m.requires_grad_(False)`."""
    for part in ast.walk(node):
        match part:
            case ast.Call(func=ast.Attribute(value=owner, attr="parameters" | "named_parameters" | "requires_grad_")):
                if isinstance(owner, (ast.Name, ast.Attribute, ast.Subscript)):
                    return ast.unparse(owner)
    return ""
