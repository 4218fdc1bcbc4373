"""An error only weighs: advantages, and what only looks like them."""

from __future__ import annotations

from lawful import Program
from scripts import Change

TEXT = """\
class Both(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk, self.policy, self.value = nn.Linear(4, 8), nn.Linear(8, 3), nn.Linear(8, 1)

    def forward(self, x):
        h = torch.tanh(self.trunk(x))
        return self.policy(h).log_softmax(1), self.value(h).squeeze(1)


net = Both()
optimizer = OPTIMIZER
for _ in range(5):
    seen, earned, act = torch.randn(6, 4), torch.randn(6), torch.randint(3, (6, 1))
    logp, value = net(seen)
    chosen = logp.gather(1, act).squeeze(1)
    error = ERROR
    actor = -(chosen * WEIGHT).mean()
    critic = CRITIC
    optimizer.zero_grad()
    actor.backward()
    critic.backward()
    optimizer.step()
"""
KEEP: Change = ("actor.backward()", "actor.backward(retain_graph=True)")


def weighed(  # noqa: PLR0913  each says what one part of the program is
    name: str,
    *,
    error: str = "earned - value",
    weight: str = "error",
    critic: str = "error.square().mean()",
    optimizer: str = "torch.optim.SGD(net.parameters(), lr=0.1)",
    right: tuple[str, ...] = ("constant",),
) -> Program:
    """A program whose actor is weighed by what its critic is to make small."""
    text = TEXT.replace("ERROR", error).replace("WEIGHT", weight).replace("CRITIC", critic)
    return Program(
        name,
        text.replace("OPTIMIZER", optimizer),
        {
            "constant": ((f"chosen * {weight}", f"chosen * ({weight}).detach()"), KEEP),
            "keep": (KEEP,),
            "the critic is cut": (KEEP, (f"critic = {critic}", f"critic = ({critic}).detach().requires_grad_()")),
            "the policy is cut": (KEEP, ("chosen * ", "chosen.detach() * ")),
            "computed anew": (
                ("    critic =", "    logp, value = net(seen)\n    error = " + error + "\n    critic ="),
            ),
            "one sum": (("    actor.backward()\n    critic.backward()", "    (actor + critic).backward()"),),
        },
        frozenset(right),
    )


EPOCHS = """\
policy, critic, other = Net(4, 3), Net(4, 1), Net(4, 1)
optimizer = torch.optim.SGD([p for net in (policy, critic, other) for p in net.parameters()], lr=0.1)
for _ in range(4):
    seen, earned, act = torch.randn(6, 4), torch.randn(6), torch.randint(3, (6, 1))
    with torch.no_grad():
        old = policy(seen).log_softmax(1).gather(1, act).squeeze(1)
    value = critic(seen).squeeze(1)
    error = ERROR
    for _ in range(3):
        ratio = (policy(seen).log_softmax(1).gather(1, act).squeeze(1) - old).exp()
        actor = -torch.min(ratio * error, ratio.clamp(0.8, 1.2) * error).mean()
        loss = actor + 0.5 * (FITTED - earned).square().mean() + other(seen).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


def shared_by_epochs(
    name: str, *, error: str = "earned - value", fitted: str = "critic(seen).squeeze(1)", right: tuple[str, ...] = ()
) -> Program:
    """A program whose epochs share what weighs their log-probabilities, in one loss with the critic's."""
    text = EPOCHS.replace("ERROR", error).replace("FITTED", fitted)
    made = f"    value = critic(seen).squeeze(1)\n    error = {error}\n"
    return Program(
        name,
        text,
        {
            "constant": ((f"error = {error}", f"error = ({error}).detach()"),),
            "without gradient": (("    value = critic", "    with torch.no_grad():\n        value = critic"),),
            "computed anew": ((made, ""), ("        ratio =", f"{made.replace('    ', ' ' * 8)}        ratio =")),
            "the term is cut": (("    loss = actor", "    loss = actor.detach()"),),
        },
        frozenset(right),
    )


PROGRAMS = (
    shared_by_epochs("epochs share an advantage", right=("constant", "without gradient")),
    shared_by_epochs(
        "epochs share an advantage that is rolled",
        error="torch.stack([earned - value, earned + 0.9 * value.roll(1) - value]).sum(0)",
        right=(),
    ),
    shared_by_epochs(
        "epochs share a standardised advantage of several steps",
        error="(torch.cat([(earned - value)[:2], earned[2:] + 0.9 * value[:4] - value[2:]]) - 0.1) / value.std()",
        right=("constant", "without gradient"),
    ),
    shared_by_epochs("epochs share a gate", error="torch.sigmoid(value)"),
    shared_by_epochs("epochs share what the critic gives", error="value"),
    shared_by_epochs("epochs share an advantage that is bent", error="(earned - value).square()"),
    shared_by_epochs(
        "no loss fits the critic, which learns by the weight alone",
        fitted="other(seen).squeeze(1)",
        right=("computed anew",),
    ),
    shared_by_epochs("the loss fits another value of the critic", fitted="critic(seen).exp().squeeze(1)"),
    weighed("an advantage that is squared"),
    weighed("a value that is held against what was earned", critic="F.mse_loss(value, earned)"),
    weighed("by a smooth size", critic="F.smooth_l1_loss(value, earned)"),
    weighed("an advantage that is scaled", weight="(0.5 * error)", critic="0.5 * (value - earned).pow(2).mean()"),
    weighed("an advantage of a discounted value", error="earned - 0.9 * value"),
    weighed("as columns", error="(earned - value)[:, None]", weight="error.squeeze(1)"),
    weighed("a standardised advantage", weight="((error - error.mean()) / (error.std() + 1e-8))"),
    weighed(
        "two errors, of which the other loss has one",
        weight="(error + logp[:, 0].exp())",
        right=("keep", "computed anew", "one sum"),
    ),
    weighed(
        "a gate that sums up to one",
        error="torch.sigmoid(value)",
        weight="(error / (error.sum() + 1e-8))",
        critic="(error - 0.3).square().mean()",
        right=(),
    ),
    weighed("a gate that is kept small", error="torch.sigmoid(value)", right=()),
    weighed(
        "a gate that is held to a share", error="torch.sigmoid(value)", critic="(error - 0.3).square().mean()", right=()
    ),
    weighed("the critic has another error", critic="(value.exp() - earned).square().mean()", right=()),
    weighed("the weight is bent", weight="error.square()", right=()),
    weighed("the weight is multiplied by itself", weight="(error * error)", right=()),
    weighed("the term is bent, not the weight").mutated(
        "the term is bent", ("error).mean()\n    critic", "error).exp().mean()\n    critic")
    ),
    weighed("the critic only sums it", critic="error.mean()", right=()),
    weighed(
        "what weighs another view",
        error="logp[:, 0].exp()",
        weight="error",
        critic="(error - 0.2).square().mean()",
        right=("keep", "computed anew", "one sum"),
    ),
)
