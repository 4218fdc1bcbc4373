"""An optimizer steps without any gradient

## What it finds

An optimizer made at least three steps in the edited run, and none of them used a gradient, although a loss depends on
the values of its parameters. Or all gradients were zero, and the optimizer would have been trained if no gradient
flowed into earlier passes. Or its first steps used gradients, and at
least three later ones none, up to the end: they do in the code, and what it owns is used in the first pass alone, and
cut behind it; or the code itself goes backward before each of them from a loss that depends on what it owns.

This is not said where the optimizer waits: no loss is computed from its network (idle, gated, or of another phase), all
that it owns is frozen, a term has the weight 0 for now, or some later step did have a gradient.

## Why it matters

The network is not trained. One example is a generator whose loss is made of `D(fake.detach())`. Another is a policy
whose old log-probabilities are computed together with its new ones, so that their ratio is 1 and its gradient 0.
"""

from __future__ import annotations

from itertools import takewhile

from autofix.experiments.compare import comparable
from autofix.experiments.readings.learning import LEAST
from autofix.experiments.sketches import norm
from autofix.probe import wire
from autofix.verdict.property import Evidence, Example, Finding, Property

GAN = """\
G, D = nn.Linear(4, 6), nn.Linear(6, 1)
opt_g, opt_d = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
real, one, zero = torch.randn(8, 6), torch.ones(8, 1), torch.zeros(8, 1)
for step in range(6):
    fake = G(torch.randn(8, 4))
    score = D(fake.detach())
    loss_d = F.mse_loss(D(real), one) + F.mse_loss(score, zero)
    train[opt_d]: loss_d
    loss_g = F.mse_loss(score, one)
    train[opt_g]: loss_g
"""
POLICY = """\
policy = nn.Linear(4, 2)
optimizer = torch.optim.SGD(policy.parameters(), lr=0.05)
for _ in range(4):
    seen = torch.randn(10, 4)
    old = policy(seen).log_softmax(-1)[:, 0]
    for epoch in range(2):
        new = policy(seen).log_softmax(-1)[:, 0]
        loss = -((new - old).exp() * seen[:, 0]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
WITH_CRITIC = POLICY.replace(
    "optimizer = ", "critic = nn.Linear(4, 1)\nof_critic = torch.optim.SGD(critic.parameters(), lr=0.05)\noptimizer = "
).replace(
    "        optimizer.step()",
    "        optimizer.step()\n"
    "        value = critic(seen).square().mean()\n"
    "        of_critic.zero_grad()\n"
    "        value.backward()\n"
    "        of_critic.step()",
)
ENTROPY = POLICY.replace(".mean()", ".mean() + 0.1 * new.mean()")
GATED = (
    ENTROPY.replace(
        "optimizer = ", "extra = nn.Linear(4, 1)\nof_extra = torch.optim.Adam(extra.parameters())\noptimizer = "
    )
    .replace("0.1 * new.mean()", "0.1 * new.mean() + 0.0 * extra(seen).mean()")
    .replace("        optimizer.step()", "        optimizer.step()\n        of_extra.step()")
)
FAST = """\
w, gain = torch.nn.Parameter(torch.randn(3, 1)), torch.nn.Parameter(torch.ones(1))
optimizer = torch.optim.SGD([w], lr=0.05)
fast = w
for _ in range(6):
    x = torch.randn(6, 3)
    slope, = torch.autograd.grad((x @ fast - 1).square().mean(), fast, create_graph=True)
    fast = fast - 0.1 * slope
    loss = (gain * x @ fast - 1).square().mean()
    train: loss
"""
STORED = """\
marker, reader = nn.Linear(4, 6), nn.Linear(6, 1)
optimizer, of_reader = torch.optim.Adam(marker.parameters()), torch.optim.Adam(reader.parameters())
for _ in range(120):
    first = (reader(torch.randn(8, 6)) - 1).square().mean()
    train[of_reader]: first
for parameter in reader.parameters():
    parameter.requires_grad = False
for _ in range(5):
    marked = marker(torch.randn(8, 4)).sigmoid()
    stored = (marked * 255).round().to(torch.uint8).float() / 255
    loss = (reader(stored) - 1).square().mean()
    train: loss
