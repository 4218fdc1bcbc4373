"""Two backwards through one graph, the first of which frees it.

## What it does
Finds, in one straight run of statements, `loss.backward()` twice on the same loss, and two losses that are both
computed from the output of one network, where the first backward does not say `retain_graph=True`.

## Why it matters
The first backward frees what the second needs: "Trying to backward through the graph a second time". Often the cure is
a `detach()` on one of the two ways, or a sum of both losses; only a run can tell.

## What it cannot tell
It stays silent where the network is not seen to be a `torch.nn.Module`, and where parameters may be frozen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autofix.check.finder import Finder, Spot, is_network

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autofix.syntax.facts import Call, Scope


class BackwardFreesSharedGraph(Finder):
    """A second backward over a graph that is gone."""

    code, name = "AG201", "backward-frees-shared-graph"
    title = "Two backwards through one graph"
    words = (b".backward()",)
    finds = (
        """\
import torch

G, D = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
for _ in range(4):
    fake = G(torch.randn(4, 2))
    d_loss = D(fake).mean()
    d_loss.backward()
    g_loss = -D(fake).mean()
    g_loss.backward()  # found
""",
        """\
import torch

def train(model, x):
    loss = model(x).mean()
    loss.backward()
    loss.backward()  # found
""",
    )
    passes = (
        """\
import torch

G, D = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
for _ in range(4):
    fake = G(torch.randn(4, 2))
    d_loss = D(fake.detach()).mean()
    d_loss.backward()
    g_loss = -D(fake).mean()
    g_loss.backward()
""",
        """\
import torch

def train(trunk, a, b, x):
    h = trunk(x)
    first = a(h).mean()
    second = b(h).mean()
    first.backward()
    second.backward()
""",
        """\
import torch

trunk, a, b = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1), torch.nn.Linear(3, 1)
h = trunk(torch.randn(4, 2))
first, second = a(h).mean(), b(h).mean()
first.backward(retain_graph=True)
second.backward()
""",
    )

    def spots(self, scope: Scope) -> Iterator[Spot]:
        plain = [call for call in scope.calls.get("backward", ()) if call.receiver and not call.quiet]
        for second in plain:
            first = next((call for call in reversed(plain) if call.order < second.order), None)
            if first is None or first.block is not second.block or first.node.args or first.node.keywords:
                continue
            if _same(scope, first, second):
                yield Spot(
                    second.node, f"{second.receiver} runs backward twice, but the first backward frees its graph"
                )
            elif (shared := _shared(scope, first, second)) is not None:
                message = f"{second.receiver} needs the graph of {shared}, which {first.receiver}.backward() has freed"
                yield Spot(second.node, message)


def _same(scope: Scope, first: Call, second: Call) -> bool:
    if first.receiver != second.receiver:
        return False
    root = first.receiver.partition(".")[0]
    return not any(
        first.order < bind.order < second.order
        for name, binds in scope.binds.items()
        if name == root or name.startswith(f"{root}.")
        for bind in binds
    )


def _shared(scope: Scope, first: Call, second: Call) -> str | None:
    """The name of a network's output that both losses were computed from."""
    if b"requires_grad" in scope.module.data or first.receiver == second.receiver:
        return None
    for name in sorted(_made_of(scope, first) & _made_of(scope, second)):
        made = scope.last_bind(name, first.order)
        later = scope.last_bind(name, second.order)
        if made is None or made is not later or made.quiet or made.how != "=" or made.block is not first.block:
            continue
        if is_network(scope, made.value):
            return name
    return None


def _made_of(scope: Scope, backward: Call) -> set[str]:
    """The names that a loss was surely computed from, with their graphs, in the same run of statements."""
    found: set[str] = set()
    waiting = [(backward.receiver, backward.order)]
    while waiting:
        name, before = waiting.pop()
        bind = scope.last_bind(name, before)
        if bind is None or bind.block is not backward.block or bind.how != "=" or bind.quiet:
            continue
        if _detached(scope, bind.start, bind.end):
            continue
        for part in scope.used(bind):
            if part not in found:
                found.add(part)
                waiting.append((part, bind.order))
    return found


def _detached(scope: Scope, start: int, end: int) -> bool:
    """Whether something within a value is detached, whose name is not known."""
    return any(
        not call.name and start <= call.start < end
        for method in ("detach", "item", "numpy", "argmax")
        for call in scope.calls.get(method, ())
    )
