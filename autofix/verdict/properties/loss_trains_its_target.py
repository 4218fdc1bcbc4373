"""A loss trains what it is given as its target

## What it finds

A loss is given a target with a graph, and the failure lies in that graph: another backward freed what it leads to, or
an optimizer moved it. So may a later failure, which the run did not come to and the edit avoids: where some backward
would have freed the graph of a target. Or the code makes the target where it has gradients off, and a loss needs what
else is made there, as the prediction is. The edit keeps that graph. The target is what torch calls so among the
parameters of its losses. Where two sides may change places, as in a squared error, a difference that is written by
hand, or a cosine, also as the product of two tensors of length one, it is the one that the run tells:

- the other side has owned parameters of its own, a predictor, and the target has none;
- or both are what one network gives, or choices of it, and a constant is added to the target alone, as a reward is;
- or what either side has of its own belongs to different optimizers, and the target alone leads to what failed.

This is not said

- where the prediction is made of the target, too, as that of a decoder that is to give back what it was given: it has
  no other way to learn;
- where something that an optimizer owns learns through the target alone, and would never learn if it were cut;
- where training is the same either way, as with a teacher that no optimizer owns, or where `zero_grad` throws away what
  the target got;
- of a difference or a cosine both of whose sides are made alike: two views of one network, neighbouring frames, two
  towers of one optimizer. Such sides are mostly trained both;
- where the forward itself wrote what backward needs, and the prediction needs that memory, too, before this write or
  another: such a failure says nothing of the target;
- where the edit cuts the graph that failed, between passes or between losses. Then no other backward goes through that
  of the target, and what a loss trains in a graph of its own is what the code says.

## Why it matters

A target is mostly meant as a constant (a reward, a bootstrapped value, the answer of a teacher or of a peer), and the
failure shows that the author did not see its graph. With it, the loss also falls by what the target becomes: an encoder
learns to make it easy. Consistency between two views, and peers that learn from each other, may be meant either way,
and nothing else in the code tells: of the public scripts with such a failure that were looked at, the target was a
constant in seven of nine, and in two nobody could say; in none was it to be trained for sure.
"""

from __future__ import annotations

from autofix.verdict.left_open.aims import trained
from autofix.verdict.property import Effect, Evidence, Example, Finding, Property
from autofix.verdict.shared import aims

