"""The reading in which a gradient is sent on once: not by the call that left it in a tensor, and again from there."""

from __future__ import annotations

from typing import Any

from .. import wire
from ..engine import graph
from ..engine.quiet import quiet
from ..engine.resent import Resent, sends_the_same
from ..engine.sketch import is_zero
from ..engine.taps import Call, Listener


class SentOnce(Listener):
    """Lets a backward call send zeros where an earlier one has sent on the same gradient from the same tensor.

    Not where a part of what the earlier one left is gone: there this call is the one that counts, and none is told.
    """

    def __init__(self) -> None:
        self._resent = Resent()
        self._times = 0
        self._gone = False

    def told(self) -> dict[str, Any]:
        """How often that was so."""
        return {"facts": [wire.Fact("sent-once", str(0 if self._gone else self._times))]}

    def backward(self, call: Call) -> None:
        if call.outer is not None:
            return
        with quiet():
            nodes = list(graph.walk(call.roots))
            again = self._resent.of(call, graph.ages(nodes)) is not None and sends_the_same(call)
            self._gone |= again and any(one.grad is None or is_zero(one.grad) for one in graph.leaves(nodes))
        for node in graph.starts(call.roots) if again else ():
            call.cleanups.append(node.register_prehook(graph.zeros).remove)
        self._times += again
