"""Forks inside a function that the module calls: where they wait in it, and the function that goes on from there.

Python cannot put a frame back. So a function that waits hands out its variables as cells, and what is left of it is
made a function of its own that has the same cells; its caller gets what that returns.
"""

from __future__ import annotations

import ast
import dis
import inspect
import symtable
from collections.abc import Iterator
from types import CellType, CodeType, FunctionType
from typing import Any

from .exchange import CELLS, Differs, is_noted, nested, same

WAIT, REST = "__autofix_wait__", "__autofix_rest__"
_TELLS_FRAMES = frozenset({
    "super", "locals", "vars", "dir", "exec", "eval", "__class__", "breakpoint", "_getframe", "currentframe",
})  # fmt: skip
_ASKS_FRAMES = frozenset({"_getframe", "currentframe"})
"""What a function with other variables in its frame would find otherwise."""
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_CALLS = (
    "CALL", "BINARY", "UNARY", "COMPARE", "CONTAINS", "LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR",
    "STORE_SUBSCR", "STORE_SLICE", "DELETE_SUBSCR", "GET_ITER", "FOR_ITER", "SEND", "UNPACK", "IMPORT", "BEFORE_WITH",
    "WITH_EXCEPT", "FORMAT", "LIST_EXTEND", "DICT_", "SET_UPDATE", "LOAD_SPECIAL", "RAISE",
)  # fmt: skip
"""How the names of instructions begin that may execute something of the user's: a stack is known by such."""
_YIELDS = (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith, ast.Nonlocal)


class Inside:
    """Where a fork waits in a function: its code, the number of the statement, and what the frames beneath execute."""

    def __init__(self, code: CodeType, number: int, cells: FunctionType, beneath: list[CodeType]) -> None:
        self.code, self.number, self.beneath = code, number, beneath
        self._cells = cells

    def cells(self) -> dict[str, CellType]:
        """The variables of the function, by their names."""
        return dict(zip(self._cells.__code__.co_freevars, self._cells.__closure__ or (), strict=True))


class Waits:
    """The functions of a script in which a fork may wait."""

    def __init__(self, tree: ast.Module, text: str) -> None:
        self._paths = {_key(node): path for path, node in called_once(tree)}
        self._tree = tree
        self._locals = local_names(text)

    def ask(self, tree: ast.Module) -> None:
        """Have each of them ask, in another copy of the tree."""
        for _, node in called_once(tree):
            waiting(node, self.variables(node))

    def variables(self, node: ast.FunctionDef) -> tuple[str, ...]:
        """The variables of one of them, as it was written."""
        return self._locals[node.name, node.lineno]

    def knows(self, code: CodeType) -> bool:
        """Whether a code is that of one of these functions."""
        return (code.co_name, code.co_firstlineno) in self._paths

    def path(self, code: CodeType) -> tuple[int, ...]:
        """Where a function stands: its number, or its class's and its own there."""
        return self._paths[code.co_name, code.co_firstlineno]

    def function(self, code: CodeType) -> ast.FunctionDef:
        """The function as it was written."""
        return at(self._tree, self.path(code))


def at(tree: ast.Module, path: tuple[int, ...]) -> ast.FunctionDef:
    """The function at a path; raises Differs where there is none."""
    node: Any = tree
    try:
        for number in path:
            node = node.body[number]
    except (IndexError, AttributeError):
        raise Differs("a function is gone") from None
    if not isinstance(node, ast.FunctionDef):
        raise Differs("a function is gone")
    return node


def _key(node: ast.FunctionDef) -> tuple[str, int]:
    return node.name, min([node.lineno, *(one.lineno for one in node.decorator_list)])


def local_names(text: str) -> dict[tuple[str, int], tuple[str, ...]]:
    """The local variables of each function in a text, by its name and line; not those of its comprehensions."""
    found = {}
    left = [symtable.symtable(text, "", "exec")]
    while left:
        table = left.pop()
        left += table.get_children()
        if isinstance(table, symtable.Function):
            found[table.get_name(), table.get_lineno()] = table.get_locals()
    return found


def called_once(tree: ast.Module) -> Iterator[tuple[tuple[int, ...], ast.FunctionDef]]:
    """The functions and methods that the statements of a module name in calls, where a fork may wait, by their path."""
    named = {
        part.id if isinstance(part, ast.Name) else part.attr
        for call in _outside(tree) if isinstance(call, ast.Call)
        for part in ast.walk(call) if isinstance(part, (ast.Name, ast.Attribute))
    }  # fmt: skip
    for number, node in enumerate(tree.body):
        inner = enumerate(node.body) if isinstance(node, ast.ClassDef) else ()
        for path, one in [((number,), node), *(((number, place), part) for place, part in inner)]:
            if isinstance(one, ast.FunctionDef) and one.name in named and _can_wait(one):
                yield path, one


