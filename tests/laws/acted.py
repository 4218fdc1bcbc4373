"""What is acted on is data: samples that an environment is given, and what is easily mistaken for them."""

from __future__ import annotations

from lawful import Program

_EDITS = {
    "data": (("* torch.randn_like(mean)", "* torch.randn_like(mean)\n    act = act.detach()"),),
    "handed over": (("act.numpy()", "act.detach().numpy()"),),
    "mean cut": (("Normal(mean, spread)", "Normal(mean.detach(), spread)"), ("act.numpy()", "act.detach().numpy()")),
}
POLICY = Program(
    "a sample is weighed by what came of it",
    """\
actor = Net(3, 2)
optimizer = Optimizers(actor, kind=torch.optim.Adam)
for _ in range(5):
    seen = torch.randn(6, 3)
    mean, spread = actor(seen).chunk(2, 1)
    spread = spread.exp()
    act = mean + spread * torch.randn_like(mean)
    earned = torch.as_tensor(-abs(act.numpy() - 0.5))
    chance = torch.distributions.Normal(mean, spread).log_prob(act)
    loss = -(chance * earned).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    _EDITS,
    frozenset({"data"}),
)
FIXED = POLICY.mutated(
    "a sample of a spread that nobody trains is weighed by what came of it",
    ("actor = Net(3, 2)", "actor = Net(3, 1)"),
    ("mean, spread = actor(seen).chunk(2, 1)", "mean = actor(seen)"),
    ("spread = spread.exp()", "spread = torch.tensor(0.4)"),
    right=("data",),
)
ADDED = POLICY.mutated(
    "what came of the sample is added to its log-probability, and weighs nothing",
    ("chance * earned", "chance + earned"),
)
JUDGED = POLICY.mutated(
    "a critic judges the sample, too, and what came of it weighs its log-probability",
    ("actor = Net(3, 2)", "actor, critic = Net(3, 2), Net(4, 1).requires_grad_(False)"),
    ("loss = -", "loss = -critic(torch.cat([seen, act], 1)).mean() - "),
    right=("handed over",),
)
SHOWN = POLICY.mutated(
    "what came of the sample is only shown",
    ("chance * earned", "chance"),
    ("    loss =", "    print(earned.mean())\n    loss ="),
    right=("handed over",),
)
COUNTED = POLICY.mutated(
    "what came of the sample is only an input to what is trained",
    ("actor = Net(3, 2)", "actor, head = Net(3, 2), Net(1, 1)"),
    ("Optimizers(actor,", "Optimizers(actor, head,"),
    ("loss = -(chance * earned).mean()", "loss = (head(earned) - act).square().mean() - spread.log().mean()"),
    right=("handed over", "mean cut"),
)
BOUND = Program(
    "a bound that the sample goes through has a part in the density that is weighed",
    """\
import torch

actor = Net(1, 2)
optimizer = Optimizers(actor)
seen = torch.zeros(6, 1)
for _ in range(5):
    mean, spread = actor(seen).chunk(2, 1)
    spread = spread.exp()
    raw = mean + spread * torch.randn_like(mean)
    act = torch.tanh(raw)
    seen = torch.tensor([[float(str(one))] for one in act.numpy()[:, 0]])
    earned = -abs(seen - 0.5)
    chance = torch.distributions.Normal(mean, spread).log_prob(raw) - torch.log(1.01 - act**2)
    loss = -(chance * earned).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    {
        "data": (("* torch.randn_like(mean)", "* torch.randn_like(mean)\n    raw = raw.detach()"),),
        "handed over": (("act.numpy()", "act.detach().numpy()"),),
        "bound cut": (("torch.tanh(raw)", "torch.tanh(raw.detach())"),),
    },
    frozenset({"data"}),
)
MATRIX = BOUND.mutated(
    "all that came of the samples weighs their densities in one product",
    ("-(chance * earned).mean()", "-chance[:, 0] @ earned[:, 0]"),
    right=("data",),
)
CLIPPED = BOUND.mutated(
    "a minimum with a clipped ratio lies between the densities and what weighs them",
    (
        "    loss = -(chance * earned).mean()",
        "    loss = -torch.minimum(chance.exp() * earned, chance.exp().clamp(0.8, 1.2) * earned).mean()",
    ),
)
ENTROPY = BOUND.mutated(
    "an entropy is estimated by samples, of which the network sees what came of them",
    ("-(chance * earned)", "(0.2 * chance)"),
    right=("handed over",),
)
LEARNED = BOUND.mutated(
    "the weight of an entropy is learned",
    ("actor = Net(1, 2)", "actor, one, weight = Net(1, 2), torch.ones(1), Net(1, 1)"),
    ("Optimizers(actor)", "Optimizers(actor, weight)"),
    ("-(chance * earned).mean()", "(weight(one).detach() * chance - weight(one) * chance.detach()).mean()"),
    right=("handed over",),
)
MODELLED = BOUND.mutated(
    "a network that is not trained judges the sample, weighed by what came of it",
    ("actor = Net(1, 2)", "actor, model = Net(1, 2), Net(1, 1).requires_grad_(False)"),
    ("chance * earned", "model(act) * earned"),
    right=("handed over",),
)
PROGRAMS = [POLICY, FIXED, ADDED, JUDGED, SHOWN, COUNTED, BOUND, MATRIX, CLIPPED, ENTROPY, LEARNED, MODELLED]
