"""Training that goes on in evaluation mode.

## What it does
Calls `train()` on the network behind the test that called `eval()`; else right before the forward that is trained.

## Why autograd fails
In evaluation mode a forward goes through what is written for tests alone (`if not self.training:`): values are
overwritten there, rounded, or computed without a graph. A test leaves the network in that mode, and what is trained
next runs into it.

## Fix safety
Never safe: to train in evaluation mode may be meant, and the code says so. With dropout off and statistics that stand
still it rarely is, so that this edit comes before those of what is written for tests.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from autofix.probe.wire import Stack
from autofix.search.rule import Applicability, Cause, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import blocks, calls
from autofix.syntax.edits import insert_after, insert_before

WHY = "The network is in training mode again when it is trained, and does not run what is written for tests."
_ENDS = (ast.Return, ast.Break, ast.Continue, ast.Raise)


class EvaluationModeLeftOn(Rule):
    code, name = "AG438", "evaluation-mode-left-on"
    title = "Train in training mode"
    causes = frozenset({Cause.SAVED_TENSOR_MODIFIED, Cause.NO_GRAPH, Cause.GRADIENT_NONE, Cause.CONVERSION})
    tier = Tier.MEANT
    applicability = Applicability.UNSAFE
    conventional = True
    examples = Example.each("""\
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.score, self.drop, self.head = torch.nn.Linear(4, 3), torch.nn.Dropout(), torch.nn.Linear(3, 1)

    def forward(self, x):
        soft = self.score(x).softmax(1)
        if self.training:
            soft = self.drop(soft)
        else:
            soft = soft.mul_(soft > 0.3)
        return self.head(soft)


! unsafe: after the first test, every batch is trained in evaluation mode, and that may be meant
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(6):
    train: (net(torch.randn(5, 4)) - 1).square().mean()
    if step == 1:
        net.eval()
        with torch.no_grad():
            print(net(torch.randn(5, 4)).mean().item())
+        net.train()
! unsafe: the same where a function tests
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def test(model):
    model.eval()
    with torch.no_grad():
        return model(torch.randn(5, 4)).mean().item()


for epoch in range(3):
    for x in torch.randn(2, 5, 4):
+        net.train()
        out = net(x)
        train: (out - 1).square().mean()
    print(test(net))
! unsafe: the part for tests stands behind a return, and has no graph
class Coder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(4, 4)

    def forward(self, x):
        if self.training:
            return self.net(x).tanh()
        return self.net(x).detach().sign()


class Trainer:
    def __init__(self):
        self.coder = Coder()
        self.opt = torch.optim.SGD(self.coder.parameters(), lr=0.1)

    def fit(self):
        for step in range(6):
            train[self.opt]: self.coder(torch.randn(5, 4)).square().mean()
            if step % 2:
                self.coder = self.coder.eval()
                print(self.coder(torch.randn(5, 4)).mean().item())
+                self.coder.train()


Trainer().fit()
! it fails in both modes
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(6):
    out = net(torch.randn(5, 4)).exp()
    out.mul_(2)
    train: out.mean()
    if step == 1:
        net.eval()
! nothing puts it into evaluation mode
net = Net().train(False)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(6):
    train: (net(torch.randn(5, 4)) - 1).square().mean()
! it is in evaluation mode before all training
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
net.eval()
for step in range(6):
    train: (net(torch.randn(5, 4)) - 1).square().mean()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each network that is called where it is trained, and runs into what is written for tests."""
        trained = {(one.file, one.function) for one in diagnosis.failure.stack}
        seen: set[ast.AST] = set()
        for stack in filter(lambda one: _is_of_a_test(one, sources), _stacks(diagnosis)):
            for frame, source, call in sources.nodes(stack[1:]):
                path = calls.path_of(call.func) if isinstance(call, ast.Call) else ""
                if (frame.file, frame.function) in trained and path and call not in seen:
                    seen.add(call)
                    yield from self._trained(source, call, path, sources.reached(diagnosis.failure.stack))

    def _trained(self, source: Source, call: ast.AST, path: str, files: Iterable[Source]) -> Iterator[Proposal]:
        """`train()` behind each test in a loop that trains; before the forward, where the mode is set elsewhere."""
        line, scope, around = [f"{path}.train()"], source.function(call), set(blocks.loops(source, call))
        tests = [
            one
            for one in _evaluating(source)
            if calls.path_of(one.func) == f"{path}.eval"
            if source.function(one) is scope and not around.isdisjoint(blocks.loops(source, one))
        ]
        for one in tests:
            last = blocks.block_of(source, source.statement(one))[-1]
            if not isinstance(last, _ENDS):
                yield self.propose(insert_after(source, last, line), WHY)
        elsewhere = (each.function(one) for each in files for one in _evaluating(each))
        if tests or any(one not in (scope, None) for one in elsewhere):
            yield self.propose(insert_before(source, source.statement(call), line), WHY, later=1)


def _evaluating(source: Source) -> list[ast.Call]:
    """The calls of a file that put a network into evaluation mode."""
    found = (one for one in source.mentioning("eval") if isinstance(one, ast.Call) and not one.args)
    return [one for one in found if isinstance(one.func, ast.Attribute) and one.func.attr == "eval"]


def _stacks(diagnosis: Diagnosis) -> Iterator[Stack]:
    """Where what failed was written, or lost its graph."""
    for saved in diagnosis.trace.saved:
        yield from (write.stack for write in saved.writes)
    yield from (origin.stack for origin in diagnosis.trace.origins)


def _is_of_a_test(stack: Stack, sources: Sources) -> bool:
    """Whether something stands in code that asks for the mode, and runs in evaluation mode alone."""
    return any(_is_for_tests(source, source.statement(node)) for _, source, node in sources.nodes(stack))


def _is_for_tests(source: Source, statement: ast.stmt) -> bool:
    """Whether a statement stands where training mode does not come to."""
    for one in blocks.holders(source, statement):
        block, holder = blocks.block_of(source, one), source.parent(one)
        earlier = (each for each in blocks.before(block, one) if isinstance(each, ast.If))
        if any(_asks(each.test, in_test=False) and isinstance(each.body[-1], ast.Return) for each in earlier):
            return True
        if isinstance(holder, ast.If) and _asks(holder.test, in_test=one in holder.body):
            return True
    return False


def _asks(test: ast.expr, *, in_test: bool) -> bool:
    """Whether a condition is that of evaluation mode (`in_test`), or that of training mode."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return _asks(operand, in_test=not in_test)
    return not in_test and isinstance(test, ast.Attribute) and test.attr == "training"
