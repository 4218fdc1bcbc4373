"""A tensor that is used now and overwritten in place before its gradient is computed.

## What it does
Lets the operation work with a copy: `q @ self.queue` becomes `q @ self.queue.clone()`, a property that hands out a
buffer hands out a copy of it, `self.queue = self.queue.clone()` gives the buffer new memory before it is written.

## Why autograd fails
A queue, a memory bank, running statistics or a table of states is updated in the same pass that used it. The operation
saved the tensor itself and not its values, so the update changes what backward would multiply with.

## Fix safety
Safe: a copy has the values that the operation saw, and lets gradients through. `.detach().clone()` is offered for
tensors kept on an object, and is safe only where no gradient flows through them, which the run shows.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator
from contextlib import suppress

from autofix.probe.wire import Saved, Stack
from autofix.search import handed
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls, names, writes
from autofix.syntax.edits import Step, append_call, clone_before

WHY_USED = "Backward needs {name} as it was used here; the copy is out of reach of the later write."
WHY_KEPT = "The write goes to new memory, and the tensor that backward needs stays as it was used."
WHY_MADE = "The operation's own output stays as it was saved; the later write changes the copy."
_MOST, _DEEPEST = 4, 2


class SavedTensorOverwrittenLater(Rule):
    code, name = "AG104", "saved-tensor-overwritten-later"
    title = "Use a copy of what is overwritten later"
    causes = frozenset({Cause.SAVED_TENSOR_MODIFIED})
    tier = Tier.COPY
    usual = "written", "what backward still needs is written here: write to a copy, or where that backward has been"
    examples = Example.each("""\
! an operand
w, bank = torch.ones(2, requires_grad=True), torch.ones(2, 3)
-score = w @ bank
+score = w @ bank.clone()
bank[:, 0] = 0.5
score.sum().backward()
! a buffer that an object keeps
class Memory:
    def __init__(self):
        self.queue = torch.ones(2, 3)

    def push(self, key):
+        self.queue = self.queue.clone()
        self.queue[:, 0] = key


w, memory = torch.ones(2, requires_grad=True), Memory()
score = w @ memory.queue
memory.push(w.detach())
score.sum().backward()
! what a property hands out
class Ring:
    def __init__(self):
        self.store = torch.ones(3, 2)

    @property
    def negatives(self):
-        return self.store.t()
+        return self.store.t().clone()


w, ring = torch.ones(2, requires_grad=True), Ring()
score = w @ ring.negatives
ring.store[0] = 0.5
score.sum().backward()
! the output of the operation
w = torch.ones(3, requires_grad=True)
-p = torch.sigmoid(w)
+p = torch.sigmoid(w).clone()
with torch.no_grad():
    p.clamp_(0.2, 0.7)
p.sum().backward()
! a table that is filled row by row
w, table, scale = torch.ones(3, requires_grad=True), torch.ones(4, 3), torch.ones(4)
for t in range(1, 4):
-    table[t] = table[t - 1] * w
+    table[t] = table[t - 1].clone() * w
    scale[t] = table[t].sum()
-    table[t] = table[t] / scale[t]
+    table[t] = table[t].clone() / scale[t].clone()
scale.log().sum().backward()
! what is given to a function
w, table = torch.ones(1, 3, 1, requires_grad=True), torch.ones(4, 1, 5)
scaled = lambda row: row * w
for t in range(4):
-    table[t] = scaled(table[t]).sum(1)
+    table[t] = scaled(table[t].clone()).sum(1)
table.sum().backward()
! two parts of one tensor are handed to a function together
turn, mixed = torch.nn.Linear(4, 4), torch.nn.Linear(4, 8)


def turned(left, right):
    return left * turn(left).tanh(), right * turn(right).tanh()


