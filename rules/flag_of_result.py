"""The flag of a result that is switched off, or on again.

## What it does
Detaches the tensor where its flag is switched off: `x = x.detach()` for `x.requires_grad = False`. Where the flag is
switched on again a few statements later, detaches what those between read, and the tensor keeps its graph.

## Why autograd fails
The flag says whether a leaf gets a gradient. A result has its graph, which no flag takes away.

## Fix safety
Safe where the run shows that nothing that is trained lost its gradient by it. The tensor itself, or what it was made
of, may have been meant.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, names
from autofix.syntax.edits import Step, append_call, delete, insert_before, replace_statement

WHILE = "Detach the tensor where its flag is off"
WHY_WHILE = "What is made of its values sends no gradient back, and the tensor keeps its graph for later."
WHY = "A detached tensor is a leaf, whose flag may be set; it shares the values."
_DEEPEST = 3


class FlagOfResult(Rule):
    code, name = "AG321", "flag-of-result"
    title = "Detach the tensor before its flag is set"
    causes = frozenset({Cause.NONLEAF_GRADIENT})
    tier = Tier.MEANT
    examples = Example.each("""\
! what a network gave is to train another one alone
body, head = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
opt = torch.optim.SGD(head.parameters(), lr=0.1)
for _ in range(3):
    features = body(torch.randn(5, 2))
-    features.requires_grad = False
+    features = features.detach()
    train: head(features).square().mean()
! unsafe: the flag is set on a copy, and the code does not say whether the weight itself is to learn
net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    fast = {name: weight.clone() for name, weight in net.named_parameters()}
    for name, weight in fast.items():
        if name.startswith("0"):
-            weight.requires_grad_(False)
+            fast[name] = weight = weight.detach()
    train: torch.func.functional_call(net, fast, torch.randn(5, 2)).pow(2).mean()
! the flag is off for one loss alone
G, D = torch.nn.Linear(2, 3), torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
of_g, of_d = torch.optim.SGD(G.parameters(), lr=0.1), torch.optim.SGD(D.parameters(), lr=0.1)
for _ in range(4):
    of_g.zero_grad()
    of_d.zero_grad()
    fake = G(torch.randn(5, 2))
-    fake.requires_grad = False
-    (D(torch.randn(5, 3)).exp().mean() + D(fake).pow(2).mean()).backward()
+    (D(torch.randn(5, 3)).exp().mean() + D(fake.detach()).pow(2).mean()).backward()
    of_d.step()
-    fake.requires_grad = True
    (D(fake) - 1).pow(2).mean().backward()
    of_g.step()
! a tensor inside a comprehension has no name that could take another one
w = torch.ones(2, requires_grad=True)
print([t.requires_grad_(False) for t in (w * 2, w * 3)])
! a lambda sets it, in which there is no statement
freeze = lambda tensor: tensor.requires_grad_(False)
freeze(torch.ones(2, requires_grad=True) * 2)
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Where the flag is set, and where the tensor is made."""
        if not diagnosis.failure.function:
            return
        yield from self._flag(diagnosis, sources)
        for origin in diagnosis.trace.origins:
            for depth, (_, source, node) in enumerate(sources.located(origin.stack[:_DEEPEST])):
                if not calls.makes_tensor(node):
                    break
                yield self.propose(append_call(source, node, ".detach()"), WHY, later=4 + 10 * depth)

    def _flag(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """`x = x.detach()` in place of `x.requires_grad = False`, or before it."""
        for _, source, node in sources.nodes(diagnosis.failure.stack[:1]):
            statement = source.statement(node)
            found = calls.flagged(statement)
            if found is None or isinstance(found[0], ast.Call):
                raise Declined("the flag is not set by a statement of its own")
            name = ast.unparse(found[0])
            off = isinstance(found[1], ast.Constant) and found[1].value is False
            detach = f"{_held(source, statement, name)}{name} = {name}.detach()"
            if off and (edits := _for_a_while(source, statement, name)):
                yield self.propose(edits, WHY_WHILE, title=WHILE, tier=Tier.ANSWER)
            if off:
                yield self.propose(replace_statement(source, statement, [detach]), WHY)
            for assigned in names.assignments(source, name):
                if isinstance(assigned.value, (ast.Name, ast.Attribute)):
                    edits = append_call(source, assigned.value, ".detach()")
                    if off and len(blocks.block_of(source, statement)) > 1:
                        edits += delete(source, statement)  # a detached tensor has the flag off already
                    yield self.propose(edits, WHY, tier=Tier.ANSWER, later=1)
            yield self.propose(insert_before(source, statement, [detach]), WHY, later=2)


def _for_a_while(source: Source, off: ast.stmt, name: str) -> list[Step]:
    """Its values alone where a block reads it from `off` on, until it sets the flag again; [] where it does not."""
    behind = blocks.after(blocks.block_of(source, off), off)
    on = next((one for one in behind if _is_on(one, name)), None)
    if on is None:
        return []
    between = blocks.before(behind, on)
    if any(name in names.binds(one) for one in between):
        return []
    nodes = (node for one in between for node in ast.walk(one) if isinstance(node, (ast.Name, ast.Attribute)))
    reads = [node for node in nodes if isinstance(node.ctx, ast.Load) and ast.unparse(node) == name]
    cuts = [step for node in reads for step in append_call(source, node, ".detach()")]
    return [*delete(source, off), *delete(source, on), *cuts]


def _is_on(statement: ast.stmt, name: str) -> bool:
    found = calls.flagged(statement)
    if found is None or ast.unparse(found[0]) != name:
        return False
    return found[1] is None or (isinstance(found[1], ast.Constant) and found[1].value is True)


def _held(source: Source, statement: ast.stmt, name: str) -> str:
    """The item of a dict over which a loop passes by this name, as a further target: it is to hold the new tensor."""
    for loop in blocks.loops(source, statement):
        match loop:
            case ast.For(
                target=ast.Tuple(elts=[ast.Name() as key, ast.Name(id=each)]),
                iter=ast.Call(func=ast.Attribute(value=held, attr="items"), args=[]),
            ) if each == name and calls.path_of(held):
                return f"{calls.path_of(held)}[{key.id}] = "
    return ""
