"""A number that the code takes of a tensor is another one

## What it finds

The code takes a number of what has no graph (`score.item()`, `if loss < best`), an array or a list (`out.numpy()`), or
shows or saves a tensor, as an evaluation does. The edited run takes another one there, though all gradients are those
of the code. Examples are a state that goes on from window to window in training alone, and a layer that is left out
where gradients are off. The runs are those with every step undone; where these differ, because the edit clamps
elsewhere or holds a buffer for a parameter, those that start where the script does. What the edit computes anew is
newer there, and the same once parameters rest. Of such a number it is said only with gradients off, where it is still
older than the latest step: of a cache that training alone fills anew, or that the first evaluation fills for all. It
may be newer by other layers: what counts are the parameters that the code applies only in what it makes once.
Nothing is said where the edit draws random numbers elsewhere, nor of a place that it makes anew, nor of what torch
refuses: a reference tries that first, and takes the numbers in it (`weights[worst] = 0`) twice.

## Why it matters

No gradient comes from an evaluation, so none shows what it gives. But it decides when training stops, which state is
kept, and what is believed of a model.
"""

from __future__ import annotations

import operator
from dataclasses import replace

from autofix.experiments.compare import comparable, same_gradients
from autofix.experiments.sketches import EXACT
from autofix.experiments.spec import Intervention, RunSpec
from autofix.experiments.values import differing, line_of, taken_otherwise
from autofix.probe import wire
from autofix.verdict.property import Effect, Evidence, Example, Finding, Property, Treatment

_TIMES = 2
"""How many times as far a run goes on, to come to a second evaluation."""
_NEVER = 1 << 30
"""A round that no run comes to."""
CARRIED = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.out, self.h = nn.GRUCell(3, 4), nn.Linear(4, 1), None

    def forward(self, x):
        h = self.cell(x, self.h)
        self.h = h
        return self.out(h)


def score(net):
    kept, net.h, total = net.h, None, 0.0
    with torch.no_grad():
        for x in torch.ones(3, 5, 3):
            total += (net(x) - 1).square().mean().item()
    net.h = kept
    return total


net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    loss = (net(torch.randn(5, 3)) - 1).square().mean()
    train: loss
    print(score(net))