pair = mixed(torch.randn(5, 4)).view(5, 2, 4)
a, b = pair[:, 0], pair[:, 1]
-a[1:], b[1:] = turned(a[1:], b[1:])
+a[1:], b[1:] = turned(a[1:].clone(), b[1:].clone())
(a * b).sum().backward()
! a copy of the parameters would hide that the step came too early
w = torch.nn.Parameter(torch.ones(3))
opt = torch.optim.SGD([w], lr=0.1)
w.grad, loss = torch.ones(3), w.pow(2).sum()
opt.step()
loss.backward()
! the operands are in a list that is made elsewhere
pair = [torch.ones(3, requires_grad=True), torch.ones(3)]
terms = [torch.mul(*pair)]
pair[1].zero_()
sum(terms).sum().backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """A copy for what was used, for what was made, and for what is written, the named tensor first."""
        for saved in diagnosis.trace.saved:
            stacks = [write.stack for write in saved.writes if write.optimizer < 0]
            if not stacks:
                continue
            names = {name for stack in stacks for name in _written(sources, stack)}
            yield from self._used(saved.made, names, sources)
            yield from self._made(saved.made, sources)
            yield from self._kept(stacks, sources)
        yield from self._all_used((*diagnosis.trace.saved, *diagnosis.trace.also), sources)

    def _all_used(self, spoiled: Iterable[Saved], sources: Sources) -> Iterator[Proposal]:
        """A copy of each operand that is written later: a table that is filled row by row is read in several places."""
        edits: dict[Step, None] = {}
        by_callers = False
        for saved in spoiled:
            written = {name for write in saved.writes for name in _beside(sources, write.stack)}
            used: list[tuple[Source, ast.expr]] = []
            for _, source, node in list(sources.located(saved.made))[:1]:
                for operand in calls.tensors_in(node):
                    read = (one for one in ast.walk(operand) if isinstance(one, calls.VALUES) and _root(one) in written)
                    used += ((source, one) for one in itertools.islice(read, 1))
            by_callers = by_callers or not used
            for source, one in used or handed.as_one_of(written, saved.made[1:], sources):
                with suppress(Declined):
                    edits |= dict.fromkeys(append_call(source, one, ".clone()"))
        if len(edits) > 1:
            yield self.propose(edits, WHY_USED.format(name="each part"), later=_MOST * by_callers)

    def _used(self, made: Stack, names: set[str], sources: Sources) -> Iterator[Proposal]:
        """A copy of an operand: of the one that the write names, also where it is handed to a function; or of each."""
        for frame, source, node in list(sources.located(made))[:1]:
            operands = [one for one in calls.tensors_in(node) if _holds_tensor(source, one)]
            named = [one for one in operands if _root(one) in names or _last(_root(one)) in map(_last, names)]
            by_callers = [] if named else list(handed.as_one_of(names, made[1:], sources))[:1]
            for there, one in by_callers:
                yield self.propose(append_call(there, one, ".clone()"), WHY_USED.format(name=there.segment(one)))
            for place, one in enumerate((named or operands)[:_MOST]):
                why, later = WHY_USED.format(name=source.segment(one)), 0 if named else place + len(by_callers)
                if isinstance(one, ast.Attribute):
                    yield from self._handed_out(one.attr, frame.file, sources)
                    yield self.propose(append_call(source, one, ".detach().clone()"), why, later=later + 2)
                yield self.propose(append_call(source, one, ".clone()"), why, later=later)

    def _handed_out(self, name: str, file: str, sources: Sources) -> Iterator[Proposal]:
        """A copy of what a property of that name returns."""
        source = sources.source(file)
        if source is None:
            return
        for node in source.walk():
            if not isinstance(node, ast.FunctionDef) or node.name != name or not node.decorator_list:
                continue
            returned = (one.value for one in ast.walk(node) if isinstance(one, ast.Return))
            if values := [one for one in returned if isinstance(one, calls.VALUES)]:
                edits = [edit for value in values for edit in append_call(source, value, ".clone()")]
                yield self.propose(edits, WHY_USED.format(name=f"What {name} hands out"))

    def _made(self, made: Stack, sources: Sources) -> Iterator[Proposal]:
        """A copy of the value that the operation, or the function around it, gives."""
        for depth, (_, source, node) in enumerate(list(sources.located(made))[:_DEEPEST]):
            statement = source.statement(node)
            match statement:
                case ast.Assign(targets=[ast.Name() | ast.Attribute()], value=value):
                    pass
                case ast.AnnAssign(value=ast.expr() as value) | ast.Return(value=ast.expr() as value):
                    pass
                case _:
                    continue
            if isinstance(value, calls.VALUES):
                edits = append_call(source, value, ".clone()")
                yield self.propose(edits, WHY_MADE, title="Keep a copy of the output", later=1 + depth)

    def _kept(self, stacks: Iterable[Stack], sources: Sources) -> Iterator[Proposal]:
        """New memory for a tensor that an object keeps, before it is written."""
        edits: dict[Step, None] = {}
        for source, node in sources.innermost(stacks):
            name = writes.written(source, node)
            if "." in name and calls.path_of(node) != name:
                with suppress(Declined):
                    edits |= dict.fromkeys(clone_before(source, node))
        if edits:
            yield self.propose(edits, WHY_KEPT, title="Write to new memory")


def _written(sources: Sources, stack: Stack) -> Iterator[str]:
    return (writes.written(source, node) for source, node in sources.innermost([stack]))


def _beside(sources: Sources, stack: Stack) -> set[str]:
    """What the statement of a write writes: `h` and `c` of `h[t], c[t] = cell(x, (h[t - 1], c[t - 1]))`."""
    return {*names.bound_by(sources.statements(stack[:1])), *_written(sources, stack)}


def _holds_tensor(source: Source, node: ast.expr) -> bool:
    """Whether an operand can be a tensor: no module of Python's, no list of operands, not the object itself."""
    if isinstance(source.parent(node), ast.Starred):
        return False
    return calls.path_of(node) != "self" and not writes.is_module(source, node)


def _root(node: ast.expr) -> str:
    return calls.path_of(calls.whole(node))


def _last(path: str) -> str:
    return path.rpartition(".")[2]
