"""A gradient is sent on once: a loss that goes backward at two places, and what is easily mistaken for it."""

from __future__ import annotations

from lawful import Program

GONE = "    loss.backward()\n    return loss"
KEPT = GONE.replace("()", "(retain_graph=True)")
TRAINER = Program(
    "a criterion and its trainer both go backward",
    """\
net = Net(3, 2)
both = Optimizers(net)


def criterion(out, aim):
    loss = (out - aim).square().mean()
    loss.backward()
    return loss


for _ in range(4):
    loss = criterion(net(torch.randn(5, 3)), torch.rand(5, 2))
    loss.backward()
    both.step()
    both.zero_grad()
""",
    {
        "the trainer alone": ((GONE, "    _ = loss\n    return loss"),),
        "the criterion alone": (("    loss.backward()\n    both", "    _ = loss\n    both"),),
        "a copy of the graph": ((GONE, KEPT),),
        "half of each": (
            (GONE, KEPT.replace("loss.b", "(loss / 2).b")),
            ("    loss.backward()\n    both", "    (loss / 2).backward()\n    both"),
        ),
        "half of it": (
            (GONE, "    _ = loss\n    return loss"),
            ("    loss.backward()\n    both", "    (0.5 * loss).backward()\n    both"),
        ),
    },
    frozenset({"the trainer alone", "the criterion alone"}),
)
BETWEEN = "torch.rand(5, 2))\n"
PROGRAMS = [
    TRAINER,
    TRAINER.mutated("a step lies between", (BETWEEN, f"{BETWEEN}    both.step()\n")),
    TRAINER.mutated(
        "gradients are cleared between",
        (BETWEEN, f"{BETWEEN}    both.zero_grad()\n"),
        right=("the trainer alone", "a copy of the graph"),
    ),
    TRAINER.mutated(
        "the second is a total",
        (BETWEEN, f"{BETWEEN}    loss = 0.5 * loss + 0.1 * net.out.weight.square().sum()\n"),
    ),
    Program(
        "one place goes backward again and again",
        TRAINER.text.replace("    loss.backward()\n    return", "    return").replace(
            "    loss.backward()\n    both", "    for _ in range(2):\n        loss.backward()\n    both"
        ),
        {
            "once": (("    for _ in range(2):\n        loss", "    for _ in range(1):\n        loss"),),
            "a copy of the graph": (("loss.backward()", "loss.backward(retain_graph=True)"),),
        },
    ),
]
