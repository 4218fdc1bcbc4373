"""Which frames are the user's, where exactly they stand, and when two of them are the same site."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Iterator
from types import CodeType, FrameType, TracebackType
from typing import Any

from .. import HERE
from ..wire import Fact, Frame, Stack

Raw = tuple[tuple["CodeType", int], ...]
"""A stack as captured: (code, index of the last instruction) of each user frame, innermost first."""

_LIBRARY = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


def entries(traceback: TracebackType | None) -> Iterator[TracebackType]:
    """The entries of a traceback, the innermost last; of a frame that raised it again, the one that it came from."""
    while traceback is not None:
        within = traceback.tb_next
        if within is None or within.tb_frame is not traceback.tb_frame:
            yield traceback
        traceback = within


def frames_of(error: BaseException | None) -> list[FrameType]:
    """The frames that an exception came through, the innermost last."""
    return [one.tb_frame for one in entries(error.__traceback__ if error is not None else None)]


def outwards(frame: FrameType | None) -> Iterator[FrameType]:
    """A frame, the one that called it, and so on."""
    while frame is not None:
        yield frame
        frame = frame.f_back


class Frames:
    """Answers for one run: the user's files are those below `root` that no package manager installed."""

    def __init__(self, root: str, lines: dict[str, tuple[int, ...]]) -> None:
        self._root = os.path.join(root, "")
        self._lines = lines
        self._owned: dict[str, bool] = {}
        self._positions: dict[CodeType, list[tuple[int | None, ...]]] = {}
        self.ran: dict[str, tuple[str, ...]] = {}
        """The names that a file's module used before the code that is now executed of it."""
        self.hidden: set[int] = set()
        """The codes, by their numbers, of functions of which another function executes the rest."""
        self.whole: dict[int, CodeType] = {}
        """By the number of such another's code, the code of which it is a part."""
        self.places: dict[int, tuple[CodeType, dict[int, int]]] = {}
        """And that code with the place in it of each instruction of the part."""
        self.moved: dict[int, CodeType] = {}
        """By their numbers, codes that stand elsewhere in the files of this run: there, they are these."""
        self.outermost: FrameType | None = None
        """The frame that runs the script: none further out is the user's."""

    def owned(self, filename: str) -> bool:
        """Whether `filename` is a file of the user's project."""
        answer = self._owned.get(filename)
        if answer is None:
            name = os.path.normpath(filename)
            inside = name.startswith(self._root) and not any(part in name for part in _LIBRARY)
            others = (os.path.join(sys.prefix, "lib"), HERE)
            answer = self._owned[filename] = inside and not name.startswith(others)
        return answer

    def file_of(self, value: Any) -> str:
        """The user's file that defines the class of a value; '' where it is another's."""
        file = getattr(sys.modules.get(type(value).__module__), "__file__", None) or ""
        return file if self.owned(file) else ""

    def is_users(self, value: Any) -> bool:
        """Whether a value is an object of the user's that may hold others."""
        return hasattr(value, "__dict__") and bool(self.file_of(value))

    def owns(self, code: CodeType) -> bool:
        """Whether a code is the user's, and its frame one that a run has which is made at once."""
        return self.owned(code.co_filename) and id(code) not in self.hidden

    def code(self, frame: FrameType) -> CodeType:
        """The code of a frame, and what was executed of it before, if that was in another frame."""
        return self.whole.get(id(frame.f_code), frame.f_code)

    def names(self, frame: FrameType) -> tuple[str, ...]:
        """The global names and attributes that the code of a frame uses."""
        before = self.ran.get(frame.f_code.co_filename, ()) if frame.f_locals is frame.f_globals else ()
        return (*before, *self.code(frame).co_names)

    def variables(self, frame: FrameType) -> dict[str, Any]:
        """The local variables of a frame, in the order that its code has them in."""
        found, code = frame.f_locals, self.whole.get(id(frame.f_code))
        if code is None:
            return found
        names = dict.fromkeys((*code.co_varnames, *code.co_cellvars, *code.co_freevars, *found))
        return {name: found[name] for name in names if name in found}

    def running(self, frame: FrameType | None) -> Iterator[FrameType]:
        """The user's frames, from this one outwards."""
        return (one for one in outwards(frame) if self.owns(one.f_code))

    def here(self) -> Raw:
        """The user frames that are running now."""
        found = []
        frame: FrameType | None = sys._getframe(1)
        owned, last = self._owned, self.outermost
        while frame is not None and frame is not last:
            code = frame.f_code
            known = owned.get(code.co_filename)
            if (known or (known is None and self.owned(code.co_filename))) and id(code) not in self.hidden:
                found.append((code, frame.f_lasti) if not self.places else self._whole(code, frame.f_lasti))
            frame = frame.f_back
        return tuple(found)

    def going_on(self) -> Stack:
        """The user frames that are running now; () where a library's, that may go on with anything, is among them.

        Torch and Python's own modules go on with what they were given.
        """
        found: list[tuple[CodeType, int]] = []
        between = False
        for frame in itertools.takewhile(lambda one: one is not self.outermost, outwards(sys._getframe(1))):
            if self.owns(frame.f_code):
                if between:
                    return ()
                found.append(self._whole(frame.f_code, frame.f_lasti))
            elif found:
                name = str(frame.f_globals.get("__name__", "")).partition(".")[0]
                known = name == "torch" or name in sys.stdlib_module_names or frame.f_code.co_filename.startswith(HERE)
                between = between or not known
        return self.resolve(tuple(found))

    def of_traceback(self, traceback: TracebackType | None) -> Raw:
        """The user frames of an exception, innermost first."""
        found = [(one.tb_frame.f_code, one.tb_lasti) for one in self.own(traceback)]
        return tuple(self._whole(*one) for one in reversed(found))

    def own(self, traceback: TracebackType | None) -> list[TracebackType]:
        """The user's part of a traceback, the innermost frame last."""
        return [one for one in entries(traceback) if self.owns(one.tb_frame.f_code)]

    def _whole(self, code: CodeType, lasti: int) -> tuple[CodeType, int]:
        """The same instruction in the code that this one is a part of, if it is: for both are one site."""
        known = self.places.get(id(code))
        return (code, lasti) if known is None or lasti not in known[1] else (known[0], known[1][lasti])

    def resolve(self, raw: Raw) -> Stack:
        """`raw` with the source span of each frame."""
        return tuple(self._frame(code, lasti) for code, lasti in raw)

    def fact(self, name: str, raw: Raw, subject: str = "") -> Fact:
        """Something seen at a place, of a subject where it has one."""
        return Fact(name, subject, self.resolve(raw))

    def _frame(self, code: CodeType, lasti: int) -> Frame:
        code = self.moved.get(id(code), code)
        positions = self._positions.get(code)
        if positions is None:
            positions = self._positions[code] = list(code.co_positions())
        line, end_line, column, end_column = positions[lasti // 2] if 0 <= lasti // 2 < len(positions) else (None,) * 4
        first = line or code.co_firstlineno
        # An entry of sys.path may lead through `..`.
        name = os.path.normpath(code.co_filename)
        return Frame(name, first, column or 0, end_line or first, end_column or 0, code.co_qualname)

    def site(self, raw: Raw) -> str:
        """A name of the whole chain of frames that is the same in an edited copy of the files."""
        return "|".join(self._place(code, lasti) for code, lasti in raw)

    def _place(self, code: CodeType, lasti: int) -> str:
        frame = self._frame(code, lasti)
        lines = self._lines.get(frame.file)
        line = lines[frame.line - 1] if lines and frame.line <= len(lines) else frame.line
        return f"{os.path.basename(frame.file)}:{frame.function}:{line or -frame.line}"
