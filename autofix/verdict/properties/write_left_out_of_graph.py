"""A write takes part in no gradient any more, and changed none that was compared

## What it finds

The code writes in place to what backward needs, and the edit takes the write out of the graph: it goes to `.data` or to
a detached tensor, stands under `torch.no_grad()`, or is gone. The gradients compared are the same all the same, because
the write changed nothing yet: a clamp or a norm that does not bind, a mask that is all ones. Operations whose gradient
is the same whatever they do (a sum, a view) are not counted, nor is a write that another operation replaces. Nothing
is said of an edit that cuts the graph between passes, or computes anew after a step.

## Why it matters

Later the write does change values, and the gradient passes by what it does to them. This was not seen.
"""

from __future__ import annotations

import re
from collections import Counter

from autofix.core.model import Effect, Finding, Treatment
from autofix.experiments.compare import comparable
from autofix.probe import wire
from autofix.verdict.evidence import Evidence
from autofix.verdict.property import Example, Property

BOUNDED = """
import torch
from torch import nn

torch.manual_seed(0)
net, head = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    hidden = torch.tanh(net(torch.randn(6, 3)))
    hidden.clamp_(-MOST, MOST)
    loss = (head(hidden) - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
WIDE = BOUNDED.replace("MOST", "2")
NORMED = BOUNDED.replace("hidden.clamp_(-MOST, MOST)", "hidden.view(-1, 2).renorm_(2, 0, 5.0)")
WRITE, NORM = "hidden.clamp_(-2, 2)", "hidden.view(-1, 2).renorm_(2, 0, 5.0)"
SHIFTED = WIDE.replace(WRITE, "hidden += 0.5")
MASKED = WIDE.replace(WRITE, "hidden *= torch.ones(4)")
_INDIFFERENT = (
    *("Add", "Sub", "Sum", "View", "Reshape", "UnsafeView", "Alias", "AsStrided", "ToCopy"),
    *("Squeeze", "Unsqueeze", "Expand", "Transpose", "Permute", "TBackward"),
)
"""Operations that hand a gradient on as it is, whatever values they have."""

_SAME_GRAPHS = (Effect.IDENTICAL, Effect.MEANT)
"""Where the edit's graphs are those of the reference, if it is right."""
_HIDES = (b"data", b"detach", b"detach_", b"no_grad", b"inference_mode", b"set_grad_enabled")
_SIGNS = (b"*", b"/", b"%")
_WORDS = re.compile(rb"\w+|[*/%]")


class WriteLeftOutOfGraph(Property):
    name = "write-left-out-of-graph"
    runs = ("edited_frozen", "trace")
    sentence = (
        "what is written here takes part in no gradient of the edited code; it changed none in the runs compared, and "
        "may do so later"
    )
    raises = (
        Example(WIDE, WRITE, "hidden.data.clamp_(-2, 2)"),
        Example(NORMED, NORM, "hidden.data.view(-1, 2).renorm_(2, 0, 5.0)"),
        Example(MASKED, "    hidden *= torch.ones(4)\n", ""),
    )
    silent = (
        Example(WIDE, WRITE, "hidden = hidden.clamp(-2, 2)"),
        Example(NORMED, NORM, "hidden = hidden.view(-1, 2).renorm(2, 0, 5.0).view(-1, 4)"),
        Example(SHIFTED, "hidden += 0.5", "hidden.data += 0.5"),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        written = [write.stack for saved in evidence.trace.saved for write in saved.writes if write.optimizer < 0]
        assessment = evidence.assessment
        if not written or assessment.effect not in _SAME_GRAPHS:
            return None
        if not any(_may_hide(evidence.case.pool.target.read(path), new) for path, new in evidence.files.items()):
            return None
        wanted = evidence.of(assessment.reading or evidence.code, Treatment.FROZEN)
        got = evidence.edited_frozen
        if comparable(wanted) or comparable(got):
            return None
        gone, fresh = _counted(wanted), _counted(got)
        return self.found(written[0]) if gone - fresh and not fresh - gone else None


def _may_hide(old: bytes, new: bytes) -> bool:
    """Whether an edit adds what keeps an operation out of the graph, or takes a call or an operator away."""
    before, after = (Counter(_WORDS.findall(text)) for text in (old, new))
    calls = (name for name in before if name.endswith(b"_"))
    return (
        any(after[word] > before[word] for word in _HIDES)
        or any(after[name] + after[name[:-1]] < before[name] + before[name[:-1]] for name in calls)
        or any(after[sign] < before[sign] for sign in _SIGNS)
    )


def _counted(trace: wire.Trace) -> Counter[tuple[int, int, str]]:
    """How many operations of each kind lead to each step, but for those that hand a gradient on as it is."""
    found: Counter[tuple[int, int, str]] = Counter()
    for index in range(len(trace.counts)):
        for number, step in enumerate(trace.of(index)):
            for kind, _, count in (one.rpartition(":") for one in step.shape.split()):
                if not kind.startswith(_INDIFFERENT):
                    found[index, number, kind] = int(count)
    return found
