"""A part of the graph is left out, and carried no gradient yet

## What it finds

The edit takes operations out of the graph: a value is detached, computed under `torch.no_grad()` or left out of the
loss, or what the code writes in place goes to `.data`. The gradients compared are the same all the same, because no
gradient came through these operations yet, or they changed none: a weight that is 0 until a warm-up ends, a mask
without a hit, a clamp or a norm that does not bind. A zero that stands in the text stays one, and is not meant. Or an
edit cuts, and the code switches on later what has no gradient now. Operations whose gradient is the same whatever
they do (a sum, a copy, a view) are not counted, nor is what another operation replaces. A cut in front of indices, a
mask or a count (`q.detach().max(1)[1]`) leaves out nothing, since these have no gradient. Nothing is said of an edit
that cuts the graph between passes, be it of storage that each pass fills again, nor of one that computes anew after a
step unless it leaves out something, too.

## Why it matters

Later the weight is not 0 and the clamp binds, and what is left out then trains nothing. This was not seen.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from autofix.experiments.compare import comparable
from autofix.experiments.sketches import norm
from autofix.probe import wire
from autofix.syntax.sources import parsed
from autofix.verdict.parts.indices import without_indices
from autofix.verdict.property import Effect, Evidence, Example, Finding, Property

BOUNDED = """\
net, head = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    hidden = torch.tanh(net(torch.randn(6, 3)))
    hidden.clamp_(-MOST, MOST)
    loss = (head(hidden) - 1).square().mean()
    train: loss
"""
WIDE = BOUNDED.replace("MOST", "2")
NORMED = BOUNDED.replace("hidden.clamp_(-MOST, MOST)", "hidden.view(-1, 2).renorm_(2, 0, 5.0)")
WRITE, NORM = "hidden.clamp_(-2, 2)", "hidden.view(-1, 2).renorm_(2, 0, 5.0)"
LATER = """\
net, critic = nn.Linear(3, 3), nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
for_net, for_critic = (torch.optim.SGD(one.parameters(), lr=0.1) for one in (net, critic))
for step in range(12):
    x = torch.randn(6, 3)
    made = net(x)
    score = critic(made).mean()
    train[for_critic]: (critic(x) - critic(made.detach())).mean()
    loss = (made - x).abs().mean() - score * WEIGHT
    train[for_net]: loss
"""
WARMING = LATER.replace("WEIGHT", "float(step > 1000)")
THAWED = """\
body, one, two = nn.Linear(3, 4), nn.Linear(4, 1), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*body.parameters(), *one.parameters(), *two.parameters()], lr=0.1)
FROZEN
for step in range(6):
    if step == 1000:
        body.requires_grad_(True)
    seen = body(torch.randn(6, 3)).tanh()
    first = one(seen).square().mean()
    second = (first - two(seen)).square().mean()
    optimizer.zero_grad()
    first.backward()
    second.backward()
    optimizer.step()
"""
KEPT = ("    first.backward()", "    first.backward(retain_graph=True)")
CUT = (KEPT[0], f"{KEPT[1]}\n    second = (first - two(seen.detach())).square().mean()")
UNUSED = THAWED.replace(
    "FROZEN", "unused = nn.Linear(2, 2)\noptimizer.add_param_group({'params': unused.parameters()})"
)
UNUSED = UNUSED.replace("body(torch.randn(6, 3))", "body(torch.randn(6, 3).requires_grad_())")
SHOWN = (KEPT[0], f"{KEPT[1]}\n    shown = seen.detach()")
CHOOSES = ("    optimizer.zero", "    second = (second - seen.max(1)[1][:, None]).square().mean()\n    optimizer.zero")
CHOSEN = THAWED.replace("FROZEN", "body.requires_grad_(False)").replace(*CHOOSES)
PICKS = CHOSEN[CHOSEN.index("    second = (second") : CHOSEN.index("    second.backward")]
PICKED = PICKS.replace(KEPT[0], KEPT[1]).replace("second - seen.max(1)[1]", "second - best")
LARGEST = CHOSEN.replace("max(1)[1]", "max(1)[0]")
PICKS_LARGEST = (
    PICKS.replace("max(1)[1]", "max(1)[0]"),
    PICKED.replace("best", "seen.detach().max(1)[0]"),
)
UNDER_NO_GRAD = "    with torch.no_grad():\n        _, best = seen.max(1)\n"
SHIFTED = WIDE.replace(WRITE, "hidden += 0.5")
MASKED = WIDE.replace(WRITE, "hidden *= torch.ones(4)")
HOOKED = (
    WIDE.replace(WRITE, "hidden *= 2")
    .replace("torch.tanh(net(torch.randn(6, 3)))", "net(torch.randn(6, 3))")
    .replace(
        "for _ in",
        """seen = []
