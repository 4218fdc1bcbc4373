"""A hook of a tensor gets another gradient

## What it finds

The program looks at the gradient of a result by a hook of its own (`features.register_hook`), or has it kept
(`features.retain_grad()`), or reads that of an input (`x.grad`), and the edit sends it another one, or none: one of two
losses that go through these features is cut off, or takes features that are computed anew. The sums of what comes
between two steps are compared, with every step undone; of what is read by `.grad`, as far as it came before that. So
this is not said

- where gradients come at once and not in parts, as those of a sum of losses do;
- where they come a step later;
- where the edit is *meant*, and the code sends what no reading does;
- where the edit takes out what registers the hook, or keeps the gradient of a leaf instead;
- where the program asks for as much as a derivative (`autograd.grad`), instead of what it read by `.grad`.

## Why it matters

What parameters learn may be the same without it: of features that no parameter is behind, or that both losses have of
their own. But a saliency map, a score by which something is pruned, or what is logged, is then that of one loss alone.
"""

from __future__ import annotations

from itertools import zip_longest

from autofix.experiments.sketches import norm
from autofix.probe import wire
from autofix.verdict.hooked import lets_go
from autofix.verdict.property import Effect, Evidence, Example, Finding, Property, Reading, Treatment

_SAME = 1e-3
"""By how much sums may differ, beside the sizes of what they are made of."""

HEADS = """\
body = nn.Sequential(nn.Linear(4, 6), nn.Tanh())
one, two = nn.Linear(6, 1), nn.Linear(6, 1)
optimizer = torch.optim.SGD([*one.parameters(), *two.parameters()], lr=0.05)
seen = 0
def note(gradient):
    global seen
    seen += gradient.norm().item()
for _ in range(5):
    x = torch.randn(8, 4)
    shown = body(x)
    WATCHED
    first, second = (one(shown) - 1).square().mean(), two(shown).square().mean()
    optimizer.zero_grad()
    first.backward()
    second.backward()
    LOOKED
    optimizer.step()
"""
HOOKED = HEADS.replace("WATCHED", "shown.register_hook(note)").replace("LOOKED", "pass")
KEPT = HEADS.replace("WATCHED", "shown.retain_grad()").replace("LOOKED", "seen += shown.grad.norm().item()")
LEAF = (
    KEPT.replace("    shown.retain_grad()\n", "")
    .replace("shown.grad", "x.grad")
    .replace("torch.randn(8, 4)", "torch.randn(8, 4, requires_grad=True)")
)
UNREAD = LEAF.replace("seen += x.grad.norm().item()", "seen += sum(p.grad.norm().item() for p in one.parameters())")
READ = "    first.backward()\n    second.backward()\n    seen += x.grad.norm().item()\n"
ASKED = """\
    slope, = torch.autograd.grad(first + second, x, retain_graph=True)
    (first + second).backward()
    seen += slope.norm().item()
"""
EACH = """\
    slope = sum(torch.autograd.grad(one, x, retain_graph=True)[0] for one in (first, second))
    (first + second).backward()
    seen += slope.norm().item()
"""
READ_BEFORE = LEAF.replace(
    "    second.backward()\n", "    seen += x.grad.norm().item()\n    second.backward()\n"
).replace("    seen += x.grad.norm().item()\n    optimizer", "    optimizer")
UNKEPT = """\
scale, one, two = nn.Parameter(torch.full((4,), 0.5)), nn.Linear(4, 1), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*one.parameters(), *two.parameters()], lr=0.05)
seen = 0
def scaled(x):
    return x * scale
for _ in range(5):
    x = torch.randn(8, 4)
    scaled(x).sum().backward()
    shown = scaled(x)
    loss = (one(shown) - 1).square().mean() + two(shown).square().mean()
    optimizer.zero_grad()
    loss.backward()
    seen += shown.grad.norm().item()
    optimizer.step()
"""
KEEP = "    shown = scaled(x)\n", "    shown = scaled(x)\n    shown.retain_grad()\n"
LOSS = UNKEPT[UNKEPT.index("    shown =") : UNKEPT.index("    optimizer.zero")]
KEEP_ALL = "    return x * scale\n", "    shown = x * scale\n    shown.retain_grad()\n    return shown\n"
KEEP_AND_CUT = LOSS, LOSS.replace(*KEEP).replace("two(shown)", "two(shown.detach())")
LEAVES = "shown = scaled(x)\n", "shown = scaled(x).detach().requires_grad_()\n"
TAKES = UNKEPT[UNKEPT.index("    optimizer.zero") : UNKEPT.index("    optimizer.step")]
TAKEN = (
    TAKES,
    (
        "    optimizer.zero_grad()\n    slope, *_ = torch.autograd.grad(loss, shown, retain_graph=True)\n"
        "    loss.backward()\n    seen += slope.norm().item()\n"
    ),
)
CUT, ANEW = ("two(shown)", "two(shown.detach())"), ("two(shown)", "two(body(x))")
RETAINED = "first.backward()", "first.backward(retain_graph=True)"
SUM = "    first.backward()\n    second.backward()\n", "    (first + second).backward()\n"
ELSEWHERE = (
    KEPT.replace("    first.backward()\n", "    look(shown)\n    first.backward()\n")
    .replace("    shown.retain_grad()\n", "    keep(shown)\n")
    .replace("for _ in", "def keep(result):\n    result.retain_grad()\ndef look(result):\n    pass\nfor _ in")
)
KEEPS = "    keep(shown)\n    first, second = (one(shown) - 1).square().mean(), two(shown).square().mean()\n"
MOVED = (
    f"{KEEPS}    optimizer.zero_grad()\n    look(shown)\n{SUM[0]}",
    (f"{KEEPS}    optimizer.zero_grad()\n    shown.retain_grad()\n{SUM[1]}".replace("    keep(shown)\n", "")),
)
STATE = """\
cell, head = nn.GRUCell(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.05)
h = torch.zeros(5, 4)
seen = 0
def note(gradient):
    global seen
    seen += gradient.norm().item()
for _ in range(5):
    h = cell(torch.randn(5, 3), h)
    WATCHED
    loss = (head(h) - 1).square().mean()
    train: loss
"""
CARRIED = "    h = cell(torch.randn(5, 3), h)\n", "    h = cell(torch.randn(5, 3), h.detach())\n"


