"""Parameters that were frozen together with what is to train.

## What it does
Lets the part train that the optimizer was given or that was put in anew, puts the new part in after freezing, or lets
what a function froze for a while train again. Where networks take turns, and a value is made while its network is
switched off and trained when it is on again, the network is not switched off, or the value is made before that, or
again when the network is on. Of a condition that freezes in both branches, one lets train. What switches parameters
only where they are on (`if p.requires_grad: p.requires_grad = on`) can never switch one on: it loses its condition.

## Why autograd fails
For parameters that require no gradient no graph is recorded. A loss of nothing else has none either.

## Fix safety
Safe where every parameter that an optimizer owns gets its gradient and the rest stays frozen. Where an optimizer was
given all frozen parameters, the code does not say which of them should train. Of what is switched off for a while
nothing may reach it meanwhile: a loss that goes through the value, and not through `.detach()`, would.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from autofix.probe.wire import Frame, Origin
from autofix.search import asleep
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, names, update
from autofix.syntax.edits import append_call, at_end, body_alone, insert_after, move_after, replace

WHY_HEAD = "The part that the optimizer was given trains; the rest stays frozen."
WHY_PLAIN = "An optimizer only moves what gets a gradient, and a tensor without requires_grad gets none."
WHY_BRANCH = "Both branches of this condition do the same; one of them is meant to let the parameters train."
WHY_SWITCH = "A switch that passes over what is off can switch parameters off, and never on again."
WHY_MEANWHILE = "It is frozen while the gradient of something else is taken, and trains again for what comes after."
_ASLEEP = (
    "what is made of parameters while they are switched off has no graph, also when they are on again: make it before "
    "or after that, or leave them on and detach what others are given of it"
)
_FROZEN = (
    "nothing that the loss needs requires a gradient after this: see that what is to train is named here as the model "
    "names it, and count what still requires one"
)


class FrozenWithTheRest(Rule):
    code, name = "AG417", "frozen-with-the-rest"
    title = "Let the part train that is meant to"
    causes = frozenset({Cause.NO_GRAPH})
    tier = Tier.MEANT
    examples = Example.each("""\
! a weight is tied within the network
net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Linear(3, 3))
net[1].weight = net[0].weight
for p in net.parameters():
    p.requires_grad = False
net(torch.randn(5, 3)).pow(2).mean().backward()
! the optimizer was given the head
net = torch.nn.Module()
net.body = torch.nn.Linear(2, 4)
net.head = torch.nn.Linear(4, 1)
for p in net.parameters():
    p.requires_grad = False
+net.head.requires_grad_(True)
opt = torch.optim.SGD(net.head.parameters(), lr=0.1)
for _ in range(4):
    train: net.head(net.body(torch.randn(5, 2))).pow(2).mean()
! unsafe: all was frozen under a condition, and the code does not say which part is meant to train
net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Linear(4, 9))
net[1] = torch.nn.Linear(4, 1)
if net.training:
    for p in net.parameters():
        p.requires_grad = False
+    net[1].requires_grad_(True)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    net(torch.randn(5, 2)).pow(2).mean().backward()
    opt.step()
! unsafe: a name was to decide, and nothing says which of the two is to train
net = torch.nn.ModuleDict({"encoder": torch.nn.Linear(2, 4), "head": torch.nn.Linear(4, 1)})
for name, p in net.named_parameters():
    if name.startswith("encoder"):
        p.requires_grad = False
    else:
-        p.requires_grad = False
+        p.requires_grad = True
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    train: net["head"](net["encoder"](torch.randn(5, 2))).pow(2).mean()
! unsafe: a switch passes over what is off, and all that the optimizer was given is off
net = torch.nn.Linear(2, 1)
def switch(on):
    for p in net.parameters():
-        if p.requires_grad:
-            p.requires_grad = on
+        p.requires_grad = on
switch(False)
print(net(torch.randn(5, 2)).mean().item())
switch(True)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    train: net(torch.randn(5, 2)).pow(2).mean()
! a tensor that was never marked
-shift = torch.zeros(3)
+shift = torch.zeros(3).requires_grad_()
opt = torch.optim.SGD([shift], lr=0.1)
for _ in range(4):
    loss = (torch.randn(5, 3) + 1 - shift).pow(2).mean()
    train: loss
! two networks take turns
G, D = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
g_opt, d_opt = (torch.optim.SGD(net.parameters(), lr=0.1) for net in (G, D))
for _ in range(4):
    D.requires_grad_(True)
-    for p in G.parameters():
-        p.requires_grad = False
    fake = G(torch.randn(5, 2))
    train[d_opt]: (D(fake.detach()) - D(torch.randn(5, 3))).mean()
    D.requires_grad_(False)
    G.requires_grad_(True)
    train[g_opt]: (-D(fake).mean())
