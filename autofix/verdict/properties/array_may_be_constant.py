"""An array may be meant as a constant

## What it finds

A loss uses a value that left torch for numpy, and the author may have meant that value as a constant. Two signs of
that:

- in the term of the loss that the value belongs to, something else has a graph of torch's own;
- with the value taken as a constant, every parameter of the optimizers still gets a gradient that is not all zeros, and
  every term of the loss still has one.

Nothing is said of the gate of a mixture, or of an attention, where the runs rule the constant out: something that an
optimizer owns would never learn. A gate is what something else is multiplied by, in a loss that has a minimum in the
product. Nor of a value by which no pass sends anything to what optimizers own: the least of some places, of which only
the largest can move, trains the same as a constant. A target, or an advantage, is made of a network that has, or should
have, a loss of its own.

## Why it matters

numpy has no gradient to switch off. A target is a constant to its loss, and a prediction is not. Where both are arrays
of one network, the code does not say which of them is the target. An array beside a graph of torch's own is most often
a weight or an advantage.
"""

from autofix.core.model import Finding, Refused
from autofix.verdict.property import Evidence, Example, Seen

TWINS = """\
import numpy as np

net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
other = torch.nn.Linear(3, 2)
optimizer = torch.optim.SGD([*net.parameters()], lr=0.1)
x = torch.randn(12, 3)
for _ in range(4):
    one, two = net(x), net(x + 0.1 * torch.randn(12, 3))
    loss = torch.tensor(np.mean((one.detach().numpy() - two.detach().numpy()) ** 2))
    train: loss
"""
NUMPY = "torch.tensor(np.mean((one.detach().numpy() - two.detach().numpy()) ** 2))"
TWO_NETS = TWINS.replace("net(x + 0.1 * torch.randn(12, 3))", "other(x)").replace(
    "[*net.parameters()]", "[*net.parameters(), *other.parameters()]"
)
PENALTY = TWINS.replace("net(x + 0.1 * torch.randn(12, 3))", "net[0].weight").replace(
    NUMPY, "torch.tensor(np.mean(one.detach().numpy() ** 2) + np.abs(two.detach().numpy()).sum())"
)
BALANCED = """\
import numpy as np

net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(12, 3)
for _ in range(4):
    out = net(x)
    part = out.square().mean()
    train: (part + part.item() * out.abs().mean())
    loss = torch.tensor(np.mean(net(x).detach().numpy() ** 4))
    train: loss
"""
EXPERTS = """\
import numpy as np

gate, experts = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
optimizer = torch.optim.SGD([*gate.parameters(), *experts.parameters()], lr=0.1)
for _ in range(4):
    x = torch.randn(8, 3)
    share = np.exp(gate(x).numpy())
    share = torch.from_numpy(share / share.sum(1, keepdims=True))
    loss = ((share * experts(x)).sum(1) - 1).square().mean()
    train: loss
"""
CRITIC = """\
import numpy as np

actor, critic = torch.nn.Linear(3, 2), torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.1)
for _ in range(4):
    x, earned = torch.randn(8, 3), torch.randn(8)
    advantage = torch.from_numpy(earned.numpy() - critic(x).squeeze(1).numpy())
    loss = -(advantage * actor(x).log_softmax(1)[:, 0]).mean()
    train: loss
"""
TARGET = """\
net, other = torch.nn.Linear(3, 2), torch.nn.Linear(3, 2)
optimizer = torch.optim.SGD([*net.parameters(), *other.parameters()], lr=0.1)
for _ in range(4):
    x, earned = torch.randn(8, 3), torch.randn(8)
    aim = torch.from_numpy(earned.numpy() + 0.9 * other(x).numpy().max(1))
    loss = (net(x)[:, 0] - aim).square().mean()
    train: loss
"""
ATTENTION = """import numpy as np

near, net, head = torch.nn.Linear(3, 1), torch.nn.Linear(3, 4), torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD([p for one in (near, net, head) for p in one.parameters()], lr=0.1)
for _ in range(4):
    x = torch.randn(6, 5, 3)
    share = np.exp(near(x).numpy())
    share = torch.from_numpy(share / share.sum(1, keepdims=True))
    loss = (head((share.transpose(1, 2) @ net(x)).squeeze(1)) - 1).square().mean()
    train: loss
"""
TRACK = """\
thick = torch.tensor(2.0, requires_grad=True)
optimizer = torch.optim.SGD([thick], lr=0.1)
for step in range(8):
    at = torch.stack([torch.tensor(0.5), torch.tensor(1.0), 1.0 + thick])
    track = at.max().item() - at.min().item()
    loss = torch.tensor((track - 1.5) ** 2)
    train: loss
"""
BY_ITEM = TRACK[TRACK.index("    track =") : TRACK.index("    train")]
BY_TENSOR = "    loss = (at.max() - at.min() - 1.5) ** 2\n"
MOVES, LATER = "0.1 * thick", "0.1 * thick if step > 4 else torch.tensor(0.5)"
SHARES = ATTENTION[ATTENTION.index("    share =") : ATTENTION.index("    loss =")]
SHARE = EXPERTS[EXPERTS.index("    share =") : EXPERTS.index("    loss =")]


class ArrayMayBeConstant(Seen):
    fact = "array-may-be-constant"
    anyway = True
    sentence = (
        "the value that leaves torch here may be meant as a constant: every parameter gets a gradient without it, too"
    )
    raises = (
        Example(TWINS, NUMPY, "torch.mean((one - two) ** 2)"),
        Example(
            CRITIC, "torch.from_numpy(earned.numpy() - critic(x).squeeze(1).numpy())", "earned - critic(x).squeeze(1)"
        ),
        Example(
            TARGET,
            "torch.from_numpy(earned.numpy() + 0.9 * other(x).numpy().max(1))",
            "earned + 0.9 * other(x).max(1)[0]",
        ),
        Example(TRACK.replace("torch.tensor(0.5)", MOVES), BY_ITEM, BY_TENSOR),
        Example(TRACK.replace("torch.tensor(0.5)", LATER), BY_ITEM, BY_TENSOR),
        Example(BALANCED, "torch.tensor(np.mean(net(x).detach().numpy() ** 4))", "torch.mean(net(x) ** 4)"),
    )
    silent = (
        Example(TWO_NETS, NUMPY, "torch.mean((one - two) ** 2)"),
        Example(
            PENALTY,
            "torch.tensor(np.mean(one.detach().numpy() ** 2) + np.abs(two.detach().numpy()).sum())",
            "torch.mean(one ** 2) + two.abs().sum()",
        ),
        Example(EXPERTS, SHARE, "    share = gate(x).softmax(1)\n"),
        Example(TRACK, BY_ITEM, BY_TENSOR),
        Example(
            TRACK.replace(".item()", ".detach().numpy()"), BY_ITEM.replace(".item()", ".detach().numpy()"), BY_TENSOR
        ),
        Example(ATTENTION, SHARES, "    share = near(x).softmax(1)\n"),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        ruled_out = Refused.UPDATE in evidence.case.pool.letters.contradicted
        found = (fact for fact in evidence.letter.seen(self.fact) if not (fact.subject and ruled_out))
        return next((self.found(fact.stack) for fact in found), None)