SKILLS = """\
encoder, skills, value = nn.Linear(4, 3), nn.Linear(3, 3), nn.Linear(3, 1)
skill_opt = torch.optim.SGD(skills.parameters(), lr=0.1)
value_opt = torch.optim.SGD([*encoder.parameters(), *value.parameters()], lr=0.1)
for _ in range(4):
    skill = torch.randint(3, (6,))
    seen = encoder(torch.randn(6, 4)).tanh()
    logits = skills(seen)
    skill_loss = F.cross_entropy(logits, skill)
    reward = logits.log_softmax(1).gather(1, skill[:, None])
    skill_opt.zero_grad()
    skill_loss.backward()
    value_loss = LOSS
    train[value_opt]: value_loss
    skill_opt.step()
"""
TARGET = SKILLS.replace("LOSS", "F.mse_loss(value(seen), reward)")
TOGETHER = """\
class Peer(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 3)
        self.optimizer = torch.optim.SGD(self.parameters(), lr=0.1)

    def forward(self, x):
        return self.net(x).log_softmax(1)

one, other = Peer(), Peer()
agree = nn.KLDivLoss(reduction="batchmean", log_target=True)
for _ in range(4):
    seen, label = torch.randn(6, 4), torch.randint(3, (6,))
    first, second = one(seen), other(seen)
    losses = [agree(first, second), agree(target=first, input=second)]
    one.optimizer.zero_grad(); other.optimizer.zero_grad()
    for loss in losses:
        loss.backward()
    for peer in (one, other):
        peer.optimizer.step()
"""
LATER = TARGET.replace(
    "    value_loss =", "    size_loss = 0.1 * seen.square().mean()\n    size_loss.backward()\n    value_loss ="
)
KEPT = ("skill_loss.backward()", "skill_loss.backward(retain_graph=True)")
TWO_VIEWS = """\
encoder, predictor, head = nn.Linear(4, 3), nn.Linear(3, 3), nn.Linear(3, 1)
optimizer = torch.optim.SGD([*encoder.parameters(), *predictor.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    seen = torch.randn(6, 4)
    z1, z2 = encoder(seen).tanh(), encoder(seen + 0.1 * torch.randn(6, 4)).tanh()
    optimizer.zero_grad()
    FIRST
    SECOND
    optimizer.step()
"""
SYMMETRIC = TWO_VIEWS.replace("FIRST", "(1 - F.cosine_similarity(predictor(z1), z2)).mean().backward()").replace(
    "SECOND", "(1 - F.cosine_similarity(z1, predictor(z2))).mean().backward()"
)
UNITS = "(1 - (F.normalize({}, dim=1) * F.normalize({}, dim=1)).sum(1)).mean().backward()"
IN_TURN = TWO_VIEWS.replace("FIRST", UNITS.format("predictor(z1)", "z2")).replace(
    "SECOND", UNITS.format("predictor(z2)", "z1")
)
ALIKE = TWO_VIEWS.replace("FIRST", UNITS.format("z1", "z2")).replace("SECOND", "head(z1).square().mean().backward()")
WEIGHED = TWO_VIEWS.replace("FIRST", "(F.normalize(predictor(z1), dim=1) * z2).sum(1).square().mean().backward()")
WEIGHED = WEIGHED.replace("SECOND", "(F.normalize(predictor(z2), dim=1) * z1).sum(1).square().mean().backward()")
SHARES = IN_TURN.replace("F.normalize(z1, dim=1)", "(z1 / (z1 * head.weight).add(9))").replace(
    "F.normalize(z2, dim=1)", "(z2 / (z2 * head.weight).add(9))"
)
SIAMESE = TWO_VIEWS.replace("FIRST", "(predictor(z1) + head(z1)).square().mean().backward()").replace(
    "SECOND", "(z1 - z2).norm(dim=1).mean().backward()"
)
DECODED = TWO_VIEWS.replace("FIRST", "head(z1).square().mean().backward()").replace(
    "SECOND", "((predictor(z1) - z1).abs().mean() + head(z2).square().mean()).backward()"
)
TOWERS = (
    SIAMESE.replace("z1, z2 = encoder(seen)", "z1, z2 = predictor(encoder(seen))")
    .replace("(predictor(z1) + head(z1))", "head(z1)")
    .replace("encoder(seen + 0.1 * torch.randn(6, 4))", "other(seen)")
    .replace(
        "encoder, predictor, head = nn.Linear(4, 3),",
        "encoder, other, predictor, head = nn.Linear(4, 3), nn.Linear(4, 3),",
    )
    .replace("[*encoder", "[*other.parameters(), *encoder")
)
BOOTSTRAPPED = """\
value, slow = nn.Linear(4, 1), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*value.parameters(), *slow.parameters()], lr=0.1)
for _ in range(4):
    seen, then, reward = torch.randn(6, 4), torch.randn(6, 4), torch.randn(6, 1)
    optimizer.zero_grad()
    later = value(then).tanh()
    (later - slow(then)).square().mean().backward()
    (TOWARDS - value(seen).tanh()).square().mean().backward()
    optimizer.step()
"""
TEMPORAL = BOOTSTRAPPED.replace("TOWARDS", "reward + 0.9 * later")
NEAR = BOOTSTRAPPED.replace("TOWARDS", "later")
FIRST_KEPT = ("mean().backward()", "mean().backward(retain_graph=True)")
BY_HAND = SKILLS.replace("LOSS", "(value(seen) - reward).square().mean()")
ASSIGNED = """\
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


@torch.no_grad()
def assign(out):
    best = out[:, 0].topk(3).indices
    return out[best, 1], out[best, 1].sigmoid(), best


for _ in range(5):
    out = net(torch.randn(6, 3))
    kept, quality, best = assign(out)
    far = (kept - 1).square().mean()
    optimizer.zero_grad()
    far.backward(retain_graph=True)
    loss = F.binary_cross_entropy_with_logits(out[best, 0], quality)
    loss.backward()
    optimizer.step()
"""
LIFTED = ("@torch.no_grad()\n", "")
BOTH_OFF = """\
q = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3))
optimizer = torch.optim.SGD(q.parameters(), lr=0.1)
for _ in range(5):
    seen, then, reward, action = torch.randn(6, 4), torch.randn(6, 4), torch.randn(6), torch.randint(3, (6, 1))
    with torch.no_grad():
        later = REWARD + 0.9 * q(then).max(1).values
        value = q(seen).gather(1, action).squeeze(1)
    loss = (value - later).square().mean()
    train: loss
"""
ON = ("torch.no_grad()", "torch.enable_grad()")
BY_PLACE = ("kept - 1", "out[best, 1] - 1")
FOLLOWED = """\
encoder, head = nn.Linear(4, 3), nn.Linear(3, 1)
optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
kept = torch.zeros(3)
for _ in range(5):
    seen = encoder(torch.randn(6, 4)).tanh()
    before, mean = kept, seen.mean(0)
    kept = 0.7 * kept.detach() + 0.3 * mean
    loss = head(seen + before).square().mean() + (mean - kept).square().sum()
    train: loss
"""
ERROR = """\
actor, critic = nn.Linear(4, 2), nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))
of_actor, of_critic = (torch.optim.SGD(one.parameters(), lr=0.05) for one in (actor, critic))
for _ in range(5):
    state, then, reward = torch.randn(6, 4), torch.randn(6, 4), torch.randn(6, 1)
    error = reward + 0.9 * critic(then) - critic(state)
    of_critic.zero_grad()
    error.square().mean().backward()
    loss = -(actor(state).log_softmax(1)[:, :1] * error).mean()
    train[of_actor]: loss
    of_critic.step()
"""

