"""What a run has still to execute of its own version of the files, where a beginning has executed the rest."""

from __future__ import annotations

import os
from types import CodeType, FunctionType
from typing import TYPE_CHECKING

from .. import wire
from ..program.frames import Frames
from ..program.overlay import Overlay
from .exchange import Differs, Exchange, Living, lines, nested
from .inside import CutFunction, places
from .pieces import Parts, first_difference, unchanged

if TYPE_CHECKING:
    from .stem import Stem


class Rest:
    """Compiled anew, and all functions that live given the code that they have there.

    Raises Differs where what has run would have been something else.
    """

    def __init__(self, stem: Stem, request: wire.Request, living: Living) -> None:
        if os.getpid() != stem.pid:
            raise Differs("it would have another number")
        self._stem, self._request = stem, request
        self.marked: dict[str, set[int]] = {}
        self.function: FunctionType | None = None
        """What is left of the function in which the fork waited."""
        self.codes: list[CodeType] = []
        """What is left of the module."""
        self._moved: dict[int, CodeType] = {}
        self._whole: CodeType | None = None
        inside = stem.inside
        self._exchange = Exchange(stem.entries, {id(inside.code)} if inside is not None else set())
        self._overlay = Overlay(
            {path: text.encode("latin-1") for path, text in request.overlay.items()}, request.marks
        )  # fmt: skip
        for path in stem.sources.pieces:
            self._compare(path)
        if inside is not None:
            self._cut()
        for site in request.sites:
            self._check(site.frame)
        if request.mode == "reference":
            stem.replaceable.find()
        self._exchange.make(living)

    def tell(self, frames: Frames) -> None:
        """Have frames be taken for those of a run that was made at once."""
        names = (name for piece in self._stem.sources.pieces[self._stem.path] for name in piece.old.co_names)
        frames.ran = {self._stem.path: tuple(dict.fromkeys(names))}
        frames.moved = self._moved
        if self._stem.inside is not None and self.function is not None and self._whole is not None:
            frames.hidden = {id(self._stem.inside.code)}
            part = self.function.__code__
            frames.whole = {id(part): self._whole}
            frames.places = {id(part): (self._whole, self._places)}

    def _compare(self, path: str) -> None:
        """Compare what was executed of a file with what stands there now."""
        sources, inside = self._stem.sources, self._stem.inside
        marks = set(self._request.marks.get(path, ()))
        parts = None
        if sources.read_files[path] != self._overlay.read(path) or marks or path == self._stem.path:
            parts = self._parts(path, int(self._stem.place[0]))
        if parts is not None and marks:
            self.marked[path] = parts.marker.placed
        for piece in sources.pieces[path]:
            new = piece.old if parts is None else parts.same(piece)
            self._exchange.add(piece.noted, piece.old, new)
            if inside is not None and any(code is piece.noted for code in inside.beneath):
                self._moved[id(piece.noted)] = new
        if parts is not None and path == self._stem.path:
            self.codes = parts.rest(self._stem.place, after=inside is not None)

    def _parts(self, path: str, most: int) -> Parts:
        """The file as the run has it; `most`: the first of its statements that is asked for in any case."""
        sources, pieces = self._stem.sources, self._stem.sources.pieces[path]
        data, old = self._overlay.read(path), sources.read_files[path]
        marks = set(self._request.marks.get(path, ()))
        before = unchanged(pieces, min([first_difference(old, data), *marks]), most, self._stem.flags)
        return Parts(sources.names[path], old, data, marks, before)

    def _cut(self) -> None:
        """Cut the function in which the fork waits, as it was and as it is; what is left of it is a function, too."""
        stem = self._stem
        inside = stem.inside
        assert inside is not None  # noqa: S101
        for code in inside.beneath:
            if (known := self._exchange.codes.get(id(code))) is not None:
                _, old, new = known
                if [*old.co_positions()] != [*new.co_positions()]:
                    raise Differs(f"{old.co_qualname} has called, and was moved")
        noted, old, new = self._exchange.codes[id(inside.code)]
        began = stem.waits.function(inside.code)
        before = CutFunction(began, stem.waits.variables(began), old, inside.number, stem.flags)
        marks = set(self._request.marks.get(stem.path, ()))
        path = stem.waits.path(inside.code)
        fresh = self._parts(stem.path, path[0])
        node = fresh.function(path, inside.number)
        after = CutFunction(node, fresh.locals[node.name, node.lineno], new, inside.number, fresh.flags)
        agree = after.agrees(before)
        for three in zip(nested(noted)[:agree], nested(old)[:agree], nested(new)[:agree], strict=True):
            self._exchange.nested(*three)
        assert stem.main is not None  # noqa: S101
        self.function = after.rest(inside.cells(), stem.main.__dict__)
        self._whole, self._places = new, places(self.function.__code__, new)
        self._ran = before.beginning()
        if marks:
            self.marked.setdefault(stem.path, set()).update(fresh.marker.placed)

    def _check(self, frame: wire.Frame) -> None:
        """A reference does something else at this place: it must not have come there."""
        span = range(frame.line, frame.end_line + 1)
        inside = self._stem.inside
        cut = {id(inside.code): self._ran} if inside is not None else {}
        for piece in self._stem.sources.pieces.get(os.path.realpath(frame.file), ()):
            if any(line in span for line in lines(piece.noted, self._stem.entries, cut)):
                raise Differs(f"line {frame.line} is to be run otherwise")