def note(gradient):
    seen.append(gradient.norm().item())
net.register_full_backward_hook(lambda _, given, sent: note(sent[0]))
for _ in""",
    )
)
OF_MODULE = HOOKED[HOOKED.index("net.register") : HOOKED.index("    loss =")]
OF_TENSOR = OF_MODULE.replace(
    "net.register_full_backward_hook(lambda _, given, sent: note(sent[0]))",
    "net.register_forward_hook(lambda _, given, made: [made.register_hook(note), None][1])",
).replace("hidden *= 2", "hidden = hidden * 2")
STATED = """\
class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.RNNCell(3, 4)
        self.register_buffer("h", torch.zeros(5, 4))
    def forward(self, x):
        new = self.cell(x, self.h)
        self.h.copy_(new)
        return new.square().mean()

net, head = Cell(), nn.Linear(3, 3)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for _ in range(6):
    net.h = net.h.detach()
    loss = sum(net(head(torch.randn(5, 3))) for _ in range(3))
    train: loss
"""
KEEP = "self.h.copy_(new)"
RESTED = """\
cell, head = nn.RNNCell(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
h = torch.zeros(5, 4)
for step in range(6):
    h = h * 0.0
    for _ in range(3):
        h = cell(torch.randn(5, 3), h)
    loss = (head(h) - 1).square().mean()
    train: loss
"""
REST = "h = h * 0.0"
WORKED = """\
net, weights = nn.Linear(3, 3), nn.Parameter(torch.ones(3))
optimizer = torch.optim.SGD([*net.parameters(), weights], lr=0.1)
for _ in range(4):
    x = torch.randn(6, 3)
    work, total = torch.empty_like(x), 0
    for scale in range(3):
        work.copy_(net(scale * x).tanh())
        total = total + weights[scale] * work.square()
    train: (total - 1).square().mean()
"""
PACED = """\
net, head = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.05)
def pace(x):
    return net(x).square().mean().clamp(max=0.31)
for step in range(8):
    if step % 2 == 0:
        most = pace(torch.ones(1, 3))
    loss = (head(net(torch.randn(6, 3))) * most - 3).square().mean()
    train: loss
"""
PACE = ("    loss = (head", "    most = pace(torch.ones(1, 3))\n    loss = (head")
TABLE = """\
layer, head, steps = nn.Linear(2, 3), nn.Linear(3, 1), torch.rand(9, 2)
optimizer = torch.optim.SGD([*layer.parameters(), *head.parameters()], lr=0.1)
table = layer(steps).tanh()
for _ in range(5):
    rows = table[torch.randint(9, (4,))]
    train: (head(rows) - 1).square().mean()
"""
ROWS = ("rows = table[torch.randint(9, (4,))]", "rows = layer(steps[torch.randint(9, (4,))]).tanh()")
SLOTS = """\
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
slots = torch.zeros(4, 1)
for _ in range(6):
    for i in range(4):
        slots[i] = net(torch.randn(3))
    loss = (slots - 1).square().mean()
    train: loss
"""
BOUND_SLOTS = SLOTS.replace("torch.randn(3))", "torch.randn(3)).clamp(-9, 9)")
EMPTIED = ("    optimizer.step()\n", "    optimizer.step()\n    slots = slots.detach()\n")
_INDIFFERENT = (
    *("Add", "Sub", "Sum", "View", "Reshape", "UnsafeView", "Alias", "AsStrided", "ToCopy"),
    *("Squeeze", "Unsqueeze", "Expand", "Transpose", "Permute", "TBackward"),
    "BackwardHookFunction",
)
"""Operations that hand a gradient on as it is, whatever values they have."""

_SAME_GRAPHS = (Effect.IDENTICAL, Effect.MEANT)
"""Where the edit's graphs are those of the reference, if it is right."""
_WRITES = ("torch::autograd::CopySlices",)
"""Writes to a part of a tensor."""
_TAKES = ("Select", "Slice", "Index", "Gather")
"""Operations that take some rows. An edit that computes anew may take them of what a layer is given, instead."""
_UNSEEN = (
    "out of the graph. No gradient in these runs goes there, but a later one may: keep it in the graph, or make sure "
    "that none is meant to"
)
_HIDES = (
    *(b"data", b"detach", b"detach_", b"item", b"tolist", b"numpy", b"inputs"),
    *(b"no_grad", b"inference_mode", b"set_grad_enabled"),
)
_SIGNS = (b"*", b"/", b"%")
_WORDS = re.compile(rb"\w+|[*/%]")


