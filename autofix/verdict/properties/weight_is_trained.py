"""What weighs a log-probability, or values by their own shares, is trained

## What it finds

A term of a loss is a log-probability times something that has a graph of its own: the probabilities that another view
is given, an advantage. Or it is a value times its own share of a sum: the importance of a sample, or the weight of a
group that climbs with its loss from pass to pass. The failure lies in that graph: what backward found overwritten is in
there alone, or another backward freed what it leads to, or an optimizer moved that. The edit keeps it. This is not said
where the logarithm is of the weight itself, as in an entropy, nor where the weight is made of nothing else than the
logarithm is, as in a focal loss, nor where it is made of what no optimizer owns, as by a teacher, nor where training is
the same either way.

## Why it matters

A target or an advantage is nearly always meant as a constant, and the failure shows that the author did not see its
graph. With it, the loss can also fall by what the weights become: targets move to what is predicted, and an advantage
teaches the critic to please the actor. A gate that learns which term to trust is the same in the code. Of the public
scripts in which another backward had freed such a graph, the weight was a constant in eight of nine, and in one nobody
could say.
"""

from __future__ import annotations

from autofix.verdict.left_open.aims import trained
from autofix.verdict.property import Evidence, Example, Finding, Property
from autofix.verdict.shared import aims

VIEWS = """\
net, head = nn.Linear(4, 5), nn.Linear(5, 3)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    seen = torch.randn(6, 4)
    one, other = head(net(seen).tanh()), head(net(seen + 0.1).tanh())
    target = one.exp()
    target /= target.sum(0)
    target /= target.sum(1, keepdim=True)
    loss = -(target * LOG).sum(1).mean()
    train: loss
"""
OTHER = VIEWS.replace("LOG", "other.log_softmax(1)")
OUT_OF_PLACE = (
    "    target /= target.sum(0)\n    target /= target.sum(1, keepdim=True)\n",
    "    target = target / target.sum(0)\n    target = target / target.sum(1, keepdim=True)\n",
)
TEACHER = ("optimizer =", "start, teacher = nn.Linear(4, 5), nn.Linear(5, 3)\noptimizer =")
ADVANTAGE = """\
actor, critic = nn.Linear(4, 3), nn.Linear(4, 1)
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=0.01)
for _ in range(4):
    seen, earned, act = torch.randn(6, 4), torch.randn(6), torch.randint(3, (6,))
    value = critic(seen).squeeze(1)
    advantage = (earned - value).tanh()
    advantage -= advantage.mean()
    chance = torch.distributions.Categorical(logits=actor(seen)).log_prob(act)
    loss = (value - earned).square().mean() - (chance * advantage).mean()
    train: loss
"""


TOGETHER = """\
class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk, self.policy, self.critic = nn.Linear(4, 3), nn.Linear(3, 2), nn.Linear(3, 1)

    def forward(self, x):
        seen = self.trunk(x).tanh()
        return torch.distributions.Categorical(logits=self.policy(seen)), self.critic(seen).squeeze(1)

net = ActorCritic()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(4):
    chances, value = net(torch.randn(6, 4))
    acts = chances.sample()
    delta = acts - value
    optimizer.zero_grad()
    delta.square().mean().backward()
    actor_loss = ACTOR
    actor_loss.backward()
    optimizer.step()
"""
IMPORTANCE = """\
net = nn.Linear(4, 3)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(4):
    seen = torch.randn(8, 6, 4)
    worth = -net(seen).square().sum(2)
    share = SHARE
    share /= share.sum(0)
    loss = -(share * worth).sum(0).mean()
    train: loss
"""
OWN_SHARE = IMPORTANCE.replace("SHARE", "(worth - worth.max(0).values).exp()")
SHARED_OUT = ("share /= share.sum(0)", "share = share / share.sum(0)")
ASCENT = """\
net = nn.Linear(4, 1)
weights = torch.ones(3) / 3
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    losses = (net(torch.randn(3, 6, 4)) - 1).square().mean((1, 2))
    weights = weights * (0.1 * losses).exp()
    weights = weights / weights.sum()
    loss = losses @ weights
    train: loss
"""
GATED = (
    ASCENT.replace("net = nn.Linear(4, 1)", "net, gate = nn.Linear(4, 1), nn.Linear(4, 3)")
    .replace("net.parameters()", "[*net.parameters(), *gate.parameters()]")
    .replace("    losses =", "    trust = gate(torch.randn(4)).sigmoid()\n    losses =")
    .replace("0.1 * losses", "trust * losses")
    .replace("losses @ weights", "losses @ weights + trust.square().sum()")
)
CUT_BEFORE = ("= weights * (", "= weights.detach() * (")
FOCAL = """\
net, gate = nn.Linear(4, 3), nn.Linear(4, 3)
optimizer = torch.optim.SGD([*net.parameters(), *gate.parameters()], lr=0.1)
for _ in range(4):
    seen = torch.randn(6, 4)
    chance = net(seen).softmax(1)
    weight = WEIGHT
    weight *= weight
    loss = -(weight * LOG).sum(1).mean() + gate(seen).square().mean()
    train: loss
"""
OWN, WITH_GATE = (FOCAL.replace("WEIGHT", one) for one in ("1 - chance", "(1 - chance) * gate(seen).sigmoid()"))
SQUARED = ("weight *= weight", "weight = weight * weight")
CRITIC_KEEPS = ("delta.square().mean().backward()", "delta.square().mean().backward(retain_graph=True)")


