"""Chooses the fence for each run, and translates paths where the run works on a private copy of the project."""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from dataclasses import replace
from typing import TYPE_CHECKING

from ..wire import Request
from . import isolate, keeper

if TYPE_CHECKING:  # a room needs Linux, and this has to be imported elsewhere, too
    from .room import Room

_COPIES = ("landlock", "copy")
_AUTO = ("overlay", "landlock", "copy")
"""Best first. Never none: who wants no fence has to say so."""


class Fencing:
    """A place for each run, on the best rung that its project allows. Make it before anything large is imported."""

    def __init__(self) -> None:
        self._rungs: dict[str, tuple[str, ...]] = {}
        self._keeper = keeper.start()
        self._ahead: dict[int, Place] = {}
        self._spare: list[Place] = []
        self.fork = True
        """Whether runs are forks of this process, rather than processes that enter their fence by themselves."""
        isolate.adopt_orphans()

    def place(self, request: Request) -> Place:
        """Where `request` may run; raises isolate.Refused when the rung asked for cannot be had."""
        if (prepared := self._ahead.pop(request.id, None)) is not None:
            with contextlib.suppress(isolate.Refused):  # it may be had yet, or on another rung
                prepared.meet()
                return prepared
        if request.isolation != "auto":
            return self._placed(request, request.isolation)
        rungs = self._rungs.setdefault(request.root, _AUTO)
        while True:
            try:
                return self._placed(request, rungs[0])
            except isolate.Refused:
                if not rungs[1:]:
                    raise
                self._rungs[request.root] = rungs = rungs[1:]

    def prepare(self, request: Request) -> None:
        """Have the room for a run that waits be built while others go on."""
        rung = self._rungs.get(request.root, _AUTO)[0] if request.isolation == "auto" else request.isolation
        known = self._keeper is not None and self._keeper.knows(request.root)
        if known and self.fork and request.id not in self._ahead and rung == "overlay":
            with contextlib.suppress(isolate.Refused, OSError):  # then it is tried again when the run's turn has come
                self._ahead[request.id] = self._fenced(request)

    def forget(self, request: Request | None = None) -> None:
        """Give up the room that was prepared for a run, which needs none any more, or all of them."""
        if request is None:
            self.rest()
        for number in [request.id] if request is not None else list(self._ahead):
            if (place := self._ahead.pop(number, None)) is not None:
                if request is None or place.last:
                    place.clear(())
                else:
                    self._spare.append(place)

    def _placed(self, request: Request, rung: str) -> Place:
        if rung != "overlay" and self._keeper is not None and self._keeper.inside:
            raise isolate.Refused("earlier runs of this probe were fenced by namespaces; start another for this one")
        if rung == "none":
            return Place(request, rung, "")
        if rung == "landlock" and not isolate.has_landlock():
            raise isolate.Refused("the kernel has no Landlock")
        if rung == "overlay":
            place = self._fenced(request)
            place.meet()
            return place
        scratch = self._scratch()
        try:
            return Place(request, rung, scratch)
        except BaseException:
            isolate.clear(scratch)
            raise

    def _scratch(self) -> str:
        scratch = tempfile.mkdtemp(prefix="autofix-")
        if self._keeper is not None:
            self._keeper.note(scratch)
        return scratch

    def _fenced(self, request: Request) -> Place:
        """A place whose room is still to be met, or that of a run before, which left nothing in it."""
        for place in self._spare:
            if place.fits(request):
                self._spare.remove(place)
                return Place(request, "overlay", place.scratch, place.room)
        scratch = self._scratch()
        try:
            return Place(request, "overlay", scratch, self._room(request, scratch))
        except BaseException:
            isolate.clear(scratch)
            raise

    def _room(self, request: Request, scratch: str) -> Room | None:
        """A room for a run that is forked; one that is not makes its own, if one can be had at all."""
        if self._keeper is None:
            raise isolate.Refused("this system has no namespaces")
        fence = _fence(request, "overlay", scratch)
        if self.fork:
            return self._keeper.open(fence)
        self._keeper.check(fence)
        return None

    def clear(self, place: Place, others: tuple[int, ...]) -> tuple[str, ...]:
        """End what a run left, not what `others` started, and its scratch folder; returns what it tried to write."""
        keep = others if self._keeper is None else (*others, self._keeper.pid)
        if place.rung == "none" and not others:  # else nobody can tell whose an orphan is; the last run ends them
            isolate.kill_tree(os.getpid(), spare_root=True, keep=keep)
        if place.as_new():
            self._spare.append(place)
            return ()
        return place.clear(keep)

    @property
    def keeps(self) -> bool:
        """Whether it has rooms that no run is in."""
        return bool(self._spare)

    def rest(self) -> None:
        """Let go of the rooms that runs have left as new: while nobody runs, the folders beneath them may change."""
        while self._spare:
            self._spare.pop().let_go()
        for place in self._ahead.values():
            place.last = True


