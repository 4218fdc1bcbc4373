"""Whether code that has run is the same in other sources; functions that have not run get the code of those."""

from __future__ import annotations

import ast
import builtins
import gc
import inspect
import sys
from collections.abc import Collection, Iterator
from types import CodeType, FunctionType
from typing import Any

ENTERED, CELLS = "__autofix_entered__", "__autofix_cells__"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_CALLING = frozenset({
    "abstractmethod", "argument", "cache", "cached_property", "classmethod", "command", "contextmanager", "enable_grad",
    "group", "inference_mode", "lru_cache", "main", "no_grad", "option", "property", "record", "setter", "staticmethod",
    "wraps",
})  # fmt: skip
"""Decorators that keep a function and call it."""
_WAITING = {
    "generator": ("gi_code", "gi_frame"), "coroutine": ("cr_code", "cr_frame"),
    "async_generator": ("ag_code", "ag_frame"),
}  # fmt: skip


class Differs(Exception):  # noqa: N818 -- an answer, not an error
    """Something that has run already would have run otherwise; the text says what."""


class Entries:
    """Notes which functions have been called: each begins with a call of this, put there before it is compiled."""

    def __init__(self) -> None:
        self.entered: dict[int, CodeType] = {}
        self.again: set[int] = set()
        """By their numbers, the codes that were called, and those that were called more than once."""
        self.read = False
        """Whether somebody read the text of a function, as a compiler of its own would: then it may be in use."""
        setattr(builtins, ENTERED, self._entered)
        find = inspect.findsource

        def found(thing: Any) -> Any:
            self.read = True
            return find(thing)

        inspect.findsource = found  # type: ignore[assignment]

    def _entered(self) -> None:
        code = sys._getframe(1).f_code
        if id(code) in self.entered:
            self.again.add(id(code))
        self.entered[id(code)] = code

    def waits(self, code: CodeType) -> bool:
        """Whether a function was certainly not called yet."""
        return ENTERED in code.co_names and id(code) not in self.entered


def is_noted(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function may have a note: its decorators call it, as far as is known, and do not read its code."""
    parts = (one.func if isinstance(one, ast.Call) else one for one in node.decorator_list)
    names = (
        one.id if isinstance(one, ast.Name) else one.attr if isinstance(one, ast.Attribute) else "" for one in parts
    )
    return all(name in _CALLING for name in names)


def noted(tree: ast.Module) -> ast.Module:
    """The tree, with a note at the beginning of each function; in a process of its own, a function makes none."""
    for node in ast.walk(tree):
        if isinstance(node, _FUNCTIONS) and is_noted(node):
            first = node.body[0]
            call = ast.Expr(ast.Call(ast.Name(ENTERED, ast.Load()), [], []))
            missing = ast.ExceptHandler(ast.Name("NameError", ast.Load()), None, [ast.Pass()])
            note = ast.copy_location(ast.Try([call], [missing], [], []), first)
            node.body.insert(int(ast.get_docstring(node, clean=False) is not None), note)
    return ast.fix_missing_locations(tree)


class Living:
    """The functions of some files that there are, and what of them is under way."""

    def __init__(self, files: Collection[str]) -> None:
        self.functions: list[FunctionType] = []
        self.waiting: list[CodeType] = []
        """The codes of generators and coroutines that have not ended."""
        for thing in gc.get_objects():
            if type(thing) is FunctionType:
                if thing.__code__.co_filename in files and CELLS not in thing.__code__.co_varnames[:1]:
                    self.functions.append(thing)
            elif type(thing).__name__ in _WAITING:
                code, frame = (getattr(thing, name, None) for name in _WAITING[type(thing).__name__])
                if isinstance(code, CodeType) and code.co_filename in files and frame is not None:
                    self.waiting.append(code)


class Exchange:
    """The functions whose code is to be exchanged, found by walking over old and new code side by side.

    Of each piece of code there are three: as it was executed with its notes, the same without, and the new one.
    """

    def __init__(self, entries: Entries, under_way: set[int]) -> None:
        """`under_way`: functions that are cut in two, whose beginnings are compared by who cuts them."""
        self._entries, self._under_way = entries, under_way
        self._ran: set[int] = set()
        """The codes of modules and classes: while one is executed, Python has a function for it."""
        self.codes: dict[int, tuple[CodeType, CodeType, CodeType]] = {}
        """By the number of the code with notes, that, the one without, and the new one."""

    def add(self, noted_code: CodeType, old: CodeType, new: CodeType) -> None:
        """A piece that was executed; raises Differs where the new one would have done something else."""
        self._ran.add(id(noted_code))
        if old is not new and own(old) != own(new):
            raise Differs(f"{old.co_qualname} ran before the fork, and differs")
        parts = [nested(code) for code in (noted_code, old, new)]
        if len({*map(len, parts)}) != 1:
            raise Differs(f"{old.co_qualname} holds other functions")
        for three in zip(*parts, strict=True):
            self.nested(*three)

    def nested(self, noted_code: CodeType, old: CodeType, new: CodeType) -> None:
        """A function of what was executed."""
        self.codes[id(noted_code)] = noted_code, old, new
        if id(noted_code) in self._under_way:
            return
        if not self._entries.waits(noted_code):  # it was called, or nobody can tell
            self.add(noted_code, old, new)
        elif old.co_freevars != new.co_freevars:
            raise Differs(f"{old.co_qualname} uses other variables of the function around it")
        elif self._entries.read and not same(old, new):
            raise Differs("the text of a function was read before the fork")

    def make(self, living: Living) -> None:
        """Exchange the code of all functions that live; raises Differs where there is one that nobody knows."""
        for code in (*living.waiting, *(function.__code__ for function in living.functions)):
            if id(code) not in self.codes and id(code) not in self._ran:
                raise Differs(f"nobody knows where {code.co_qualname} comes from")
        for code in living.waiting:
            if id(code) not in self.codes:
                raise Differs(f"{code.co_qualname} is under way")
            _, old, new = self.codes[id(code)]
            if not same(old, new) or [*old.co_positions()] != [*new.co_positions()]:
                raise Differs(f"{old.co_qualname} is under way, and differs")
        for function in living.functions:
            if id(function.__code__) in self.codes:
                function.__code__ = self.codes[id(function.__code__)][2]


def lines(noted_code: CodeType, entries: Entries, cut: dict[int, CodeType]) -> Iterator[int]:
    """The lines of what has run of a piece, or may have; of a function that is cut, those of its beginning."""
    yield from (line for _, _, line in noted_code.co_lines() if line is not None)
    for inner in nested(noted_code):
        if not entries.waits(inner):
            yield from lines(cut.get(id(inner), inner), entries, cut)


def same(old: CodeType, new: CodeType) -> bool:
    """Whether two codes do the same, with all functions in them."""
    parts = nested(old), nested(new)
    return own(old) == own(new) and len(parts[0]) == len(parts[1]) and all(map(same, *parts))


def nested(code: CodeType) -> list[CodeType]:
    """The functions in a code, without those that hand out cells."""
    found = [value for value in code.co_consts if isinstance(value, CodeType)]
    return [one for one in found if CELLS not in one.co_varnames[:1]]


def own(code: CodeType) -> tuple[object, ...]:
    """What a code does, without the functions in it, and without where it stands."""
    return (
        code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_flags,
        code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_qualname, code.co_exceptiontable,
        [_constant(value) for value in code.co_consts],
    )  # fmt: skip


def _constant(value: object) -> object:
    if isinstance(value, tuple):
        return "tuple", *map(_constant, value)
    return CodeType if isinstance(value, CodeType) else (type(value), repr(value))
