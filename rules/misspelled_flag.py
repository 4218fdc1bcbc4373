"""Flag that is set under a misspelled name, or on a module.

## What it does
Sets `requires_grad` where a name much like it was set: `p.require_grad = True`, `p.requires_grad_ = True`. Sets that of
all parameters of a module, where the module was given an attribute: `layer.requires_grad_(True)` for
`layer.requires_grad = True`.

## Why autograd fails
A tensor or a module takes any attribute, and torch looks at `requires_grad` of tensors alone. Parameters stay frozen,
and a loss of nothing else has no graph.

## Fix safety
Safe where everything that an optimizer owns then gets its gradient. Declined where anything reads the attribute.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, modes, names
from autofix.syntax.edits import Step, rename, replace_statement

WHY = "torch looks at this name alone; a tensor takes any other and does nothing with it."
WHY_MODULE = (
    "The method sets the flag of all parameters of a module, which takes an attribute and does nothing with it."
)


class MisspelledFlag(Rule):
    code, name = "AG408", "misspelled-flag"
    title = "Set requires_grad"
    causes = frozenset({Cause.NO_GRAPH})
    tier = Tier.MEANT
    examples = Example.each("""\
! a letter is missing
net = torch.nn.Linear(3, 1)
for p in net.parameters():
    p.requires_grad = False
for p in net.parameters():
-    p.require_grad = True
+    p.requires_grad = True
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    train: net(torch.randn(5, 3)).square().mean()
! the name of a method, and a function that says what it is to be
def switch(net, on):
    for p in net.parameters():
-        p.requires_grad_ = on
+        p.requires_grad = on


net = torch.nn.Linear(3, 1).requires_grad_(False)
switch(net, True)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    train: net(torch.randn(5, 3)).square().mean()
! unsafe: which layers train is set on the layers themselves, and an optimizer was given all
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
for p in net.parameters():
    p.requires_grad = False
for layer in list(net.children())[-1:]:
-    layer.requires_grad = True
+    layer.requires_grad_(True)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    train: net(torch.randn(5, 3)).square().mean()
! an attribute of an object's own
class Settings:
    def __init__(self, on):
        self.requires_grad = on


settings, net = Settings(False), torch.nn.Linear(3, 1)
for p in net.parameters():
    p.requires_grad = settings.requires_grad
net(torch.randn(5, 3)).square().mean().backward()
! a tensor of one's own
x = torch.ones(3)
-x.requires_gradient = True
+x.requires_grad = True
x.square().sum().backward()
print(x.grad)
! unsafe: the part that stays frozen is owned, too
body, head = torch.nn.Linear(3, 3).requires_grad_(False), torch.nn.Linear(3, 1).requires_grad_(False)
for p in head.parameters():
-    p.require_grad = True
+    p.requires_grad = True
opt = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    train: head(body(torch.randn(5, 3))).square().mean()
! another attribute of the user's
net = torch.nn.Linear(3, 1).requires_grad_(False)
for p in net.parameters():
    p.trained = True
net(torch.randn(5, 3)).square().mean().backward()
! what sets it reads it, too
net = torch.nn.Linear(3, 1).requires_grad_(False)
for p in net.parameters():
    p.require_grad = True
print(sum(p.require_grad for p in net.parameters()))
net(torch.randn(5, 3)).square().mean().backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """All of them in the files of the program, together."""
        found = modes.misspelled(sources.reached(diagnosis.failure.stack))
        if edits := [step for source, node in found for step in rename(source, node, modes.FLAG)]:
            yield self.propose(edits, WHY)
        if edits := [*self._of_modules(diagnosis, sources)]:
            yield self.propose(edits, WHY_MODULE, title="Set the flag of the parameters of a module")

    def _of_modules(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Step]:
        """Where an attribute of that name is set on what is no parameter of a loop, nor an object's own attribute."""
        for source in sources.reached(diagnosis.failure.stack):
            for node in source.mentioning(modes.FLAG):
                match node:
                    case ast.Assign([ast.Attribute(holder, modes.FLAG)], value) if not (
                        (isinstance(value, ast.Constant) and not value.value) or _is_own_or_parameter(source, holder)
                    ):
                        text = f"{source.segment(holder)}.{modes.FLAG}_({source.segment(value)})"
                        yield from replace_statement(source, node, [text])


def _is_own_or_parameter(source: Source, holder: ast.expr) -> bool:
    """Whether it is the object itself, whose own attribute it may be, or what a loop over parameters goes through."""
    if isinstance(holder, ast.Name) and holder.id == "self":
        return True
    around = (one for one in blocks.loops(source, holder) if isinstance(one, ast.For))
    walked = (one for one in around if calls.path_of(holder) in names.binds(one.target))
    return any("parameters" in calls.name_of(call) for one in walked for call in calls.within(one.iter))