def _outside(node: ast.AST) -> Iterator[ast.AST]:
    """What is executed with the module, but no functions or classes."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _SCOPES):
            yield from _outside(child)


def _can_wait(function: ast.FunctionDef) -> bool:
    own = [part for statement in function.body for part in _outside(statement)]
    names = {part.id for part in ast.walk(function) if isinstance(part, ast.Name)}
    asked = {part.attr for part in ast.walk(function) if isinstance(part, ast.Attribute)}
    private = any(name.startswith("__") and not name.endswith("__") for name in names)
    plain = not any(isinstance(part, _YIELDS) for part in own) and not getattr(function, "type_params", None)
    return (
        plain
        and is_noted(function)
        and not private
        and _TELLS_FRAMES.isdisjoint(names)
        and _ASKS_FRAMES.isdisjoint(asked)
    )


def waiting(function: ast.FunctionDef, variables: tuple[str, ...]) -> None:
    """Have a function ask before each of its statements whether to go on as another, with these variables."""
    body: list[ast.stmt] = []
    for number, statement in enumerate(function.body):
        cells = ast.Tuple([ast.Name(name, ast.Load()) for name in variables], ast.Load())
        known = ast.arguments([], [ast.arg(CELLS)], None, [], [], None, [ast.Constant(0)])
        asks = ast.Call(ast.Name(WAIT, ast.Load()), [ast.Constant(number), ast.Lambda(known, cells)], [])
        goes = ast.Return(ast.Call(ast.Name(REST, ast.Load()), [], []))
        text = not number and ast.get_docstring(function, clean=False) is not None
        body += [statement] if text else [ast.copy_location(ast.If(asks, [goes], []), statement), statement]
    function.body = body


def _arguments(code: CodeType) -> tuple[object, ...]:
    """How a function is called."""
    starred = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    count = code.co_argcount + code.co_kwonlyargcount + (code.co_flags & starred).bit_count()
    return code.co_argcount, code.co_posonlyargcount, code.co_flags & starred, code.co_varnames[:count]


class CutFunction:
    """A function cut before one of its statements: in what its beginning agrees with another, and what is left."""

    def __init__(
        self, function: ast.FunctionDef, variables: tuple[str, ...], code: CodeType, number: int, flags: int
    ) -> None:  # fmt: skip
        """`code`: the whole function's, without notes."""
        self._function, self._number, self._flags = function, number, flags
        self.code = code
        self._locals = set(variables)
        if number > len(function.body):
            raise Differs(f"{function.name} is shorter")

    def beginning(self) -> CodeType:
        """The code of what has run."""
        return self._compiled(self._function.body[: self._number] or [ast.Pass()], ())

    def agrees(self, other: CutFunction) -> int:
        """How many functions the beginnings hold; raises Differs where they are not the same."""
        mine, theirs = self.beginning(), other.beginning()
        if not same(mine, theirs) or _arguments(self.code) != _arguments(other.code):
            raise Differs(f"{self.code.co_qualname} began otherwise")
        for name in _used(mine):
            if (name in self._locals) != (name in other._locals):
                raise Differs(f"{name} is another variable in {self.code.co_qualname}")
        return len(nested(mine))

    def rest(self, cells: dict[str, CellType], space: dict[str, Any]) -> FunctionType:
        """What is left, as a function without arguments, in the scope of the one that was cut."""
        names = tuple(sorted(self._locals | cells.keys()))
        code = self._compiled([*self._globals(), *self._function.body[self._number :]] or [ast.Pass()], names)
        closure = tuple(cells.get(name) or CellType() for name in code.co_freevars)
        return FunctionType(code, space, self._function.name, (), closure)

    def _globals(self) -> list[ast.stmt]:
        """What the beginning declares for the whole function."""
        before = self._function.body[: self._number]
        return [part for one in before for part in _outside(one) if isinstance(part, ast.Global)]

    def _compiled(self, body: list[ast.stmt], free: tuple[str, ...]) -> CodeType:
        none = ast.arguments([], [], None, [], [], None, [])
        declared = {name for part in self._globals() for name in part.names}  # type: ignore[attr-defined]
        free = tuple(name for name in free if name not in declared)
        inner = ast.FunctionDef(self._function.name, none, [*([ast.Nonlocal([*free])] if free else []), *body], [])
        inner.type_params = []  # type: ignore[attr-defined]
        bound: list[ast.stmt] = [ast.Assign([ast.Name(name, ast.Store()) for name in free], ast.Constant(None))]
        outer = ast.FunctionDef("outer", none, [*(bound if free else []), inner], [])
        outer.type_params = []  # type: ignore[attr-defined]
        tree = ast.Module([ast.copy_location(outer, self._function)], [])
        ast.copy_location(inner, self._function)
        ast.fix_missing_locations(tree)
        code = compile(tree, self.code.co_filename, "exec", flags=self._flags, dont_inherit=True)
        found = nested(nested(code)[0])[0]
        return _renamed(found, found.co_qualname, self.code.co_qualname)


def _renamed(code: CodeType, old: str, new: str) -> CodeType:
    consts = tuple(_renamed(one, old, new) if isinstance(one, CodeType) else one for one in code.co_consts)
    name = new + code.co_qualname[len(old) :] if code.co_qualname.startswith(old) else code.co_qualname
    return code.replace(co_consts=consts, co_qualname=name)


def _used(code: CodeType) -> set[str]:
    return {*code.co_names, *code.co_varnames, *code.co_cellvars}.union(*map(_used, nested(code)))


def places(part: CodeType, whole: CodeType) -> dict[int, int]:
    """For each instruction of the rest of a function its place in the function; raises Differs where one has none."""
    found: dict[tuple[object, ...], list[int]] = {}
    for offset, _, key in _instructions(whole):
        found.setdefault(key, []).append(offset)
    known: dict[int, int] = {}
    for offset, size, key in _instructions(part):
        if not found.get(key):
            raise Differs(f"{whole.co_qualname} cannot be cut there")
        place = found[key].pop(0)
        known |= {offset + step: place + step for step in range(0, size, 2)}  # a frame may stand behind its call
    return known


def _instructions(code: CodeType) -> Iterator[tuple[int, int, tuple[object, ...]]]:
    every = [*dis.get_instructions(code)]
    ends = [*(one.offset for one in every[1:]), len(code.co_code)]
    for one, end in zip(every, ends, strict=True):
        if one.opname.startswith(_CALLS) and one.positions is not None and one.positions.lineno is not None:
            yield one.offset, end - one.offset, (one.opname, one.positions)
