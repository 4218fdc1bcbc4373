"""Flag that is set under a misspelled name, or on a module.

## What it does
Sets `requires_grad` where a name much like it was set: `p.require_grad = True`, `p.requires_grad_ = True`. Sets that of
all parameters of a module, where the module was given an attribute: `layer.requires_grad_(True)` for
`layer.requires_grad = True`, also in a loop over layers and in the helper that sets it.

## Why autograd fails
A tensor or a module takes any attribute, and torch looks at `requires_grad` of tensors alone. Parameters stay frozen,
and a loss of nothing else has no graph.

## Fix safety
Safe where everything that an optimizer owns then gets its gradient, but for what the code itself switches off: the flag
says which part is meant to train. Declined where anything reads the attribute, where a class defines it, and where a
module sets it on itself: then it is an attribute of the program's own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import modes
from autofix.syntax.edits import Step, rename, replace_statement

WHY = "torch looks at this name alone; a tensor takes any other and does nothing with it."
TITLE_MODULE = "Set the flag of the parameters of a module"
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
! which layers train is set on the layers themselves, and an optimizer was given all
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
! the part that stays frozen is owned, too
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
! a helper sets it
def switch(module, on):
-    module.requires_grad = on
+    module.requires_grad_(on)


net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)).requires_grad_(False)
switch(net[2], True)
opt = torch.optim.SGD(net[2].parameters(), lr=0.1)
for _ in range(4):
    train: net(torch.randn(5, 3)).square().mean()
! unsafe: a part that is owned, and that nothing switches off, learns nothing
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1)).requires_grad_(False)
spare = torch.nn.Linear(3, 1)
-net[2].requires_grad = True
+net[2].requires_grad_(True)
opt = torch.optim.SGD([*net.parameters(), *spare.parameters()], lr=0.1)
for _ in range(4):
    train: net(torch.randn(5, 3)).square().mean()
! a class has a meaning of its own for it
class Switched(torch.nn.Linear):
    @property
    def requires_grad(self):
        return self.on

    @requires_grad.setter
    def requires_grad(self, on):
        self.on = on


net = Switched(3, 1).requires_grad_(False)
net.requires_grad = True
net(torch.randn(5, 3)).square().mean().backward()
! a forward reads it
class Scaled(torch.nn.Linear):
    def forward(self, x):
        return super().forward(x) * (2 if self.requires_grad else 1)


net = Scaled(3, 1).requires_grad_(False)
net.requires_grad = True
net(torch.randn(5, 3)).square().mean().backward()
! a module sets it on itself
class Marked(torch.nn.Linear):
    def mark(self):
        self.requires_grad = True


net = Marked(3, 1).requires_grad_(False)
net.mark()
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
        found = list(modes.misspelled(sources.reached(diagnosis.failure.stack)))
        if found:
            yield self.propose([step for source, node in found for step in rename(source, node, modes.FLAG)], WHY)
            statements = [(source, source.statement(node)) for source, node in found]
            yield self.propose([*_by_method(statements)], WHY_MODULE, title=TITLE_MODULE, later=1)
        trace = diagnosis.trace
        on, off = trace.seen("module-flag-on"), trace.seen("module-flag-off")
        for facts in dict.fromkeys(((*on,), (*on, *off))) if on and not trace.seen("module-flag-is-read") else ():
            places = sources.innermost(one.stack for one in facts)
            edits = [*_by_method(dict.fromkeys((source, source.statement(node)) for source, node in places))]
            yield self.propose(edits, WHY_MODULE, title=TITLE_MODULE)


def _by_method(statements: Iterable[tuple[Source, ast.stmt]]) -> Iterator[Step]:
    """The method in place of each statement that sets an attribute of a module, or of several."""
    for source, statement in statements:
        match statement:
            case ast.Assign(targets, value) if all(isinstance(one, ast.Attribute) for one in targets):
                holders = [one.value for one in targets if isinstance(one, ast.Attribute)]
            case ast.Expr(ast.Call(ast.Name("setattr"), [holder, ast.Constant(modes.FLAG), value])):
                holders = [holder]
            case _:
                raise Declined("the flag is set together with something else")
        lines = [f"{source.segment(one)}.{modes.FLAG}_({source.segment(value)})" for one in holders]
        yield from replace_statement(source, statement, lines)
