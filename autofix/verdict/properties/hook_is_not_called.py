"""A hook of the program is not called

## What it finds

The program has a hook of its own on a module, and the edit goes past it: `net.forward(x)`, a call of each layer or
`F.linear(h, last.weight)` in place of `net(x)`. In the edited run it is never called; or the module that has it is
called less often, from step to step. This is not said

- where the edit takes out what registers a hook, or registers it in another way;
- where it has another function in the place of a hook, due as often;
- where a module is called as often, only later.

## Why it matters

What a hook records, prints, clips or averages is part of what the program does, although the gradients compared may be
the same without it.
"""

from __future__ import annotations

from autofix.probe import wire
from autofix.verdict.hooked import lets_go
from autofix.verdict.property import Evidence, Example, Finding, Property

LAYERS = """\
net = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
seen = []
REGISTERED
for _ in range(4):
    x = torch.randn(8, 4)
    out = net(x)
    loss, second = (out - 1).square().mean(), (out + 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    second.backward()
    optimizer.step()
"""
TWICE = LAYERS.replace(
    "REGISTERED", "net.register_forward_hook(lambda module, given, result: seen.append(result.norm()))"
)
BACK = LAYERS.replace("REGISTERED", "net[2].register_full_backward_hook(lambda module, given, sent: seen.append(1))")
SUM = "    loss.backward()\n    second.backward()\n", "    (loss + second).backward()\n"
PAST = (
    "    out = net(x)\n    loss, second = (out - 1).square().mean(), (out + 1).square().mean()\n",
    """\
    hidden = net[:2](x)
    first, other = F.linear(hidden, net[2].weight, net[2].bias), F.linear(net[:2](x), net[2].weight, net[2].bias)
    loss, second = (first - 1).square().mean(), (other + 1).square().mean()
""",
)
ANEW = (
    PAST[0],
    """\
    loss, second = (net(x) - 1).square().mean(), (net(x) + 1).square().mean()
""",
)
FORWARD = (
    PAST[0],
    """\
    loss, second = (net.forward(x) - 1).square().mean(), (net.forward(x) + 1).square().mean()
""",
)
OTHER_KEEPS = """\
def keep(module, given, result):
    seen.append(result.norm())
net.register_forward_hook(keep)
"""
RENAMED = TWICE.replace(
    "net.register_forward_hook(lambda module, given, result: seen.append(result.norm()))\n", OTHER_KEEPS
)


class HookIsNotCalled(Property):
    sentence = "the program's hook `{hook}` is {how} in the edited run"
    raises = (
        Example(TWICE, *PAST),
        Example(TWICE, *FORWARD),
        Example(BACK, *PAST),
        Example(TWICE, TWICE, RENAMED.replace(*PAST).replace("for _", "net(torch.ones(1, 4))\nfor _")),
    )
    silent = (
        Example(TWICE, *SUM),
        Example(TWICE, *ANEW),
        Example(BACK, *SUM),
        Example(TWICE, TWICE, RENAMED.replace(*SUM)),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        code, edited = evidence.followed, evidence.edited
        mine = [hook for hook in code.hooks if not hook.tensor]
        left = {hook.name: hook.calls for hook in edited.hooks if not hook.tensor}
        others = [calls for name, calls in left.items() if name not in {hook.name for hook in mine}]
        for hook in mine:
            calls = left.get(hook.name, ())
            if not calls and hook.calls in others:
                calls = others.pop(others.index(hook.calls))
            never = not any(calls) and any(hook.calls[: len(edited.whole_steps) + 1])
            if (never or _falls_behind(code, hook.calls, edited, calls)) and not lets_go(evidence):
                how = "never called" if never else "called less often"
                return self.found(hook.stack, hook=hook.name, how=how)
        return None


def _falls_behind(code: wire.Trace, wanted: tuple[int, ...], edited: wire.Trace, calls: tuple[int, ...]) -> bool:
    """Whether ever more calls are lacking from one step of an optimizer to its next, for each that steps twice."""
    lacking = [
        [want - have for want, have in zip(_so_far(code, index, wanted), _so_far(edited, index, calls), strict=False)]
        for index in range(len(code.counts))
    ]
    several = [each for each in lacking if len(each) > 1]
    return bool(several) and all(each[-1] > max(each[0], 0) for each in several)


def _so_far(run: wire.Trace, index: int, calls: tuple[int, ...]) -> list[int]:
    """How many calls there were before each step of an optimizer."""
    mine = (place for place, step in enumerate(run.whole_steps) if step.optimizer == index)
    return [sum(calls[: place + 1]) for place in mine]
