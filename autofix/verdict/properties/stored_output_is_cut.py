"""An output that is trained on later is cut where it is stored

## What it finds

A pass stores what a network gave, and later passes take it for their loss as it is, beside the data that it was
computed from: a memory of trajectories with their states, actions and log-probabilities. They put these data through
other parameters again, but not through all those that made the output. The edit cuts its graph. This is not said

- of a state, which the parameters that made it are applied to once more;
- of what is stored without its data: features of a memory bank, with labels or without;
- where all its parameters are applied to the data anew: then it is what the new output is compared with.

## Why it matters

What is replayed does not train then what made it, although the loss is a loss of that: of a batch out of the memory,
only the samples of this pass do. Mostly such an output is to be computed anew from what is stored beside it.
"""

from __future__ import annotations

from autofix.verdict.property import Evidence, Example, Finding, Property

JOINED = """\
from torch.distributions import Categorical
class Memory:
    def __init__(self):
        self.states, self.actions, self.logps = torch.zeros(0, 3), torch.zeros(0).long(), torch.zeros(0)
    def add(self, *given):
        for name, one in zip(("states", "actions", "logps"), given):
            setattr(self, name, torch.cat([getattr(self, name), one])[-20:])
trunk, policy, other, scale = nn.Linear(3, 4), nn.Linear(4, 4), nn.Linear(4, 4), nn.Parameter(torch.zeros(()))
optimizer = torch.optim.Adam([*(p for n in (trunk, policy, other) for p in n.parameters()), scale], lr=0.01)
memory = Memory()
for _ in range(8):
    state = torch.randn(5, 3)
    drawn = Categorical(logits=policy(trunk(state)))
    action = drawn.sample()
    memory.add(state, action, drawn.log_prob(action))
    i = torch.randperm(len(memory.logps))[:6]
    back = Categorical(logits=other(trunk(memory.states[i]))).log_prob(memory.actions[i])
    train: (scale + memory.logps[i] - back - 1).square().mean()
"""
FEATURES = """\
encoder, scale = nn.Linear(3, 4), nn.Parameter(torch.ones(()))
optimizer = torch.optim.SGD([*encoder.parameters(), scale], lr=0.1)
bank, labels = torch.zeros(0, 4), torch.zeros(0).long()
for _ in range(8):
    x = torch.randn(5, 3)
    y = (x.sum(1) > 0).long()
    z = nn.functional.normalize(encoder(x), dim=1)
    bank, labels = torch.cat([bank, z])[-20:], torch.cat([labels, y])[-20:]
    alike = (y[:, None] == labels).float()
    loss = -(scale * (z @ bank.T)).log_softmax(1).mul(alike).sum(1).mean()
    train: loss
"""
STATE = """\
cell, head = nn.GRUCell(3, 4), nn.Linear(3, 4)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
h, last = torch.zeros(5, 4), torch.zeros(5, 3)
for _ in range(8):
    x = torch.randn(5, 3)
    h = cell(x, h)
    loss = (h - head(last)).square().mean() + head(x).square().mean()
    last = x
    train: loss
"""
PUT_BACK = """\
cell, head = nn.GRUCell(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
kept = [torch.zeros(1, 4) for _ in range(6)]
for step in range(9):
    i = [step % 6, (step + 1) % 6]
    h = cell(torch.randn(2, 3), torch.cat([kept[k] for k in i]))
    train: head(h).square().mean()
    kept[i[0]], kept[i[1]] = h[:1], h[1:]
"""
AVERAGE = """\
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
mean = torch.zeros(())
for _ in range(8):
    loss = net(torch.randn(5, 3)).square().mean()
    mean = 0.9 * mean + 0.1 * loss
    train: (loss + mean)
"""
IN_DICT = """\
from torch.distributions import Categorical
policy, other = nn.Linear(3, 4), nn.Linear(3, 4)
optimizer = torch.optim.SGD([*policy.parameters(), *other.parameters()], lr=0.1)
memory = {"states": torch.zeros(2, 3), "logps": torch.zeros(2)}
for step in range(8):
    state = torch.rand(2, 3)
    drawn = Categorical(logits=policy(state))
    logp = drawn.log_prob(drawn.sample())
    memory = {"states": torch.cat([memory["states"], state]), "logps": torch.cat([memory["logps"], logp])}
    loss = (memory["logps"] - other(memory["states"]).exp().sum(1)).square().mean()
    train: loss
"""
COMPARED = JOINED.replace("other(trunk(memory", "policy(trunk(memory")
UNREAD = JOINED.replace("other(trunk(memory.states[i]))", "other(trunk(torch.randn(len(i), 3)))")
LSTM = """\
cell, head = nn.LSTMCell(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
h, c = torch.zeros(2, 5, 4)
for _ in range(8):
    h, c = cell(torch.randn(5, 3), (h, c))
    train: (head(h) - 1).square().mean()
"""
AIMS = """\
net, last = nn.Linear(3, 2), nn.Linear(2, 1)
optimizer = torch.optim.SGD([*net.parameters(), *last.parameters()], lr=0.1)
memory = []
for _ in range(8):
    state = torch.randn(5, 3)
    memory.append((state, last(net(state))))
    loss = sum((last(net(s)) - 0.9 * aim - 1).square().mean() for s, aim in memory[-4:])
    train: loss
"""
STEP = "    optimizer.step()\n"


def _cut(line: str) -> tuple[str, str]:
    return STEP, f"{STEP}    {line}\n"


CUT = _cut("memory.logps = memory.logps.detach()")


class StoredOutputIsCut(Property):
    last = True
    sentence = (
        "the loss uses an output that an earlier iteration stored beside its input data. Detached, it does not train "
        "what made it; to train that, compute it again from the data"
    )
    raises = (
        Example(JOINED, *CUT),
        Example(IN_DICT, *_cut('memory["logps"] = memory["logps"].detach()')),
    )
    silent = (
        Example(FEATURES, *_cut("bank = bank.detach()")),
        Example(STATE, *_cut("h = h.detach()")),
        Example(PUT_BACK, "= h[:1], h[1:]", "= h[:1].detach(), h[1:].detach()"),
        Example(AVERAGE, *_cut("mean = mean.detach()")),
        Example(COMPARED, *CUT),
        Example(UNREAD, *CUT),
        Example(LSTM, *_cut("h, c = h.detach(), c.detach()")),
        Example(AIMS, *_cut("memory = [(s, aim.detach()) for s, aim in memory]")),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        if not (evidence.assessment.effect.truncates and evidence.letter.carried):
            return None
        facts = evidence.sourced.seen("output-replayed")
        return self.found(facts[0].stack) if facts else None
