"""What an author of faults sees: `Fault`; and how faults are found."""

from __future__ import annotations

import functools
from typing import ClassVar

from autofix.core.kinds import described, examples, kinds

__all__ = ["HEAD", "Fault", "examples", "faults"]

HEAD = """\
import copy

import torch
import torch.nn.functional as F
from torch import nn, optim

torch.manual_seed(0)
"""
"""Stands before each example."""


class Fault:
    """One way in which training goes wrong and nothing crashes. It names what the probe saw, and looks at nothing.

    `broken` are facts that no program means, each with its sentence: they are alarms. `noted` are facts that are often
    meant: they are told, and are no alarm. In a sentence `{}` is what the fact was seen of. `law` is the law of the
    table that a broken one breaks. In `finds`, lines that begin with `-` go and those with `+` come, by the edit that
    mends it; without such lines there is none.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    law: ClassVar[str] = ""
    broken: ClassVar[tuple[tuple[str, str], ...]] = ()
    noted: ClassVar[tuple[tuple[str, str], ...]] = ()
    finds: ClassVar[tuple[str, ...]] = ()
    passes: ClassVar[tuple[str, ...]] = ()

    @property
    def title(self) -> str:
        """The first line of its file."""
        return described(self).partition("\n")[0].rstrip(".")


@functools.cache
def faults() -> tuple[Fault, ...]:
    """All faults, by code: every module of `autofix.audit.faults` defines one."""
    return tuple(sorted(kinds("autofix.audit.faults", Fault), key=lambda fault: fault.code))
