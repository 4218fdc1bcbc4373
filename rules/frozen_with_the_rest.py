"""Parameters that were frozen together with what is to train.

## What it does
Lets the part train that the optimizer was given or that was put in anew, puts the new part in after freezing, or lets
what a function froze for a while train again. Where networks take turns, and a value is made while its network is
switched off and trained when it is on again, the network is not switched off, or the value is made before that, or
again when the network is on. Of a condition that freezes in both branches, one lets train. A network that takes over
layers of the frozen one is given copies of them, and a network that is frozen under a second name, or as a shallow copy
(`copy.copy(net)`), is copied whole.

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
from autofix.syntax.edits import append_call, at_end, embed, ensure_import, insert_after, move_after, replace

WHY_HEAD = "The part that the optimizer was given trains; the rest stays frozen."
WHY_PLAIN = "An optimizer only moves what gets a gradient, and a tensor without requires_grad gets none."
WHY_BRANCH = "Both branches of this condition do the same; one of them is meant to let the parameters train."
WHY_MEANWHILE = "It is frozen while the gradient of something else is taken, and trains again for what comes after."
WHY_SECOND = "The frozen network is a copy that begins with the same weights; the other one trains."
WHY_SHARED = "The layers taken over are copies, so that freezing one network leaves the other trainable."
_ASLEEP = (
    "what is made of parameters while they are switched off has no graph, also when they are on again: make it before "
    "or after that, or leave them on and detach what others are given of it"
)
_FROZEN = (
    "nothing that the loss needs requires a gradient after this: see that what is to train is named here as the model "
    "names it, and count what still requires one"
)
_TENSORS = ("weight", "bias", "data", "grad")


class FrozenWithTheRest(Rule):
    code, name = "AG417", "frozen-with-the-rest"
    title = "Let the part train that is meant to"
    causes = frozenset({Cause.NO_GRAPH})
    tier = Tier.MEANT
    examples = Example.each("""\
import copy
! unsafe: the target is a shallow copy of the network that trains
online = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
-target = copy.copy(online)
+target = copy.deepcopy(online)
for p in target.parameters():
    p.requires_grad = False
opt = torch.optim.SGD(online.parameters(), lr=0.1)
for x in torch.randn(4, 5, 3):
    train: (online(x) - target(x + 0.1)).pow(2).mean()
    with torch.no_grad():
        for p, q in zip(target.parameters(), online.parameters()):
            p.lerp_(q, 0.1)
! unsafe: the target is the network that trains, by another name
online = torch.nn.Linear(3, 2)
-target = online
+target = copy.deepcopy(online)
target.requires_grad_(False)
opt = torch.optim.SGD(online.parameters(), lr=0.1)
for x in torch.randn(4, 5, 3):
    train: (online(x) - target(x + 0.1)).pow(2).mean()
! unsafe: a network takes over layers of the frozen one
class Small(torch.nn.Module):
    def __init__(self, big):
        super().__init__()
-        self.body = big.body
+        self.body = copy.deepcopy(big.body)
-        self.head = big.head[0]
+        self.head = copy.deepcopy(big.head[0])

    def forward(self, x):
        return self.head(self.body(x).tanh())


big = torch.nn.Module()
big.body, big.head = torch.nn.Linear(3, 4), torch.nn.Sequential(torch.nn.Linear(4, 2), torch.nn.Tanh())
small = Small(big)
for p in big.parameters():
    p.requires_grad = False