"""
CAST = ".round().to(torch.uint8).float()"
HANDED_ON = ("    optimizer.step()\n", "    optimizer.step()\n    fast = fast.detach().requires_grad_()\n")
NEW = "        new = policy(seen)"
ANEW = "        old = policy(seen).log_softmax(-1)[:, 0]\n" + NEW
FLAGS = """\
G, D = nn.Linear(4, 6), nn.Linear(6, 1)
opt_g, opt_d = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
real = torch.randn(8, 6)
for step in range(7):
    z = torch.randn(8, 4)
    loss_d, loss_g = D(G(z)).square().mean() - D(real).mean(), -D(G(z)).square().mean()
    D.requires_grad_(True)
    train[opt_d]: loss_d
    D.requires_grad_(False)
    train[opt_g]: loss_g
"""
AFTER = (
    "    train[opt_d]: loss_d\n    D.requires_grad_(False)\n    train[opt_g]: loss_g\n",
    """\
    opt_d.zero_grad()
    loss_d.backward()
    D.requires_grad_(False)
    opt_g.zero_grad()
    loss_g.backward(inputs=list(G.parameters()))
    opt_d.step()
    opt_g.step()
""",
)
IDLE = GAN.replace("score = D(fake.detach())", "score = D(torch.randn(8, 6))")


class StepsWithoutGradient(Property):
    sentence = "the optimizer of {owner} makes {count} steps {how}, although a loss depends on its parameters"
    raises = (
        Example(GAN, "loss_g = F.mse_loss(score, one)", "loss_g = F.mse_loss(D(fake.detach()), one)"),
        Example(POLICY, NEW, ANEW),
        Example(WITH_CRITIC, NEW, ANEW),
        Example(FAST, *HANDED_ON),
        Example(FLAGS, *AFTER),
    )
    silent = (
        Example(IDLE, "loss_g = F.mse_loss(score, one)", "loss_g = F.mse_loss(D(torch.randn(8, 6)), one)"),
        Example(ENTROPY, NEW, ANEW),
        Example(GATED, NEW, ANEW),
        Example(FAST.replace("[w]", "[w, gain]"), *HANDED_ON),
        Example(STORED, CAST, ""),
        Example(STORED, "(stored) - 1", "(stored) - 1 + 0.1 * marked.mean()"),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        live = evidence.edited
        for index in range(len(live.counts)):
            count, gradients = _used(live, index)
            if any(map(_sent, live.of(index))):
                count, gradients = _in_vain(evidence.letter, live, index), []
                starved = count >= LEAST
            else:
                starved = count >= LEAST and _is_starved(evidence, index, zeros=bool(gradients))
            if not starved:
                continue
            owner = ", ".join(live.owners(index)) or f"number {index + 1}"
            how = "with nothing but zeros for gradients" if gradients else "without any gradient"
            return self.found(owner=owner, how=how, count=str(count))
        return None


def _in_vain(letter: wire.Trace, live: wire.Trace, index: int) -> int:
    """How many of an optimizer's last steps use no gradient, each of which does in the code, or is meant to."""
    theirs, mine = (list(map(_sent, run.of(index))) for run in (letter, live))
    pairs = list(zip(theirs, mine, strict=False))
    lost = sum(1 for _ in takewhile(lambda pair: pair == (True, False), reversed(pairs)))
    idle = sum(1 for _ in takewhile(lambda sent: not sent, reversed(theirs)))
    # The first of them is not followed yet.
    meant = dict(letter.vain).get(index, 0) >= LEAST - 1 and not any(mine[len(theirs) - idle :])
    return max(lost, idle if meant else 0)


def _sent(step: wire.Step) -> bool:
    return any(map(norm, step.gradients))


def _used(run: wire.Trace, index: int) -> tuple[int, list[tuple[float, ...]]]:
    """How many steps an optimizer made that asks for gradients, and the gradients that they used."""
    steps = [step for step in run.of(index) if step.settings != "closure" and step.asks]
    return len(steps), [gradient for step in steps for gradient in step.gradients if gradient]


def _is_starved(evidence: Evidence, index: int, *, zeros: bool) -> bool:
    """Whether something speaks for it that the optimizer was to be trained.

    A loss depends on what it owns, or is made of it by what has no slope; or, of gradients that cancel, what earlier
    passes left is one side of it.
    """
    if index in evidence.letter.used:
        return True
    if not zeros:
        return bool(_used(evidence.letter, index)[1])
    return not comparable(evidence.cut) and any(map(norm, _used(evidence.cut, index)[1]))
