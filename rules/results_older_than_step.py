"""What an object computed in one method is trained on in another, behind a step.

## What it does
Calls the method that computed it once more, between the step and the backward: `self.forward()`.

## Why autograd fails
The step changes parameters that the results were computed with. A later loss of the same results goes back through
them, and finds other values than those it was computed with.

## Fix safety
Safe where the run shows that, with every update undone, all gradients stay as they are: the results are then only
computed with newer parameters. Where the method draws random numbers, they are others the second time.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.probe.wire import Stack
from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls, update
from autofix.syntax.edits import insert_before

WHY = "{call} computes what this backward needs once more, with the parameters that it will find."


class ResultsOlderThanStep(Rule):
    code, name = "AG109", "results-older-than-step"
    title = "Compute it again after the step"
    causes = frozenset({Cause.SAVED_TENSOR_MODIFIED})
    tier = Tier.AGAIN
    examples = Example.each("""\
from torch import nn
! two losses of one forward, which another method ran
class Model:
    def __init__(self):
        self.enc, self.gen = nn.Linear(3, 3), nn.Linear(3, 3)
        self.opt = torch.optim.SGD([*self.enc.parameters(), *self.gen.parameters()], lr=0.1)

    def forward(self):
        self.code = self.enc(self.x).tanh()
        self.fake = self.gen(self.code).tanh()

    def look(self, x):
        self.x = x
        self.forward()
        print(self.fake.mean().item())

    def update(self):
        self.opt.zero_grad()
        (self.fake - self.x).abs().mean().backward(retain_graph=True)
        self.opt.step()
        self.opt.zero_grad()
+        self.forward()
        self.update_alone()

    def update_alone(self):
        (self.enc(self.fake) - self.code).square().mean().backward()
        self.opt.step()


model = Model()
for x in torch.randn(4, 5, 3):
    model.look(x)
    model.update()
! in the loop of a subclass's update, and the method is called by a constructor of the pass
class Base:
    def set_input(self, x):
        self.x = x
        self.run()


class Model(Base):
    def __init__(self):
        self.net, self.head = nn.Linear(3, 3), nn.Linear(3, 1)
        self.opt = torch.optim.SGD([*self.net.parameters(), *self.head.parameters()], lr=0.1)

    def run(self):
        self.out = self.head(self.net(self.x).tanh())

    def losses(self):
        return self.out.square().mean(), (self.out - 1).abs().mean()

    def optimize(self):
        self.opt.zero_grad()
        self.losses()[0].backward(retain_graph=True)
        self.opt.step()
        self.opt.zero_grad()
+        self.run()
        self.losses()[1].backward()
        self.opt.step()


model = Model()
for x in torch.randn(4, 5, 3):
    model.set_input(x)
    model.optimize()
! unsafe: what is drawn is drawn again
class Model:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def forward(self):
        self.out = self.net(self.x + torch.randn(5, 3)).exp()

    def set_input(self, x):
        self.x = x
        self.forward()

    def optimize(self):
        self.opt.zero_grad()
        self.out.mean().backward(retain_graph=True)
        self.opt.step()
        self.opt.zero_grad()
+        self.forward()
        self.out.square().mean().backward()
        self.opt.step()


model = Model()
for x in torch.randn(4, 5, 3):
    model.set_input(x)
    model.optimize()
! the method is given its input, which the later one does not have
class Model:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def forward(self, x):
        self.out = self.net(x).exp()

    def look(self, x):
        self.forward(x)

    def optimize(self):
        self.out.mean().backward(retain_graph=True)
        self.opt.step()
        self.out.square().mean().backward()
        self.opt.step()


model = Model()
for x in torch.randn(4, 5, 3):
    model.look(x)
    model.optimize()
! the method steps, too: once more it would step once more
class Model:
    def __init__(self):
        self.net, self.x = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1)), torch.randn(5, 3)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def begin(self):
        self.opt.step()
        self.out = self.net(self.x).exp()

    def look(self):
        self.begin()

    def optimize(self):
        self.out.mean().backward(retain_graph=True)
        self.opt.step()
        self.out.square().mean().backward()
        self.opt.step()


model = Model()
for _ in range(4):
    model.look()
    model.optimize()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each saved tensor that a step wrote to: the calls on whose way it was made, the innermost first."""
        for saved in diagnosis.trace.saved:
            for write in (one for one in saved.writes if one.optimizer >= 0):
                for source, call in _methods(saved.made, sources):
                    for where, statement in _between(write.stack, diagnosis.failure.stack, sources):
                        same = _class(where, statement) is _class(source, call)
                        if same or calls.name_of(call) in _own(where, statement):
                            text = source.segment(call)
                            yield self.propose(insert_before(where, statement, [text]), WHY.format(call=text))


def _methods(made: Stack, sources: Sources) -> Iterator[tuple[Source, ast.Call]]:
    """The calls of methods of `self` that stand alone, are given nothing, and train nothing."""
    for _, source, node in sources.located(made):
        match source.parent(node), node:
            case ast.Expr(), ast.Call(func=ast.Attribute(value=ast.Name("self")), args=[], keywords=[]):
                called = sources.called(source, node, decorated=True)
                if called is None or not any(map(update.trains, called[1].body)):
                    yield source, node


def _between(written: Stack, failed: Stack, sources: Sources) -> Iterator[tuple[Source, ast.stmt]]:
    """The statement that leads to the backward, behind the one that leads to the step, in a method that has both."""
    steps = {(frame.file, frame.function): source.statement(node) for frame, source, node in sources.nodes(written)}
    for frame, source, node in sources.nodes(failed):
        step, statement = steps.get((frame.file, frame.function)), source.statement(node)
        if step is not None and step is not statement:
            behind = blocks.block_of(source, step)
            if set(blocks.holders(source, statement)) & {*behind[behind.index(step) + 1 :]}:
                yield source, statement
            return


def _class(source: Source, node: ast.AST) -> ast.AST | None:
    function = source.function(node)
    return source.parent(function) if function is not None else None


def _own(source: Source, node: ast.AST) -> set[str]:
    """The methods of the class that a node is in."""
    return {getattr(one, "name", "") for one in getattr(_class(source, node), "body", ())}
