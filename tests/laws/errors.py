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


PROGRAMS = (
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
