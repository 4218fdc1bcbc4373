"""Which words of a command line are ours, and which belong to the script that they start."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from typer.core import TyperCommand

_ENTRIES = {"-m", "--module", "--console", "--pytest"}
"""Behind the name that one of these gives, everything belongs to the program."""
TYPED = "autofix.typed"
"""Where a command finds the words that it was typed with."""


class Launcher(TyperCommand):
    """A command that ends in a script and the script's own arguments, which are not ours to read."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.meta[TYPED] = tuple(args)
        options = [param for param in self.params if param.param_type_name == "option"]
        valued = {name for param in options if not getattr(param, "is_flag", False) for name in param.opts}
        mine, rest = _parted(args, valued)
        return super().parse_args(ctx, [*mine, "--", *rest])


def _parted(args: Sequence[str], valued: set[str]) -> tuple[list[str], list[str]]:
    """Our options, and what stands behind them: the script, or the module's own arguments."""
    place = 0
    while place < len(args) and args[place].startswith("-") and args[place] != "-":
        word = args[place]
        if word == "--":
            return [*args[:place]], [*args[place + 1 :]]
        if word in _ENTRIES:
            return [*args[: place + 2]], [*args[place + 2 :]]
        place += 2 if word in valued else 1
        if word.startswith(("--module=", "--console=", "--pytest=")) or (
            word.startswith("-m") and len(word) > len("-m")
        ):
            return [*args[:place]], [*args[place:]]
    return [*args[:place]], [*args[place:]]