class LeftOutOfGraph(Property):
    sentence = "the edit takes {subject}"
    raises = (
        Example(BOUND_SLOTS, BOUND_SLOTS, SLOTS + "    slots = slots.detach()\n"),
        Example(WIDE, WRITE, "hidden.data.clamp_(-2, 2)"),
        Example(NORMED, NORM, "hidden.data.view(-1, 2).renorm_(2, 0, 5.0)"),
        Example(MASKED, "    hidden *= torch.ones(4)\n", ""),
        Example(RESTED.replace("* 0.0", "* float(step > 999)"), "h = h *", "h = h.detach() *"),
        Example(WARMING, "score * float", "score.detach() * float"),
        Example(THAWED.replace("FROZEN", "body.requires_grad_(False)"), *CUT),
        Example(PACED, " * most", " * 0.31"),
        Example(LARGEST, *PICKS_LARGEST),
        Example(CHOSEN, PICKS, UNDER_NO_GRAD.replace("_, best", "least, best") + PICKED),
    )
    silent = (
        Example(WIDE, WRITE, "hidden = hidden.clamp(-2, 2)"),
        Example(NORMED, NORM, "hidden = hidden.view(-1, 2).renorm(2, 0, 5.0).view(-1, 4)"),
        Example(RESTED, REST, "h = torch.zeros_like(h)"),
        Example(RESTED, REST, "h = h.detach() * 0.0"),
        Example(RESTED.replace(REST, "h.zero_()"), "h.zero_()", "h.zero_().detach_()"),
        Example(STATED, KEEP, "self.h = new"),
        Example(WORKED, "work.copy_(net(scale * x).tanh())", "work = net(scale * x).tanh()"),
        Example(SHIFTED, "hidden += 0.5", "hidden.data += 0.5"),
        Example(WARMING, "score * float", "critic(made).mean() * float"),
        Example(THAWED.replace("FROZEN", "body.requires_grad_(False)"), *KEPT),
        Example(UNUSED, *SHOWN),
        Example(UNUSED.replace("unused =", "two.requires_grad_(False)\ntwo.requires_grad_()\nunused ="), *CUT),
        Example(HOOKED, OF_MODULE, OF_TENSOR),
        Example(PACED, *PACE),
        Example(CHOSEN, PICKS, PICKED.replace("best", "seen.detach().max(1)[1]")),
        Example(CHOSEN, PICKS, PICKED.replace("best", "torch.argmax(seen.detach(), 1)")),
        Example(CHOSEN, PICKS, UNDER_NO_GRAD + PICKED),
        Example(TABLE, *ROWS),
        Example(SLOTS, *EMPTIED),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        found = evidence.assessment
        newer = found.newer or found.effect is Effect.REFRESHED
        if newer and _are_gone(evidence.followed, evidence.edited, _TAKES):
            return self.found(subject=f"operations {_UNSEEN}")
        if evidence.assessment.effect not in _SAME_GRAPHS:
            return None
        read = evidence.case.pool.target.read
        hides = [_hides(path, read(path), new) for path, new in evidence.files.items()]
        if not any(hides) and not any(_loses(read(path), new) for path, new in evidence.files.items()):
            return None
        written = [write.stack for saved in evidence.trace.saved for write in saved.writes if write.optimizer < 0]
        if not written and evidence.assessment.effect is not Effect.IDENTICAL:
            return None  # another reading may cut there, too
        meant = _is_between_passes, _is_behind_zeros
        if _are_gone(evidence.followed, evidence.edited) and not any(one(evidence) for one in meant):
            what = "what is written here" if written else "operations"
            return self.found(
                written[0] if written else (),
                subject=f"{what} {_UNSEEN}",
            )
        if any(hides) and (name := _switched_on_later(evidence)):
            return self.found(
                subject=f"operations out of the graph while {name} is frozen; the code unfreezes it elsewhere"
            )
        return None


def _hides(path: Path, old: bytes, new: bytes) -> bool:
    """Whether an edit adds what keeps an operation with a gradient out of the graph."""
    both = parsed(path, old).apart(parsed(path, new))
    before, after = (Counter(_WORDS.findall(without_indices(one).encode())) for one in both)
    return any(after[word] > before[word] for word in _HIDES)


def _loses(old: bytes, new: bytes) -> bool:
    """Whether an edit takes a call that writes, or an operator, away."""
    before, after = (Counter(_WORDS.findall(text)) for text in (old, new))
    calls = (name for name in before if name.endswith(b"_") and name != b"requires_grad_")
    return any(after[name] + after[name[:-1]] < before[name] + before[name[:-1]] for name in calls) or any(
        after[sign] < before[sign] for sign in _SIGNS
    )


def _are_gone(wanted: wire.Trace, got: wire.Trace, but: tuple[str, ...] = ()) -> bool:
    """Whether fewer operations lead to some step of both runs than did, and none that did not.

    But for those that hand a gradient on as it is, and some others. What a step is given by hand has no graph that
    could be told.
    """
    pairs = [pair for index in range(len(wanted.counts)) for pair in _graphs(index, wanted, got, but)]
    return not any(after - before for before, after in pairs) and any(before - after for before, after in pairs)


def _graphs(
    index: int, wanted: wire.Trace, got: wire.Trace, but: tuple[str, ...] = ()
) -> Iterator[tuple[Counter[str], Counter[str]]]:  # fmt: skip
    """The operations that lead to each step of an optimizer in both runs."""
    for one, other in zip(wanted.of(index), got.of(index), strict=False):
        before, after = _counted(one, but), _counted(other, but)
        by_hand = not other.shape and any(map(norm, other.gradients))
        yield (after if by_hand else before), after


def _is_between_passes(evidence: Evidence) -> bool:
    """Whether no more is left out than by a cut between the passes, as of storage that each pass fills again.

    The cut reference keeps the writes of earlier passes in its graph: there are none before the first step, and more of
    them with each one.
    """
    cut = evidence.of(replace(evidence.reading, truncated=True)) if evidence.letter.carried else None
    if cut is None or comparable(cut):
        return False
    for index in range(len(cut.counts)):
        if any(before - after for before, after in _graphs(index, cut, evidence.edited, _WRITES)):
            return False
        left = [(before - after).total() for before, after in _graphs(index, cut, evidence.edited)]
        if any(left) and (left[0] or any(one >= later for one, later in pairwise(left))):
            return False
    return True


def _is_behind_zeros(evidence: Evidence) -> bool:
    """Whether no more is left out than what a zero of the text multiplies: `h * 0` puts a state to rest."""
    cut = evidence.without_zeros
    return cut is not None and not comparable(cut) and not _are_gone(cut, evidence.edited)


def _counted(step: wire.Step, but: tuple[str, ...]) -> Counter[str]:
    kinds = (one.rpartition(":") for one in step.shape.split())
    return Counter({kind: int(count) for kind, _, count in kinds if not kind.startswith(_INDIFFERENT + but)})


def _switched_on_later(evidence: Evidence) -> str:
    """A parameter with an owner that is switched off all the time, where the code switches gradients on, too; or ''."""
    letter = evidence.followed
    never = (
        name
        for index in range(len(letter.counts))
        for place, name in enumerate(letter.parameters(index))
        if all(place in step.off for step in letter.of(index))
    )
    name = next(never, "")
    files = evidence.sources.project(str(evidence.case.pool.target.script)) if name else []
    switches = {way for source in files for node in source.walk() for way in _switches(node)}
    return name if switches == {True, False} else ""


def _switches(node: ast.AST) -> Collection[bool]:
    """Which ways a statement may switch the gradients of a tensor: on, off, or either; () where it does not."""
    match node:
        case ast.Call(func=ast.Attribute(attr="requires_grad_"), args=args, keywords=words):
            given = [*args, *(word.value for word in words)]
            value = given[0] if given else ast.Constant(True)
        case ast.Assign(targets=[ast.Attribute(attr="requires_grad")], value=value):
            pass
        case _:
            return ()
    return (bool(value.value),) if isinstance(value, ast.Constant) else (True, False)