class HookGetsAnotherGradient(Property):
    sentence = "{hook} gets {what} in the edited run"
    raises = (
        Example(HOOKED, *CUT),
        Example(HOOKED, *ANEW),
        Example(KEPT, *CUT),
        Example(KEPT, *ANEW),
        Example(LEAF, *CUT),
        Example(UNKEPT, *KEEP_AND_CUT),
        Example(LEAF, READ, ASKED.replace("first + second, x", "first, x")),
        Example(LEAF, READ, EACH.replace("(first, second)", "(first, second, second)")),
    )
    silent = (
        Example(HOOKED, *RETAINED),
        Example(HOOKED, *SUM),
        Example(KEPT, *RETAINED),
        Example(KEPT, *SUM),
        Example(ELSEWHERE, *MOVED),
        Example(LEAF, *SUM),
        Example(LEAF, *ANEW),
        Example(LEAF, READ, ASKED),
        Example(LEAF, READ, EACH),
        Example(UNREAD, *CUT),
        Example(READ_BEFORE, *CUT),
        Example(UNKEPT, *KEEP),
        Example(UNKEPT, *KEEP_ALL),
        Example(UNKEPT, *TAKEN),
        Example(UNKEPT, *LEAVES),
        Example(STATE.replace("WATCHED", "h.register_hook(note)"), *CARRIED),
        Example(STATE.replace("WATCHED", "h.retain_grad()"), *CARRIED),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        found = evidence.assessment
        if found.effect is Effect.MEANT:  # what such a reading sends is not what the code sends
            return None
        # Where a result may also be a new leaf, and both train the same, it is to be sent what either is.
        letters, reading = evidence.case.pool.letters.readings, evidence.reading
        readings = letters if reading in letters else (reading,)
        hooks = [hook for one in readings if (hook := _differing(evidence, one))]
        if len(hooks) < len(readings):
            return None
        hook = hooks[0]
        name = f"`{hook.name}`" if hook.name else "an input that no optimizer owns"
        gone = _gone(evidence, hook)
        return self.found(hook.stack, hook=name, what="no gradient" if gone else "another gradient")


def _differing(evidence: Evidence, reading: Reading) -> wire.Hook | None:
    """One that is sent something else than in a reading, also while every step is undone."""
    if not (apart := set(map(_key, _apart(evidence.of(reading), evidence.edited)))):
        return None
    still = _apart(evidence.of(reading, Treatment.FROZEN), evidence.edited_frozen)
    return next((one for one in still if _key(one) in apart and not _is_free(evidence, one)), None)


def _gone(evidence: Evidence, hook: wire.Hook) -> bool:
    """Whether nothing comes to it in the edited run."""
    return not any(_key(one) == _key(hook) and one.sums for one in evidence.edited.hooks if one.tensor)


def _is_free(evidence: Evidence, hook: wire.Hook) -> bool:
    """Whether nobody asks for what it is given, or the edit takes it out on purpose.

    What the code itself does not keep, and a reference keeps for it, may be asked for in another way.
    """
    if hook.kept and evidence.looks_at_gradient and _gone(evidence, hook):
        return True
    return bool(hook.name) and lets_go(evidence, kept=hook.kept)


def _apart(code: wire.Trace, edited: wire.Trace) -> list[wire.Hook]:
    """The hooks of tensors that are given something else in all, also if that came a step sooner or later."""
    other = {_key(hook): hook for hook in edited.hooks if hook.tensor}
    steps = min(len(code.whole_steps), len(edited.whole_steps))
    return [hook for hook in code.hooks if hook.tensor and not _alike(hook, other.get(_key(hook)), steps)]


def _alike(hook: wire.Hook, other: wire.Hook | None, steps: int) -> bool:
    """Whether both are given the same, of what is kept also if the program asks for it as a derivative instead."""
    kinds = (False, True) if hook.kept and other else (False,)
    return any(_same(*(_running(_given(one, taken=taken)[:steps]) for one in (hook, other))) for taken in kinds)


def _given(hook: wire.Hook | None, *, taken: bool) -> tuple[tuple[float, ...], ...]:
    if hook is None:
        return ()
    return tuple(_sum(*both) for both in zip_longest(hook.sums, hook.taken if taken else (), fillvalue=()))


def _sum(one: tuple[float, ...], other: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(a + b for a, b in zip(one, other, strict=True)) if one and other else one or other


def _key(hook: wire.Hook) -> str:
    return "" if hook.kept else hook.name


def _running(sums: tuple[tuple[float, ...], ...]) -> list[tuple[float, ...]]:
    """The sum of all so far, after each step."""
    found: list[tuple[float, ...]] = []
    for one in sums:
        before = found[-1] if found else ()
        found.append(_sum(before, one))
    return found


def _same(want: list[tuple[float, ...]], have: list[tuple[float, ...]]) -> bool:
    return any(
        all(_close(*pair) for pair in zip(want[a:], have[b:], strict=False))
        for a, b in ((0, 0), (0, 1), (1, 0))
        if (want[a:] and have[b:]) or not (want or have)
    )


def _close(want: tuple[float, ...], have: tuple[float, ...]) -> bool:
    """Whether two sums are the same: their projections, as the norms are those of the parts."""
    least = _SAME * max(norm(want), norm(have))
    none = (0.0,) * max(len(want), len(have))
    return all(abs(a - b) <= least for a, b in zip((want or none)[1:], (have or none)[1:], strict=True))
