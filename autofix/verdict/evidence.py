"""The evidence on one edit: its runs, and what they say that it does to the gradients."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from autofix.verdict.effect import assess
from autofix.verdict.meant import meant
from autofix.verdict.runs import Runs

if TYPE_CHECKING:
    from autofix.core.model import Assessment


class Evidence(Runs):
    """All that a property may ask."""

    @functools.cached_property
    def assessment(self) -> Assessment:
        """What the edit does to the gradients."""
        return meant(self, assess(self))