opt = torch.optim.SGD(small.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(5, 3)
    train: (small(x) - big.head(big.body(x).tanh())).pow(2).mean()
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
        """At each place that froze parameters, and at each tensor that an optimizer owns and that was never marked."""
        dormant = [one for one in diagnosis.trace.origins if one.used]
        yield from self._asleep(dormant, diagnosis, sources)
        seen: set[tuple[str, int]] = set()
        for origin in diagnosis.trace.origins if not dormant else ():
            for _, source, node in sources.nodes(origin.stack[:1]):
                if (place := (str(source.path), getattr(node, "lineno", 0))) in seen:
                    continue
                seen.add(place)
                if origin.kind == "frozen":
                    yield from self._branches(source, source.statement(node))
                    yield from self._meanwhile(source, source.statement(node))
                    yield from self._second(source, _frozen(source, node))
                    yield from self._shared(_frozen(source, node), diagnosis, sources)
                    yield from self._head(source, node)
                elif origin.kind == "plain" and isinstance(node, calls.VALUES):
                    edits = append_call(source, node, ".requires_grad_()")
                    yield self.propose(edits, WHY_PLAIN, title="Let the tensor train that the optimizer was given")

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

    def _second(self, source: Source, frozen: str) -> Iterator[Proposal]:
        """Where what is frozen is the network that trains, under another name or copied without its layers, a copy."""
        given = (value for one in names.assignments(source, frozen) for value in names.given_to(one, frozen))
        for value in given if frozen else ():
            copied = isinstance(value, ast.Call) and calls.known(source, value.func, ("copy",)) == "copy"
            if copied or ((path := calls.path_of(value)) and path.rpartition(".")[0] == frozen.rpartition(".")[0]):
                whole = value.args[0] if isinstance(value, ast.Call) else value
                copy, edits = ensure_import(source, "copy")
                edits += replace(source, value, f"{copy}.deepcopy({source.segment(whole)})")
                yield self.propose(edits, WHY_SECOND, title="Freeze a copy of the network")

    def _shared(self, frozen: str, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Where layers of the frozen network are put into another one, their copies."""
        name = frozen.rpartition(".")[2]
        for one in sources.reached(diagnosis.failure.stack[-1:]) if name else ():
            if taken := list(_taken_over(one, name)):
                copy, imports = ensure_import(one, "copy")
                edits = [step for value in taken for step in embed(one, value, f"{copy}.deepcopy({{}})")]
                yield self.propose([*imports, *edits], WHY_SHARED, title="Give the other network copies of the layers")

    def _head(self, source: Source, node: ast.AST) -> Iterator[Proposal]:
        """The part given to an optimizer, or put in anew before the freeze, trains after it."""
        statement, whole = source.statement(node), _frozen(source, node)
        loop = source.parent(statement)
        if not whole:
            raise Declined("what was frozen has no name")
        after = loop if isinstance(loop, ast.For) else statement
        earlier = blocks.above(source, after)
        parts = dict.fromkeys([*_optimized(source, whole), *(_replacement(one, whole) for one in earlier)])
        for part in filter(None, parts):
            edits = insert_after(source, after, [f"{whole}{part}.requires_grad_(True)"])
            yield self.propose(edits, WHY_HEAD)
        around = blocks.holders(source, after)
        for other in earlier:
            if _replacement(other, whole):
                behind = next(one for one in around if one in blocks.block_of(source, other))
                edits = move_after(source, [other], behind)
                yield self.propose(edits, WHY_HEAD, title="Put the new part in after freezing", later=2)


def _off(statement: ast.stmt) -> list[ast.expr]:
    """The values by which a statement switches gradients off."""
    flags = (found[1] for found in map(calls.flagged, ast.walk(statement)) if found is not None)
    return list(dict.fromkeys(one for one in flags if isinstance(one, ast.Constant) and one.value is False))


def _frozen(source: Source, node: ast.AST) -> str:
    """The module whose parameters are switched off at a node, as it is written there."""
    loop = source.parent(source.statement(node))
    return calls.owner(loop.iter if isinstance(loop, ast.For) else node)


def _taken_over(source: Source, whole: str) -> Iterator[ast.expr]:
    """The layers of a module that are put into another one: `big.head` of `small.head = big.head`."""
    for node in source.mentioning(whole):
        match node:
            case ast.Assign(targets=[(ast.Attribute() | ast.Subscript()) as target], value=ast.expr() as value):
                path, into = (calls.path_of(calls.whole(one)) for one in (value, target))
                layers = path.startswith(f"{whole}.") and path.rpartition(".")[2] not in _TENSORS
                if layers and not into.startswith(f"{whole}."):
                    yield value


def _optimized(source: Source, whole: str) -> Iterator[str]:
    """`.fc` where an optimizer is given `m.fc.parameters()` of the frozen `m`, under whatever longer name."""
    within = re.compile(rf"(?:^|\.){re.escape(whole.rpartition('.')[2])}([.\[].+)$")
    for node in (one for one in source.walk() if isinstance(one, ast.Call) and "optim" in ast.unparse(one.func)):
        for argument in (*node.args, *(k.value for k in node.keywords)):
            if part := within.search(calls.owner(argument)):
                yield part[1]


def _replacement(statement: ast.stmt, whole: str) -> str:
    """`.fc` or `[-1]` where a statement puts that part of the module in anew; '' if it does not."""
    match statement:
        case ast.Assign(targets=[(ast.Attribute(value=holder) | ast.Subscript(value=holder)) as target]):
            if ast.unparse(holder) == whole:
                return ast.unparse(target).removeprefix(whole)
    return ""