SCALED = """\
encoder, model = nn.Linear(4, 3), nn.Linear(3, 3)
optimizer = torch.optim.SGD([*encoder.parameters(), *model.parameters()], lr=0.1)
scale = torch.ones(3)

def embed(x):
    z = encoder(x).tanh()
    out = z / scale
    with torch.no_grad():
        scale.lerp_(z.std(0) + 0.1, 0.3)
    return out

for _ in range(5):
    seen, then = torch.randn(6, 4), torch.randn(6, 4)
    z, later = embed(seen), embed(then)
    loss = F.smooth_l1_loss(model(z), later)
    train: loss
"""
OWN_SCALE = ("z / scale", "z / scale.clone()")


class LossTrainsItsTarget(Property):
    sentence = (
        "this loss also trains its own target, through a graph that another loss uses or that the code makes with "
        "gradients off. The target may be meant as a constant"
    )
    raises = (
        Example(TARGET, *KEPT),
        Example(
            TARGET.replace("F.mse_loss(value(seen), reward)", "nn.L1Loss()(target=reward, input=value(seen))"), *KEPT
        ),
        Example(LATER, "_loss.backward()", "_loss.backward(retain_graph=True)"),
        Example(TOGETHER, "loss.backward()", "loss.backward(retain_graph=True)"),
        Example(SKILLS.replace("LOSS", "F.mse_loss(reward, value(seen))"), *KEPT),
        Example(BY_HAND, *KEPT),
        Example(SYMMETRIC, *FIRST_KEPT),
        Example(IN_TURN, *FIRST_KEPT),
        Example(TEMPORAL, *FIRST_KEPT),
        Example(SCALED.replace("embed(seen), embed", "encoder(seen).tanh(), embed"), *OWN_SCALE),
        Example(ASSIGNED, *LIFTED),
        Example(BOTH_OFF.replace("REWARD", "reward"), *ON),
    )
    silent = (
        Example(SKILLS.replace("LOSS", "(value(seen) * reward).square().mean()"), *KEPT),
        Example(SKILLS.replace("LOSS", "F.mse_loss(value(seen).expand(6, 3), seen)"), *KEPT),
        Example(TARGET, "value(seen), reward", "value(seen.detach()), reward.detach()"),
        Example(BY_HAND, "(seen) - reward", "(seen.detach()) - reward.detach()"),
        Example(SIAMESE, *FIRST_KEPT),
        Example(ALIKE, *FIRST_KEPT),
        Example(WEIGHED, *FIRST_KEPT),
        Example(SHARES, *FIRST_KEPT),
        Example(DECODED, *FIRST_KEPT),
        Example(TOWERS, *FIRST_KEPT),
        Example(NEAR, *FIRST_KEPT),
        Example(FOLLOWED, "before, mean = kept", "before, mean = kept.detach()"),
        Example(SCALED, *OWN_SCALE),
        Example(ERROR, "[:, :1] * error", "[:, :1] * error.detach()"),
        Example(ASSIGNED, *BY_PLACE),
        Example(BOTH_OFF.replace("REWARD + ", ""), *ON),
        Example(BOTH_OFF.replace("later = REWARD", "later = reward").replace("q(then)", "q(then).detach()"), *ON),
        Example(ASSIGNED.replace("quality)", "torch.ones(3))"), *LIFTED),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        reading = evidence.assessment.reading
        if evidence.assessment.effect is Effect.TRUNCATED or (reading and (reading.apart or reading.targets)):
            return None
        fact = trained(evidence, evidence.reading, aims.TARGET)
        return None if fact is None else self.found(fact.stack)