class WeightIsTrained(Property):
    sentence = (
        "the loss also trains the weight of one of its terms, such as an advantage, through the graph that fails; the"
        " weight may be meant as a constant"
    )
    raises = (
        Example(TOGETHER.replace("ACTOR", "-(chances.log_prob(acts) * delta).mean()"), *CRITIC_KEEPS),
        Example(OTHER, *OUT_OF_PLACE),
        Example(ADVANTAGE, "advantage -= advantage.mean()", "advantage = advantage - advantage.mean()"),
        Example(OWN_SHARE, *SHARED_OUT),
        Example(ASCENT, *CUT_BEFORE),
        Example(ASCENT.replace("losses @ weights", "(losses * weights).sum()"), *CUT_BEFORE),
        Example(WITH_GATE.replace("LOG", "(chance + 0.01).log()"), *SQUARED),
        Example(OWN.replace("LOG", "(net(seen + 0.1).softmax(1) + 0.01).log()"), *SQUARED),
    )
    silent = (
        Example(TOGETHER.replace("ACTOR", "-(chances.log_prob(acts) * delta.detach()).mean()"), *CRITIC_KEEPS),
        Example(ASCENT, "(0.1 * losses)", "(0.1 * losses.detach())"),
        Example(GATED, *CUT_BEFORE),
        Example(
            ASCENT.replace("(4, 1)", "(4, 2)")
            .replace("- 1).square().mean((1, 2))", "- 1).square()")
            .replace("(0.1 * losses)", "(0.1 * losses[..., 1].mean(1))")
            .replace("losses @", "losses[..., 0].mean(1) @"),
            *CUT_BEFORE,
        ),
        Example(VIEWS.replace("LOG", "(target + 0.01).log()"), *OUT_OF_PLACE),
        Example(OWN.replace("LOG", "(chance + 0.01).log()"), *SQUARED),
        Example(OWN.replace("LOG", "chance.clamp(min=0.01).log()"), *SQUARED),
        Example(VIEWS.replace("LOG", "other.tanh()"), *OUT_OF_PLACE),
        Example(
            OWN_SHARE.replace("share /= share.sum(0)", "share /= share.max(0).values"),
            "share /= share.max(0).values",
            "share = share / share.max(0).values",
        ),
        Example(OWN_SHARE.replace("worth).sum(0)", "net(seen[:, :, :4]).sum(2)).sum(0)"), *SHARED_OUT),
        Example(
            IMPORTANCE.replace("net = nn.Linear(4, 3)", "net = nn.Sequential(nn.Linear(4, 3), nn.Linear(1, 1))")
            .replace("net(seen)", "net[0](seen)")
            .replace("SHARE", "net[1](worth.unsqueeze(2)).squeeze(2).exp()"),
            *SHARED_OUT,
        ),
        Example(
            OTHER.replace("one, other = head(net(seen)", "one, other = teacher(start(seen)").replace(*TEACHER),
            *OUT_OF_PLACE,
        ),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        fact = trained(evidence, evidence.reading, aims.WEIGHT)
        return None if fact is None else self.found(fact.stack)
