"""The lines of code that a report shows: as they were, or, for the graph after the fix, as the fix has them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from autofix.probe.wire import Frame, Stack
from autofix.render.snapshot import Snapshot
from autofix.render.words import masked
from autofix.syntax.source import Source, SourceError

_ASSIGNED = re.compile(r"([A-Za-z_][\w.]*(?:, *[A-Za-z_][\w.]*)*) *(?::[^=]+)?=(?!=)")


class Code:
    """Reads lines for frames; `files` are the contents that the run had in place of those on disk."""

    def __init__(self, snapshot: Snapshot, main: Path, files: Mapping[Path, bytes] | None = None) -> None:
        self._snapshot, self._main = snapshot, main
        self._files = files or {}
        self._sources: dict[Path, Source | None] = {}

    def line(self, frame: Frame) -> str:
        """The text of a frame's first line; '' where it cannot be read."""
        source = self._source(Path(frame.file))
        if source is None or not 1 <= frame.line <= len(source.lines):
            return ""
        return masked(source.line_text(frame.line).strip().replace("\t", " "))

    def short(self, frame: Frame) -> str:
        """A frame's line number, with the file's name where it is not the script's."""
        name = Path(frame.file).name
        if Path(frame.file) == self._main:
            cell = self._snapshot.cell(self._snapshot.place(frame))
            return f"cell {cell[0]}:{cell[1]}" if cell is not None else str(frame.line)
        return masked(f"{name}:{frame.line}")

    def places(self, stacks: Sequence[Stack]) -> str:
        """One label for several places: the code of one line, a span of lines, or how many they are."""
        frames = list(dict.fromkeys((stack[0].file, stack[0].line) for stack in stacks if stack))
        if not frames:
            return ""
        first = next(stack[0] for stack in stacks if stack)
        if len(frames) == 1:
            return f"{self.short(first)}  {self.line(first)}"
        if len({file for file, _ in frames}) == 1:
            lines = [line for _, line in frames]
            name = "" if Path(first.file) == self._main else f"{masked(Path(first.file).name)}: "
            return f"{name}lines {min(lines)}–{max(lines)}"
        return f"{len(frames)} places in {len({file for file, _ in frames})} files"

    def assigned(self, stacks: Sequence[Stack]) -> str:
        """The variables that the last of the lines of these places gives a value; '' where it gives none."""
        last = max((stack[0] for stack in stacks if stack), key=lambda frame: (frame.file, frame.line), default=None)
        match = _ASSIGNED.match(self.line(last)) if last is not None else None
        return match[1] if match else ""

    def full(self, stack: Stack) -> list[str]:
        """Each frame of a stack with its line of code, for the text behind a box."""
        return [f"{self._snapshot.shown(Path(f.file))}:{f.line}  {self.line(f)}" for f in stack]

    def _source(self, path: Path) -> Source | None:
        if path not in self._sources:
            if path in self._files:
                try:
                    self._sources[path] = Source(path, self._files[path])
                except SourceError:
                    self._sources[path] = None
            else:
                self._sources[path] = self._snapshot.source(path)
        return self._sources[path]