"""
KEPT, CUT = "        self.h = h\n", "        self.h = h.detach()\n"
IN_TRAINING = f"        if torch.is_grad_enabled() or self.h is None:\n    {CUT}"
PRINTED = CARRIED.replace("total += (net(x) - 1).square().mean().item()", "print(net(x))")
SAVED = PRINTED.replace("print(net(x))", "torch.save({'out': net(x)}, '/dev/null')")
SLICED = CARRIED.replace(
    "    loss = (net(torch.randn(5, 3))", "    x, ends = torch.randn(5, 3), torch.tensor([1, 4])\n"
    "    x[ends[0] : ends[1], 0] += 1.0\n    loss = (net(x)"
)  # fmt: skip
SCALED = """\
net = nn.Linear(3, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scale = torch.ones(4, requires_grad=True)
optimizer.add_param_group({"params": [scale]})
shown = scale.exp()


def gate(x):
    x = net(x).sigmoid()
    x *= 2.0
    return x * shown


for _ in range(5):
    loss = (gate(torch.randn(5, 3)) - 1).square().mean()
    train: loss
    with torch.no_grad():
        print(gate(torch.ones(2, 3)).mean().item(), shown.sum().item())
"""
ANEW = SCALED.replace("    x *= 2.0\n", "")
PLAIN = SCALED.replace("shown = scale.exp()\n", "").replace("x * shown", "x * scale.exp()").replace("shown", "scale")
KNOWN = """\
scale, known = nn.Parameter(torch.ones(4)), {}
optimizer = torch.optim.SGD([scale], lr=0.1)
shown = scale.exp()


def weight():
    return shown


for _ in range(6):
    loss = (torch.randn(5, 4).sigmoid() * weight() - 1).square().mean()
    train: loss
    with torch.no_grad():
        print(weight().sum().item())
"""
CLEARED = KNOWN.replace("    with torch.no_grad", "    known.clear()\n    with torch.no_grad")
FIRST = (
    "    return shown\n",
    "    now = scale.exp()\n    return now if torch.is_grad_enabled() else known.setdefault(0, now)\n",
)
MIXED = """\
scale, head, known = nn.Parameter(torch.ones(4)), nn.Linear(4, 1), {}
optimizer = torch.optim.SGD([scale, *head.parameters()], lr=0.1)


def weight():
    if not known:
        known[0] = scale.exp()
    return known[0]


for _ in range(4):
    for _ in range(12):
        loss = (head(torch.randn(5, 4) * weight()) - 1).square().mean()
        train: loss
    with torch.no_grad():
        print(head(weight()).item())
"""
EMPTIED = MIXED.replace("    with torch", "    known.clear()\n    with torch")
ALL_ANEW = "    if not known:\n", "    if True:\n"
TRAINED_ANEW = "    if not known:\n", "    if torch.is_grad_enabled() or not known:\n"
TRAINED_APART = (
    "    if not known:\n",
    "    if torch.is_grad_enabled():\n        return scale.exp()\n    if not known:\n",
)
CLOSURE = """\
net, raw = nn.Linear(3, 1), nn.Parameter(torch.zeros(()))
optimizer = torch.optim.LBFGS([*net.parameters(), raw], lr=0.1, max_iter=3)
weight, x = raw.exp(), torch.randn(6, 3)


def closure():
    optimizer.zero_grad()
    loss = (weight * net(x) - 1).square().mean()
    loss.backward()
    return loss


for _ in range(4):
    optimizer.step(closure)
"""
SLOPED = """\
net, shift = nn.Linear(3, 1), torch.ones(3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def slope(x):
    x = x.detach().requires_grad_()
    return torch.autograd.grad(net(x).tanh().sum(), x, create_graph=True)[0]


for _ in range(6):
    loss = (slope(torch.randn(5, 3)) - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    size = sum(p.grad.square().sum() for p in net.parameters()).detach()
    optimizer.step()
    with torch.no_grad():
        score = (slope(torch.ones(2, 3)) - shift).square().mean()
    print(loss.item(), score.item(), size.item())
"""
PUSHED = """\
class Gate(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 4)
        self.pull = nn.Parameter(torch.zeros(4))

    def choose(self, h):
        return (h + self.pull).topk(2).indices

    def forward(self, x):
        h = self.net(x)
        chosen = self.choose(h)
        if self.training:
            self.pull += (2.5 - torch.bincount(chosen.flatten(), minlength=4)).sign()
        return h.gather(1, chosen)


gate = Gate()
optimizer = torch.optim.SGD(gate.parameters(), lr=0.1)
for _ in range(5):
    loss = (gate(torch.randn(5, 3)) - 1).square().mean()
    train: loss
    with torch.no_grad():
        print(gate.eval()(torch.ones(1, 3)).sum().item())
    gate.train()
"""
OWN, HELD = "self.pull = nn.Parameter(torch.zeros(4))\n", 'self.register_buffer("pull", torch.zeros(4))\n'
CHOICE = "\n    def choose(self, h):\n        return (h + self.pull"
ASKED, TAKEN = "        score = (slope(torch.ones(2, 3))", "        score = (given"
WITH_GRAPH = f"        with torch.enable_grad():\n            given = slope(torch.ones(2, 3))\n{TAKEN}"
OF_HALF = WITH_GRAPH.replace("ones(2, 3))", "ones(2, 3) / 2)")
OF_CLOSURE = "    loss = (weight", "    weight = raw.exp()\n    loss = (weight"
GATE, TWICE = "def gate(x):\n", "    x *= 2.0\n"


class NumberIsAnother(Property):
    sentence = (
        "the number that the code reads at {at} has another value in the edited run, although the gradients are the "
        "same"
    )
    raises = (
        Example(CARRIED, KEPT, IN_TRAINING),
        Example(CARRIED, KEPT, f"{CUT}        h = h if torch.is_grad_enabled() else h.tanh()\n"),
        Example(PLAIN, TWICE, "    x = x * 2.0 if torch.is_grad_enabled() else x\n"),
        Example(ANEW, GATE, f"{GATE}    global shown\n    if torch.is_grad_enabled():\n        shown = scale.exp()\n"),
        Example(KNOWN, *FIRST),
        Example(MIXED, *TRAINED_ANEW),
        Example(MIXED, *TRAINED_APART),
        Example(CARRIED.replace(".mean().item()", ".numpy().mean()"), KEPT, IN_TRAINING),
        Example(CARRIED.replace(".mean().item()", ".tolist()[0][0]"), KEPT, IN_TRAINING),
        Example(CARRIED.replace("no_grad", "inference_mode"), KEPT, IN_TRAINING),
        Example(PRINTED, KEPT, IN_TRAINING),
        Example(SAVED, KEPT, IN_TRAINING),
        Example(SLOPED, ASKED, OF_HALF),
        Example(SLICED, KEPT, IN_TRAINING),
        Example(PUSHED, f"{OWN}{CHOICE}", f"{HELD}{CHOICE} * self.training"),
        Example(SLOPED, ASKED, f"        given = torch.zeros(2, 3)\n{TAKEN}"),
    )
    silent = (
        Example(CARRIED, KEPT, CUT),
        Example(ANEW, GATE, f"{GATE}    global shown\n    shown = scale.exp()\n"),
        Example(CARRIED, KEPT, "        self.h = h if torch.is_grad_enabled() is None else h.detach()\n"),
        Example(PLAIN, TWICE, "    x = x * 2.0\n"),
        Example(ANEW, "x * shown", "x * scale.exp()"),
        Example(CLEARED, *FIRST),
        Example(MIXED, *ALL_ANEW),
        Example(EMPTIED, *TRAINED_ANEW),
        Example(EMPTIED, *TRAINED_APART),
        Example(CARRIED.replace(".mean().item()", ".numpy().mean()"), KEPT, CUT),
        Example(CARRIED.replace(".mean().item()", ".tolist()[0][0]"), KEPT, CUT),
        Example(CARRIED.replace("no_grad", "inference_mode"), KEPT, CUT),
        Example(PRINTED, KEPT, CUT),
        Example(SAVED, KEPT, CUT),
        Example(PUSHED, OWN, HELD),
        Example(SLICED, KEPT, CUT),
        Example(CLOSURE, *OF_CLOSURE),
        Example(SLOPED, ASKED, WITH_GRAPH),
        Example(SLOPED, f"    with torch.no_grad():\n    {ASKED[4:]}", ASKED[4:]),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        found = evidence.assessment
        reading = evidence.reading
        frozen = [one for one in evidence.compared(reading) if one.treatment is Treatment.FROZEN]
        place = next((_other(one.reference, one.candidate) for one in frozen), "")
        if place and found.effect is Effect.IDENTICAL and not same_gradients(frozen[0].reference, frozen[0].candidate):
            want = evidence.of(reading, intervention=Intervention.UNMOVED)
            have = evidence.of_edit(intervention=Intervention.UNMOVED)
            place = _other(want, have) if same_gradients(want, have, EXACT) else place
        elif place and found.effect not in (Effect.IDENTICAL, Effect.TRUNCATED):
            place = _old(evidence, frozen[0].reference) or _other(
                evidence.of(reading, Treatment.STILL), evidence.of_edit(Treatment.STILL)
            )
        if not place:
            return None
        return self.found(at=line_of(place))


def _other(code: wire.Trace, edited: wire.Trace) -> str:
    """The first place of the code at which another number is taken in an edited run; '' where there is none."""
    return "" if comparable(code) else taken_otherwise(code, edited)


def _old(evidence: Evidence, code: wire.Trace) -> str:
    """A place with gradients off that takes another number than the code, which is older all the same; '' for none.

    What is made of the latest parameters is another one where these move not after a step, but in the next forward:
    those of them that the code applies only in what it makes once. An evaluation may fill what later ones read: of
    these it is asked by moving so behind the latest round alone. Where there was one evaluation, the run goes on.
    """
    inside = _inside(evidence.letter)
    spec = replace(RunSpec.edited(evidence.files, Treatment.FROZEN, Intervention.LATE), about=inside)
    newer, late = evidence.of_edit(Treatment.FROZEN), evidence.case.pool.get(spec)
    if not (newer.ended_well and late.ended_well):
        return ""
    got = {(one.site, one.call): one for one in newer.taken}
    off = [(one, got[one.site, one.call]) for one in code.taken if one.off and (one.site, one.call) in got]
    for one, mine in off:
        other = differing(one.values, mine.values)
        if any(differs and not moves for differs, moves in zip(other, _moved(mine, late), strict=False)):
            return one.site
        if (latest := _latest(evidence, spec, mine, late)) and any(map(operator.and_, other, latest)):
            return one.site
    once = {number for _, mine in off for number in mine.rounds}
    if inside and len(once) == 1 and newer.outcome == "stopped":
        return _old_later(evidence, replace(spec, times=_TIMES), {mine.site for _, mine in off})
    return ""


def _old_later(evidence: Evidence, spec: RunSpec, sites: set[str]) -> str:
    """The same of the evaluations of a run that goes on: what moves these numbers at all moves the latest not."""
    newer, late = (evidence.case.pool.get(replace(spec, since=since)) for since in (_NEVER, 0))
    if not (newer.ended_well and late.ended_well):
        return ""
    mine = (one for one in newer.taken if one.off and one.site in sites)
    return next((one.site for one in mine if any(_latest(evidence, spec, one, late))), "")


def _latest(evidence: Evidence, spec: RunSpec, one: wire.Taken, late: wire.Trace) -> list[bool]:
    """Of each number of a call, whether it is of the latest round, and what moves there only moves earlier ones."""
    moved, last = _moved(one, late), max(one.rounds)
    if not any(moves and number < last for moves, number in zip(moved, one.rounds, strict=False)):
        return []
    latest = evidence.case.pool.get(replace(spec, since=last - 1))
    each = zip(moved, _moved(one, latest), one.rounds, strict=False)
    return [latest.ended_well and not moves and number == last for _, moves, number in each]


def _inside(letter: wire.Trace) -> tuple[tuple[int, int], ...]:
    """The parameters that the code applies only in what it makes once, each by its optimizer and its place there."""
    owned = enumerate(letter.names[: len(letter.counts)])
    return tuple((index, place) for index, names in owned for place, name in enumerate(names) if name in letter.inside)


def _moved(one: wire.Taken, late: wire.Trace) -> list[bool]:
    """Of each number of a call, whether it is another one where parameters move later."""
    calls = (other for other in late.taken if (other.site, other.call) == (one.site, one.call))
    others = next((other.values for other in calls), ())
    return [a != b for a, b in zip(one.values, others, strict=False)]
