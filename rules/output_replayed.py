"""What a network gave, replayed from a memory with the graph of the pass that stored it.

## What it does
Computes it anew from what is stored beside it: `q = self.net(state)` at the top of the loop over the records, or
`qs = [self.net(state) for state in states]` behind the statement that takes a batch apart.

## Why autograd fails
A replay memory keeps records for many updates. The first update that draws a record frees the graph that stands behind
its output, and steps the network that the graph describes.

## Fix safety
Safe where the run shows the same graph with newer parameters, and a loss that is made of nothing else. Elsewhere what
was stored may be meant as it was, as the old probabilities of PPO are.
"""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Iterator
from dataclasses import dataclass, field

from autofix.probe.wire import Crossing
from autofix.search import anew
from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax import calls, names
from autofix.syntax.calls import Function
from autofix.syntax.edits import Step, insert_after, insert_before

WHY = "{path} is computed anew from what is stored beside it, with the parameters as they are now."
_SEVERAL = ("{}s", "{}es", "{}_list", "{}_batch", "batch_{}", "all_{}")
"""What a batch of something is called."""
_DEEPEST = 3


class OutputReplayed(Rule):
    code, name = "AG218", "output-replayed"
    title = "Compute it anew from what is stored beside it"
    causes = frozenset({Cause.FREED_GRAPH, Cause.SAVED_TENSOR_MODIFIED})
    tier = Tier.PASS
    examples = Example.each("""\
import random
from torch.distributions import Categorical
random.seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
memory = []
! records are taken one by one
! unsafe: what was stored may be meant as it was
def act(state):
    q = net(state)
    return int(q.argmax()), q


def replay():
    loss = 0
    for state, q, action, reward in random.sample(memory, 3):
+        q = net(state)
        loss = loss + (q[action] - reward) ** 2
    opt.zero_grad()
    loss.backward()
    opt.step()


for step in range(9):
    state = torch.randn(3)
    action, q = act(state)
    memory.append((state, q, action, float(state[action])))
    if step > 3:
        replay()
! a batch is taken apart
! unsafe: what was stored may be meant as it was
def replay():
    states, qs, actions, rewards = zip(*random.sample(memory, 3))
+    qs = [net(state) for state in states]
    taken = torch.stack(qs)[range(3), actions]
    loss = (taken - torch.tensor(rewards)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


for step in range(9):
    state = torch.randn(3)
    q = net(state)
    action = int(q.argmax())
    memory.append((state, q, action, float(state[action])))
    if step > 3:
        replay()
! whole episodes are kept, and what was sampled by the output stands beside it
def play(policy):
    states, actions, logps = [], [], []
    for _ in range(4):
        state = torch.randn(3)
        dist = Categorical(logits=policy(state))
        action = dist.sample()
        states.append(state)
        actions.append(action)
        logps.append(dist.log_prob(action))
    memory.append((states, actions, logps, float(torch.stack(states).sum())))


def learn(policy):
    loss = 0
    for states, actions, logps, gain in memory:
+        logps = [Categorical(logits=policy(state)).log_prob(action) for state, action in zip(states, actions)]
        loss = loss - torch.stack(logps).sum() * gain
    opt.zero_grad()
    loss.backward()
    opt.step()


for _ in range(4):
    play(net)
    learn(net)
! what it was computed from is not stored
def replay():
    loss = 0
    for q, action, reward in random.sample(memory, 3):
        loss = loss + (q[action] - reward) ** 2
    opt.zero_grad()
    loss.backward()
    opt.step()


for step in range(9):
    state = torch.randn(3)
    q = net(state)
    memory.append((q, 1, float(state[1])))
    if step > 3:
        replay()
! it was computed from random numbers that are not stored
def replay():
    loss = 0
    for state, q, reward in random.sample(memory, 3):
        loss = loss + (q[0] - reward) ** 2
    opt.zero_grad()
    loss.backward()
    opt.step()


for step in range(9):
    state = torch.randn(3)
    q = net(state + 0.1 * torch.randn(3))
    memory.append((state, q, float(state[1])))
    if step > 3:
        replay()
! a record is one thing, and nothing is taken apart
for step in range(9):
    memory.append(net(torch.randn(3)))
    loss = sum(one.sum() for one in random.sample(memory, 1 + step // 2))
    opt.zero_grad()
    loss.backward()
    opt.step()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each variable that a record, or a batch of records, is taken apart into."""
        seen: set[tuple[str, ast.AST]] = set()
        declined: Declined | None = None
        for crossing in diagnosis.crossed:
            for taken in _taken(crossing, sources):
                if (taken.path, taken.statement) in seen:
                    continue
                for _, source, node in sources.located(crossing.made[:_DEEPEST]):
                    try:
                        edits = taken.again(source, node, sources)
                    except Declined as error:
                        declined = error
                        continue
                    seen.add((taken.path, taken.statement))
                    yield self.propose(edits, WHY.format(path=taken.path))
                    break
        if declined is not None:
            raise declined


@dataclass(slots=True)
class _Taken:
    """A variable that a statement takes out of a record, beside others; `several`: it holds a batch."""

    source: Source
    function: Function
    statement: ast.For | ast.Assign
    path: str
    beside: set[str]
    several: bool
    each: dict[str, str] = field(default_factory=dict)
    """By the name of one, that of the batch which it is taken from."""

    def again(self, made_in: Source, made: ast.expr, sources: Sources) -> list[Step]:
        """The lines that compute it anew, where the record is taken apart."""
        if any(anew.draws(call, made_in, sources) for call in calls.within(made)):
            raise Declined(f"{self.path} would be made of new random numbers")
        self.each, stored = {}, set[str]()
        text = ast.unparse(self._spelled(made, made_in, stored))
        if not stored:
            raise Declined(f"nothing that {self.path} was computed from is stored beside it")
        if self.each:
            ones, batches = ", ".join(self.each), ", ".join(self.each.values())
            text = f"[{text} for {ones} in {batches if len(self.each) == 1 else f'zip({batches})'}]"
        line = f"{self.path} = {text}"
        if isinstance(self.statement, ast.For):
            return insert_before(self.source, self.statement.body[0], [line])
        return insert_after(self.source, self.statement, [line])

    def _spelled(self, made: ast.expr, made_in: Source, stored: set[str], depth: int = 0) -> ast.expr:
        """An expression in the words of the function that takes the record apart."""
        maker = made_in.function(made)
        locals_there = names.locals_of(maker) if maker is not None else set[str]()
        taken = self

        class Spelling(ast.NodeTransformer):
            def visit_Name(self, node: ast.Name) -> ast.expr:
                name = node.id
                if (batch := taken.batch(name)) and name in (locals_there or {name}):
                    stored.add(batch)
                    return node
                if (value := _bound_once(maker, name)) is not None and depth < _DEEPEST:
                    return taken._spelled(value, made_in, stored, depth + 1)
                return taken.known(node, maker, made_in)

        found: ast.expr = Spelling().visit(copy.deepcopy(made))
        return found

    def batch(self, name: str) -> str:
        """What is stored of something under this name, or under that of several; '' where nothing is."""
        if not self.several:
            return name if name in self.beside else ""
        wanted = (form.format(name) for form in _SEVERAL)
        if found := next((one for one in wanted if one in self.beside), ""):
            self.each[name] = found
        return found

    def known(self, node: ast.Name, maker: Function | None, made_in: Source) -> ast.expr:
        """A name that means the same here and there: the object, what the file knows, or an argument of both."""
        here = names.locals_of(self.function)
        if maker is None or node.id not in names.locals_of(maker):
            same = made_in is self.source or node.id in self.source.imported or hasattr(builtins, node.id)
        elif node.id == "self":
            same = self.source.parent(self.function) is made_in.parent(maker)
        else:
            return node if node.id in calls.parameters(self.function) else _decline(node.id)
        return node if same and (node.id not in here or node.id == "self") else _decline(node.id)


def _decline(name: str) -> ast.expr:
    raise Declined(f"{name} is not known where the record is taken apart")


def _taken(crossing: Crossing, sources: Sources) -> Iterator[_Taken]:
    """Where functions in which the failing graph was made take what crosses out of records.

    By the variable that held it when the run failed; where that holds the next record by then, by what is read there.
    """
    for frame, source, node in sources.nodes(crossing.used):
        function = source.function(node)
        if function is None:
            continue
        here = {one.path: one.kind for one in crossing.carriers if one.function == frame.function}
        read = dict.fromkeys(one.id for one in _values(node))
        for statement, target in _taking_apart(function):
            parts = {part.id for part in names.parts(target) if isinstance(part, ast.Name)}
            held = [path for path in here if path in parts]
            for path in held or [one for one in read if one in parts][:1]:
                several = here[path] != "tensor" if held else isinstance(statement, ast.Assign)
                yield _Taken(source, function, statement, path, parts - {path}, several)


def _values(node: ast.AST) -> Iterator[ast.Name]:
    """The names that an expression reads, but for the indices of what it takes a part of."""
    if isinstance(node, ast.Name):
        yield node
    for name, part in ast.iter_fields(node):
        for one in part if isinstance(part, list) else [part]:
            if isinstance(one, ast.AST) and not (isinstance(node, ast.Subscript) and name == "slice"):
                yield from _values(one)


def _taking_apart(function: Function) -> Iterator[tuple[ast.For | ast.Assign, ast.expr]]:
    """The loops and assignments of a function that bind several variables at once, and these."""
    for one in ast.walk(function):
        match one:
            case ast.For(target=ast.Tuple() as target) | ast.Assign(targets=[ast.Tuple() as target]):
                yield one, target


def _bound_once(maker: Function | None, name: str) -> ast.expr | None:
    """The value of a variable that a function binds in one plain assignment."""
    found = [one for one in ast.walk(maker) if isinstance(one, ast.stmt) and one is not maker] if maker else []
    bound = [one for one in found if name in names.binds(one) and not hasattr(one, "body")]
    match bound:
        case [ast.Assign(targets=[ast.Name()], value=value)]:
            return value
    return None