! gradients are off, and nothing was frozen
net = torch.nn.Linear(2, 1)
with torch.no_grad():
    net(torch.randn(5, 2)).pow(2).mean().backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """At each tensor that an optimizer owns and that was never marked, and each place that froze parameters."""
        origins = diagnosis.trace.origins
        dormant = [one for one in origins if one.used]
        yield from self._asleep(dormant, diagnosis, sources)
        plain = dict.fromkeys(sources.innermost(one.stack for one in origins if one.kind == "plain"))
        for source, node in plain if not dormant else ():
            if isinstance(node, calls.VALUES):
                edits = append_call(source, node, ".requires_grad_()")
                yield self.propose(edits, WHY_PLAIN, title="Let the tensor train that the optimizer was given")
        for source, node in asleep.frozen(diagnosis, sources):
            yield from self._switch(source, source.statement(node))
            yield from self._branches(source, source.statement(node))
            yield from self._meanwhile(source, source.statement(node))
            # A line that says which part is to train is to be put right, rather than to stand beside another.
            yield from self._head(source, node, later=4 if diagnosis.trace.seen("module-flag-on") else 0)

    def hints(self, diagnosis: Diagnosis) -> Iterator[tuple[Frame, str]]:
        """Where parameters were frozen; where some are on again, what was made of these meanwhile."""
        frozen = [one for one in diagnosis.trace.origins if one.kind == "frozen" and one.stack]
        dormant = [(one.used[0], _ASLEEP) for one in frozen if one.used]
        yield from dormant or ((one.stack[0], _FROZEN) for one in frozen)

    def _asleep(self, origins: list[Origin], diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """In each way all places where something was made of what was switched off, then one alone."""
        for title, why, tier, way in asleep.WAYS:
            found = [tuple(way(one, diagnosis, sources)) for one in origins]
            places = [edits for edits in dict.fromkeys(found) if edits]
            together = dict.fromkeys(edit for edits in places for edit in edits)
            for later, edits in enumerate(dict.fromkeys((tuple(together), *places)) if places else ()):
                yield self.propose(edits, why, title=title, tier=tier, later=later)

    def _meanwhile(self, source: Source, statement: ast.stmt) -> Iterator[Proposal]:
        """What a function freezes while it differentiates by something else, trains again where the function ends."""
        function, loop = source.function(statement), source.parent(statement)
        whole = loop if isinstance(loop, ast.For) else statement
        if function is None or whole not in function.body:
            return
        on = dict.fromkeys(_off(whole), "True")
        if on and any(update.trains(one) for one in blocks.after(function.body, whole)):
            edits = at_end(source, function, names.copied(source, whole, renamed=on))
            yield self.propose(edits, WHY_MEANWHILE, title="Let it train again afterwards")

    def _branches(self, source: Source, statement: ast.stmt) -> Iterator[Proposal]:
        """Where both branches of a condition freeze in the same words, the other one lets train, or this one."""
        choice = source.parent(statement)
        if not isinstance(choice, ast.If) or not choice.orelse:
            return
        body, other = (list(map(ast.dump, block)) for block in (choice.body, choice.orelse))
        for later, block in enumerate((choice.orelse, choice.body) if body == other else ()):
            edits = [step for one in block for value in _off(one) for step in replace(source, value, "True")]
            if edits:
                yield self.propose(edits, WHY_BRANCH, title="Let one of the two branches train", later=later)

    def _switch(self, source: Source, statement: ast.stmt) -> Iterator[Proposal]:
        """What sets the flag of a parameter to a given value, but only where it is on, sets it everywhere."""
        choice, found = source.parent(statement), calls.flagged(statement)
        match choice, found:
            case ast.If(test=ast.Attribute(attr="requires_grad") as test, orelse=[]), (holder, ast.expr() as flag):
                if ast.dump(test.value) == ast.dump(holder) and not isinstance(flag, ast.Constant):
                    edits = body_alone(source, choice, choice.body)
                    yield self.propose(edits, WHY_SWITCH, title="Switch what is off, too")

    def _head(self, source: Source, node: ast.AST, *, later: int) -> Iterator[Proposal]:
        """The part given to an optimizer, or put in anew before the freeze, trains after it."""
        statement, whole = source.statement(node), asleep.module(source, node)
        loop = source.parent(statement)
        if not whole:
            raise Declined("what was frozen has no name")
        after = loop if isinstance(loop, ast.For) else statement
        earlier = blocks.above(source, after)
        parts = dict.fromkeys([*_optimized(source, whole), *(_replacement(one, whole) for one in earlier)])
        for part in filter(None, parts):
            edits = insert_after(source, after, [f"{whole}{part}.requires_grad_(True)"])
            yield self.propose(edits, WHY_HEAD, later=later)
        around = blocks.holders(source, after)
        for other in earlier:
            if _replacement(other, whole):
                behind = next(one for one in around if one in blocks.block_of(source, other))
                edits = move_after(source, [other], behind)
                yield self.propose(edits, WHY_HEAD, title="Put the new part in after freezing", later=later + 2)


def _off(statement: ast.stmt) -> list[ast.expr]:
    """The values by which a statement switches gradients off."""
    flags = (found[1] for found in map(calls.flagged, ast.walk(statement)) if found is not None)
    return list(dict.fromkeys(one for one in flags if isinstance(one, ast.Constant) and one.value is False))


def _optimized(source: Source, whole: str) -> Iterator[str]:
    """`.fc` where an optimizer is given `m.fc.parameters()` of the frozen `m`, under whatever longer name."""
    within = re.compile(rf"(?:^|\.){re.escape(whole.rpartition('.')[2])}([.\[].+)$")
    for node in (one for one in source.walk() if isinstance(one, ast.Call) and "optim" in ast.unparse(one.func)):
        for argument in calls.values(node):
            if part := within.search(calls.owner(argument)):
                yield part[1]


def _replacement(statement: ast.stmt, whole: str) -> str:
    """`.fc` or `[-1]` where a statement puts that part of the module in anew; '' if it does not."""
    match statement:
        case ast.Assign(targets=[(ast.Attribute(value=holder) | ast.Subscript(value=holder)) as target]):
            if ast.unparse(holder) == whole:
                return ast.unparse(target).removeprefix(whole)
    return ""
