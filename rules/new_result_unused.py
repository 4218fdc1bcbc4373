"""A result that is computed anew and read by nothing, while the loss uses what the same call gave before.

## What it does
Gives the new result the name that the loss reads: `outputs = model(x)` where `logits = model(x)` stood. Of two of
one name, the loss reads what was just computed: `features` in place of `self.features`.

## Why autograd fails
The backward of the loss before has freed the graph of the first result, or a step has written what it needs. Kept, that
graph would train what it has trained already, and not what was computed since.

## Fix safety
Safe where the new result is the first one with newer parameters. In all else the code says that the first result is
used: autofix says so, and shows what changes.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from autofix.diagnosis.unread import unread_results
from autofix.search.rule import Cause, Diagnosis, Example, Proposal, Rule, Source, Sources, Tier
from autofix.syntax.calls import path_of
from autofix.syntax.edits import rename, replace
from autofix.syntax.live import Needed
from autofix.syntax.reaching import Reaching

WHY = "The loss is made of what was just computed, with a graph of its own."


class NewResultUnused(Rule):
    code, name = "AG216", "new-result-unused"
    title = "Use the new result"
    causes = frozenset({Cause.FREED_GRAPH, Cause.SAVED_TENSOR_MODIFIED})
    tier = Tier.MEANT
    examples = Example.each("""\
! unsafe: the code makes its second loss of the first outputs
class Task:
    def __init__(self):
        self.net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
        self.opt = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def attack(self, x, y, outputs):
        x = x + 0.1 * torch.randn_like(x)
-        logits = self.net(x)
+        outputs = self.net(x)
        torch.nn.functional.mse_loss(outputs, y).backward()

    def fit(self, x, y):
        outputs = self.net(x)
        self.opt.zero_grad()
        torch.nn.functional.mse_loss(outputs, y).backward()
        self.attack(x, y, outputs)
        self.opt.step()


task = Task()
for _ in range(4):
    task.fit(torch.randn(5, 3), torch.randn(5, 2))
! unsafe: so does a script without functions
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(5, 3)
    seen = net(x)
    train: seen.square().mean()
-    newer = net(x + 1)
+    seen = net(x + 1)
    train: (seen - 1).square().mean()
! unsafe: the new one is saved as a picture
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(5, 3)
    seen = net(x)
    train: seen.square().mean()
    newer = net(x + 1)
    opt.zero_grad()
-    (seen - 1).square().mean().backward()
+    (newer - 1).square().mean().backward()
    opt.step()
    print(newer.data[:2].sum())
! what the older critic said is not asked any more
maker, critic = torch.nn.Linear(2, 3), torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 1))
m_opt, c_opt = (torch.optim.SGD(net.parameters(), lr=0.1) for net in (maker, critic))
for _ in range(4):
    fake = maker(torch.randn(5, 2))
    score = critic(fake)
    train[c_opt]: critic(fake.detach()).square().mean()
-    again = critic(fake)
+    score = critic(fake)
    train[m_opt]: (score - 1).square().mean()
! the same was computed of what is cut, so that only the critic learns
class Both:
    def __init__(self):
        self.G = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 3))
        self.D, self.head = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh()), torch.nn.Linear(4, 1)
        self.g_opt = torch.optim.SGD(self.G.parameters(), lr=0.1)
        self.d_opt = torch.optim.SGD([*self.D.parameters(), *self.head.parameters()], lr=0.1)

    def judge(self, x):
        seen = self.D(x)
        return self.head(seen), seen

    def maker(self, real):
        self.fake = self.G(torch.randn(5, 2))
        self.score, self.seen = self.judge(self.fake)
        self.g_opt.zero_grad()
        ((self.score - 1).square().mean() + (self.seen - self.D(real)).square().mean()).backward(retain_graph=True)
        self.g_opt.step()

    def critic(self, real):
        score, seen = self.judge(self.fake.detach())
        self.d_opt.zero_grad()
-        (score.square().mean() - (self.seen - self.D(real)).square().mean()).backward()
+        (score.square().mean() - (seen - self.D(real)).square().mean()).backward()
        self.d_opt.step()


both = Both()
for _ in range(4):
    real = torch.randn(5, 3)
    both.maker(real)
    both.critic(real)
! the new result is shown
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(5, 3)
    seen = net(x)
    opt.zero_grad()
    seen.square().mean().backward()
    newer = net(x + 1)
    print(newer.mean().item())
    (seen - 1).square().mean().backward()
    opt.step()
! it is dropped
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(5, 3)
    seen = net(x)
    opt.zero_grad()
    seen.square().mean().backward()
    _ = net(x + 1)
    (seen - 1).square().mean().backward()
    opt.step()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """For each result that nothing reads: the names that hold the older one, and that are read behind it."""
        older = {carrier.path for crossing in diagnosis.trace.crossings for carrier in crossing.carriers}
        made = [saved.made for saved in diagnosis.trace.saved]
        for frame, source, one in unread_results(sources, made, diagnosis.failure.stack):
            match one.targets:
                case [ast.Name() as target]:
                    for name in _read(source, one, frame.line):
                        if name in older:
                            yield self._used(source, one, target, name, frame.line)

        yield from self._of_its_name(older, diagnosis, sources)

    def _of_its_name(self, older: Collection[str], diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """What a call has just given and nothing reads, in place of the older attribute of that name behind it."""
        for frame, source, node in sources.nodes(diagnosis.failure.stack):
            scope = source.function(node) or source.tree
            nodes = (one for path in older for one in source.mentioning(path, scope) if path_of(one) == path)
            read = [one for one in nodes if isinstance(one, ast.Attribute)]
            for made, name in Needed(source, scope).unread() if read else ():
                behind = [one for one in read if one.attr == name and made.lineno < one.lineno <= frame.line]
                if behind and isinstance(made, ast.Assign) and isinstance(made.value, ast.Call):
                    edits = [step for one in behind for step in replace(source, one, name)]
                    yield self.propose(edits, WHY, title=f"{self.title}: {name} in place of {path_of(behind[0])}")

    def _used(self, source: Source, one: ast.Assign, target: ast.Name, name: str, last: int) -> Proposal:
        """The new result under the older name; where it is shown under its own, that name in the loss."""
        if any(isinstance(read, ast.Name) and one in given for read, given in _reads(source, one)):
            edits = [step for read in _read(source, one, last)[name] for step in rename(source, read, target.id)]
            return self.propose(edits, WHY, title=f"{self.title}: {target.id} in place of {name}")
        title = f"{self.title}: {name} = {ast.unparse(one.value)}"
        return self.propose(rename(source, target, name), WHY, title=title)


def _read(source: Source, one: ast.Assign, last: int) -> dict[str, list[ast.Name]]:
    """The names that are read between a statement and the line that fails, and were bound before: where."""
    found: dict[str, list[ast.Name]] = {}
    for read, given in _reads(source, one):
        before = all(getattr(definition, "lineno", 0) < one.lineno for definition in given)
        if isinstance(read, ast.Name) and one.lineno < read.lineno <= last and before:
            found.setdefault(read.id, []).append(read)
    return found


def _reads(source: Source, one: ast.Assign) -> Collection[tuple[ast.AST, Collection[ast.AST]]]:
    return Reaching(source.function(one) or source.tree).reads.items()
