"""A function that runs without gradient on purpose, called for what a loss is made of.

## What it does
Puts the expression that the function gives in the place of the call, with its graph: `self.model(states)` for
`self.predict(states)`. The function stays as it is for others that call it, as to act or to compute a target. Of
several calls that the loss is made of, each by itself: first the one of which least is computed before the loss.

## Why autograd fails
A function that switches gradients off, or gives a detached value, does so for each caller. What it gives has no graph,
and a loss made of that alone has none.

## Fix safety
Safe where one call alone cuts the graph, and every parameter that an optimizer owns gets its gradient with the
expression in its place. Of several calls each may be a target. Declines where the function does more than to give one
expression, where a value would be computed twice, or where a name means something else to the caller.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.core.edit import Declined
from autofix.probe.wire import Origin
from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, names
from autofix.syntax.calls import Function
from autofix.syntax.edits import spelled_out

WHY = "The loss gets the value with its graph; whoever else calls the function still gets it without."
_KINDS = ("no_grad", "detach", "data", "numpy", "item")
_ALONE = 2
"""Behind how many other edits it stands where no other call is in doubt: then the function may be what is wrong."""


class CalledWithoutGradient(Rule):
    code, name = "AG430", "called-without-gradient"
    title = "Spell out what the function gives, with its graph"
    causes = frozenset({Cause.NO_GRAPH, Cause.UNUSED_INPUT, Cause.GRADIENT_NONE})
    tier = Tier.MEANT
    examples = Example.each("""\
! unsafe: one of two values may be the target of the other
class Agent:
    def __init__(self):
        self.net = torch.nn.Linear(3, 2)

    @torch.no_grad()
    def predict(self, rows):
        return self.net(torch.as_tensor(rows))


agent = Agent()
opt = torch.optim.SGD(agent.net.parameters(), lr=0.1)
for _ in range(4):
    now, then = torch.randn(6, 3), torch.randn(6, 3)
-    value = agent.predict(now).amax(1)
+    value = agent.net(torch.as_tensor(now)).amax(1)
    target = 1 + 0.9 * agent.predict(then).amax(1)
    train: torch.nn.functional.mse_loss(value, target)
! a value that is cut where it is given, and shown elsewhere
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def shown(rows, scale=2.0):
    rows = rows / scale
    with torch.no_grad():
        return net(rows).tanh()


for _ in range(4):
    x = torch.randn(6, 3)
    print(shown(x).mean().item())
-    out = shown(x + 1)
+    out = net((x + 1) / 2.0).tanh()
    train: (out - 1).square().mean()
! features that are detached where they are given, in a method that others call by keyword
class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 2)

    def features(self, rows, *, sharp=1.0):
        return (sharp * self.layer(rows)).detach()


encoder = Encoder()
opt = torch.optim.SGD(encoder.parameters(), lr=0.1)
for _ in range(4):
    print(encoder.features(torch.randn(2, 3), sharp=2.0).mean().item())
-    out = encoder.features(sharp=3.0, rows=torch.randn(6, 3)) - 1
+    out = (3.0 * encoder.layer(torch.randn(6, 3))) - 1
    train: out.square().mean()
! nobody else calls it: what is wrong is in the function
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


@torch.no_grad()
def forward(x):
    return net(x)


for _ in range(4):
    train: forward(torch.randn(6, 3)).square().mean()
! the function does more than to give one expression
net, seen = torch.nn.Linear(3, 1), []
opt = torch.optim.SGD(net.parameters(), lr=0.1)


@torch.no_grad()
def forward(x):
    seen.append(x)
    return net(x)


print(forward(torch.randn(6, 3)).mean())
for _ in range(4):
    train: forward(torch.randn(6, 3)).square().mean()
! a value would be drawn twice
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


@torch.no_grad()
def forward(x):
    return net(x) + x[:, :1]


print(forward(torch.randn(6, 3)).mean())
for _ in range(4):
    train: forward(torch.randn(6, 3)).square().mean()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each call of such a function that the loss is made of."""
        found: dict[ast.Call, tuple[Source, Source, Function]] = {}
        for origin in diagnosis.trace.origins:
            if origin.kind in _KINDS and (one := _called(origin, sources)) is not None:
                found[one[1]] = one[0], *one[2:]
        later = _ALONE * (len(found) == 1)
        for place, call in enumerate(sorted(found, key=lambda call: _computed_of(found[call][0], call))):
            source, defined, function = found[call]
            if _calls(sources, function.name, diagnosis) < 2:  # noqa: PLR2004  this one and another
                raise Declined(f"nobody else calls {function.name}")
            yield self.propose(spelled_out(source, call, defined, function), WHY, later=later + place)


def _called(origin: Origin, sources: Sources) -> tuple[Source, ast.Call, Source, Function] | None:
    """The call of a function that runs without gradient, or gives what it cuts; None where it is no such thing."""
    stack = list(sources.nodes(origin.stack[:2]))
    if origin.node and stack:
        file, _, line = origin.node.rpartition(":")
        defined = sources.source(file)
        found = (one for one in defined.walk() if isinstance(one, Function)) if defined is not None else ()
        function = next((one for one in found if int(line) in (one.lineno, _first_line(one))), None)
        _, source, call = stack[0]
    elif len(stack) > 1:
        (_, defined, node), (_, source, call) = stack
        function = defined.function(node)
    else:
        return None
    if defined is None or function is None or not isinstance(call, ast.Call) or calls.name_of(call) != function.name:
        return None
    return source, call, defined, function


def _first_line(function: Function) -> int:
    return min((one.lineno for one in function.decorator_list), default=function.lineno)


def _calls(sources: Sources, name: str, diagnosis: Diagnosis) -> int:
    """How many calls of a function of that name the files have that ran."""
    files = {source.path: source for frame in diagnosis.failure.stack for source in sources.project(frame.file)}
    nodes = (node for source in files.values() for node in source.mentioning(name))
    return sum(isinstance(node, ast.Call) and calls.name_of(node) == name for node in nodes)


def _computed_of(source: Source, call: ast.Call) -> int:
    """How much arithmetic there is in the statement of a call, and in those that follow and read what it binds."""
    statement = source.statement(call)
    bound = names.bound_by([statement])
    following = [*blocks.after(blocks.block_of(source, statement), statement)]
    readers = [one for one in following if isinstance(one, ast.Assign) and names.reads(one.value) & bound]
    return sum(isinstance(node, ast.BinOp) for one in (statement, *readers) for node in ast.walk(one))
