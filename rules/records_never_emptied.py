"""Records of one pass that are still there in the next.

## What it does
Empties the list, dict or deque after the step: `saved.clear()`. Where it is the default of a parameter, each call
begins with one of its own.

## Why autograd fails
A list collects what each pass computes (log-probabilities of an episode, losses of a window) and is never emptied. The
next pass takes all of it into its loss, and runs into the graphs that the earlier backward has freed.

## Fix safety
Safe only where the rest of the code asks for it, as where the loss pairs the list with one that each pass empties. Else
with fewer records the loss is another one, and a list that is printed or plotted at the end loses what it had. Other
lists that are filled beside it may have to be emptied too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autofix.probe.wire import Carrier, Frame
from autofix.search.rule import (
    Applicability,
    Cause,
    Declined,
    Diagnosis,
    Example,
    Proposal,
    Rule,
    Source,
    Sources,
    Tier,
)
from autofix.syntax import blocks, calls, names, nested
from autofix.syntax.edits import insert_after, insert_before, replace

WHY_DEFAULT = "A default is made once, with the function. Each call of {function} begins with its own {name} instead."
WHY = "The next iteration begins with empty {paths}, and its loss reaches only what it computed itself."


class RecordsNeverEmptied(Rule):
    code, name = "AG205", "records-never-emptied"
    title = "Empty the records after the step"
    causes = frozenset({Cause.FREED_GRAPH, Cause.SAVED_TENSOR_MODIFIED})
    tier = Tier.EMPTY
    applicability = Applicability.UNSAFE
    examples = Example.each("""\
import random
from collections import deque, namedtuple
! a list of losses
net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
losses = []
for epoch in range(3):
    for _ in range(2):
        losses.append(net(torch.randn(4, 2)).pow(2).mean())
    train: sum(losses)
+    losses.clear()
! what each pass collects in lists of its own is not emptied
Saved = namedtuple("Saved", ["score", "value"])


class Policy:
    def __init__(self):
        self.net = torch.nn.Linear(2, 2)
        self.saved = []

    def act(self, state):
        score, value = self.net(state).tanh()
        self.saved.append(Saved(score, value))


def finish():
    saved = policy.saved
    losses, returns = [], deque()
    for _ in saved:
        returns.appendleft(2.0)
    for one, target in zip(saved, torch.tensor(returns)):
        losses.append(one.score * target + one.value)
    train: torch.stack(losses).sum()
+    saved.clear()


policy = Policy()
opt = torch.optim.SGD(policy.net.parameters(), lr=0.1)
for episode in range(3):
    policy.act(torch.randn(2)), policy.act(torch.randn(2))
    finish()
! hooks fill two lists that are gone through in step: both are emptied
student, teacher = torch.nn.Linear(2, 3), torch.nn.Linear(2, 3)
mine, theirs = [], []
student.register_forward_hook(lambda module, given, out: mine.append(out))
teacher.register_forward_hook(lambda module, given, out: theirs.append(out.detach()))
opt = torch.optim.SGD(student.parameters(), lr=0.1)


def train(x):
    student(x), teacher(x)
    loss = sum((a - b).pow(2).mean() for a, b in zip(mine, theirs))
    train: loss
+    mine.clear()
+    theirs.clear()


for _ in range(3):
    train(torch.randn(4, 2))