class Place:
    """One run's fence: enter it in the child, clear it in the parent."""

    def __init__(self, request: Request, rung: str, scratch: str, room: Room | None = None) -> None:
        self.rung, self.scratch, self.room = rung, scratch, room
        self.stopped = ""
        """The outcome of a run that the fence itself has ended."""
        self.last = False
        """Whether no other run may have its room."""
        self._real = self._copy = request.root
        self.request = self.original = request
        if rung in _COPIES:
            self._copy = os.path.join(scratch, "project")
            if not os.path.isdir(self._copy):  # a fresh process finds the copy that the server made
                isolate.prepare_copy(request.root, scratch, link_large=rung == "landlock")
            self.request = self._moved(request)

    def _moved(self, request: Request) -> Request:
        """The request as it reads inside the copy."""
        return replace(
            request,
            root=self._copy,
            cwd=self._there(request.cwd),
            script=self._there(request.script),
            overlay={self._there(path): text for path, text in request.overlay.items()},
            lines={self._there(path): lines for path, lines in request.lines.items()},
            marks={self._there(path): lines for path, lines in request.marks.items()},
        )

    def _there(self, path: str) -> str:
        inside = path == self._real or path.startswith(os.path.join(self._real, ""))
        return self._copy + path[len(self._real) :] if inside else path

    def back(self, message: bytes) -> bytes:
        """A trace with the copy's paths turned into the project's."""
        if self._copy == self._real:
            return message
        return message.replace(json.dumps(self._copy)[1:-1].encode(), json.dumps(self._real)[1:-1].encode())

    def fits(self, request: Request) -> bool:
        """Whether a run of `request` would have the same fence."""
        mine, other = (
            (one.root, one.cwd, one.network, one.process_limit, one.memory_limit, one.isolation)
            for one in (self.original, request)
        )
        return mine == other

    def as_new(self) -> bool:
        """Whether the run, which has left, has left nothing, so that another may have the room."""
        return self.room is not None and not self.last and self.room.as_new()

    def let_go(self) -> None:
        """Clear it without waiting, where no run is in it or has written there."""
        if self.room is not None:
            self.room.close()
        isolate.clear(self.scratch)

    def meet(self) -> None:
        """Wait until a process can be forked into the room, if there is one; raises isolate.Refused."""
        try:
            if self.room is not None:
                self.room.meet()
        except BaseException:
            isolate.clear(self.scratch)
            raise

    def fork(self) -> int:
        """Fork, as `os.fork`, to where the child can enter."""
        return os.fork() if self.room is None else self.room.fork()

    def enter(self, keep: tuple[int, ...]) -> str:
        """Put up the fence in this freshly forked process; returns in the process that shall run the script."""
        if self.room is not None:
            self.room.join(keep)
            return self.rung
        if self.rung == "none":
            os.setsid()
            return "none"
        return isolate.enter(_fence(self.request, self.rung, self.scratch, keep))

    def leave(self) -> int:
        """Begin to clear it, if that can go on by itself: the descriptor at which its end can be read; else -1."""
        return -1 if self.room is None else self.room.leave()

    def clear(self, others: tuple[int, ...]) -> tuple[str, ...]:
        """End what the run left, remove its scratch folder; returns what it tried to write."""
        if not self.scratch:
            return ()
        if self.room is not None:
            self.room.finish()
        if self.rung in _COPIES:
            isolate.sweep(self.scratch, keep=others)
        written, stopped = isolate.writes(self.scratch)
        self.stopped = f"{stopped}_exceeded" if stopped else ""
        isolate.clear(self.scratch)
        return tuple(f"{write.kind} {self.back(write.path.encode()).decode()}" for write in written)


def _fence(request: Request, rung: str, scratch: str, keep: tuple[int, ...] | None = None) -> isolate.Fence:
    return isolate.Fence(
        rung, request.root, request.cwd, scratch, network=request.network, processes=request.process_limit,
        disk=request.memory_limit or None, keep=keep,
    )  # fmt: skip