! a model has the list, and the function of the loop only calls it
class Bank(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net, self.kept = torch.nn.Linear(2, 1), deque(maxlen=6)

    def forward(self, x):
        self.kept.extend(self.net(x))
        return torch.stack(list(self.kept)).pow(2).mean()


bank = Bank()
opt = torch.optim.SGD(bank.parameters(), lr=0.1)


def train(batches):
    for x in batches:
        train: bank(x)
+        bank.kept.clear()


train([torch.randn(size, 2) for size in (6, 6, 4, 6)])
! unsafe: a default is made once, which may be meant
-def penalty(net, terms=[]):
+def penalty(net, terms=None):
+    terms = [] if terms is None else terms
    for one in net.parameters():
        terms.append(one.pow(2).sum())
    return sum(terms)


net = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    train: (net(torch.randn(5, 2)).pow(2).mean() + 0.1 * penalty(net))
! later iterations are meant to draw from the memory, too
net, memory = torch.nn.Linear(2, 2), []
for _ in range(4):
    memory.append(net(torch.randn(2)))
    torch.stack(random.sample(memory, min(len(memory), 2))).pow(2).mean().backward()
! the second backward is meant to see what the first saw: there is no next pass
w = torch.ones(3, requires_grad=True)
losses = {"first": w.exp().sum()}
losses["first"].backward()
losses["first"].backward()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """After the step in the innermost function that holds what was filled: all of it, and each alone."""
        carriers = [carrier for one in diagnosis.crossed for carrier in one.carriers]
        stacks = {backward.stack for backward in diagnosis.trace.earlier}
        if diagnosis.failure.stack not in stacks | {saved.freed_by for saved in diagnosis.trace.saved}:
            raise Declined("no earlier iteration went backward at the failing line")
        for where, maker, name, default in _defaults(diagnosis, sources):
            begun = f"{name} = {ast.unparse(default)} if {name} is None else {name}"
            steps = [*replace(where, default, "None"), *insert_before(where, blocks.top(maker), [begun])]
            why = WHY_DEFAULT.format(name=name, function=maker.name)
            yield self.propose(steps, why, title="Begin each call with a container of its own", tier=Tier.MEANT)
        for frame, source, node in sources.nodes(diagnosis.failure.stack):
            function = source.function(node)
            here = [c for c in carriers if nested.is_container(c.kind) and _is_seen(c, frame, function)]
            filled = dict.fromkeys(c.path for c in here if _is_filled(c, carriers, sources))
            paths = [path for path in filled if not _is_made_anew(source, node, path)]
            if not paths:
                continue
            if memory := next((c.path for c in here if c.path in paths and _is_sampled(c, source, sources)), ""):
                raise Declined(f"later iterations are meant to draw from {memory}, too: it is sampled at random")
            statement = blocks.after_steps(source, source.statement(node))
            beside = [path for path in names.in_step(source, paths) if not [*_given(source, node, path)]]
            together = list(dict.fromkeys([*paths, *beside]))
            for chosen in [together, *([path] for path in paths if len(together) == len(paths) > 1)]:
                why = WHY.format(paths=" and ".join(chosen))
                yield self.propose(insert_after(source, statement, [f"{path}.clear()" for path in chosen]), why)
            return


def _defaults(
    diagnosis: Diagnosis, sources: Sources
) -> Iterator[tuple[Source, ast.FunctionDef, str, ast.expr]]:  # fmt: skip
    """Parameters whose default is a container, in functions that put what crosses into it, and the default of each."""
    seen: set[ast.AST] = set()
    for _, source, node in (one for each in diagnosis.crossed for one in sources.located(each.made)):
        function = source.function(node)
        if isinstance(function, ast.FunctionDef) and function not in seen:
            seen.add(function)
            filled = {ast.unparse(holder) for one in ast.walk(function) for holder, _ in names.filled(one)}
            for name, default in calls.defaults(function).items():
                if name in filled and _is_new(default):
                    yield source, function, name, default


def _is_seen(carrier: Carrier, frame: Frame, function: calls.Function | None) -> bool:
    """Whether a variable is one of a frame, or of the module or function around it and read there, or its owner is."""
    if carrier.file != frame.file or carrier.function == frame.function:
        return carrier.file == frame.file
    around = carrier.function == "<module>" or frame.function.startswith(f"{carrier.function}.<locals>.")
    root = carrier.path.partition(".")[0]
    if function is None or not around or root in names.locals_of(function):
        return False
    read = names.reads(function)
    return names.meets([carrier.path], read) or any(carrier.path.startswith(f"{one}.") for one in read)


def _is_made_anew(source: Source, node: ast.AST, path: str) -> bool:
    """Whether the pass around a node begins with a container of its own: what it collects for itself."""
    return any(map(_is_new, _given(source, node, path)))


def _given(source: Source, node: ast.AST, path: str) -> Iterator[ast.expr]:
    """What the pass around a node gives a variable."""
    around = next(blocks.loops(source, node), None) or source.function(node)
    for one in names.assignments(source, path):
        if around is not None and around.lineno < one.lineno <= (around.end_lineno or 0):
            yield from names.given_to(one, path)


def _is_sampled(carrier: Carrier, source: Source, sources: Sources) -> bool:
    """Whether the program draws from a container at random, as from a memory of many passes."""
    return any(names.sampled(one, carrier.path) for one in (source, sources.source(carrier.file)) if one is not None)


def _is_new(value: ast.expr | None) -> bool:
    """Whether a value is an empty container that is made here: `[]`, `deque()`."""
    called = isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and not value.args
    return called or isinstance(value, (ast.List, ast.Dict))


def _is_filled(carrier: Carrier, carriers: list[Carrier], sources: Sources) -> bool:
    """Whether a container grows by items, here or where it is another name for an attribute that does."""
    source = sources.source(carrier.file)
    if source is None or "[" in carrier.path:
        return False
    if any(isinstance(call, ast.Call) for call, _ in names.fills(source, carrier.path)):
        return True
    values = [one.value for one in names.assignments(source, carrier.path)]
    if any(isinstance(value, ast.Attribute) and names.grows(source, value.attr) for value in values):
        return True
    _, dot, attribute = carrier.path.rpartition(".")
    kept = {c.file for c in carriers if dot and c.path == f"self.{attribute}"}
    return any(names.grows(one, attribute) for one in map(sources.source, kept) if one is not None)
