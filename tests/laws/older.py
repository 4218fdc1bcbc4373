"""What is compared is the older: what is held against its own former value, and what only looks like it."""

from __future__ import annotations

from dataclasses import replace

from lawful import Program

LOOP, NOW, FORMER = "    for _ in range(3):\n", "        now = give()\n", "    former = give()\n"
KEPT = Program(
    "a network is to give for old inputs what it gave before",
    """\
net, head = Net(3, 4), Net(4, 1)
both = Optimizers(net, head)
old = torch.eye(3)


def give():
    return net(old).sigmoid()


for _ in range(3):
    former = give()
    for _ in range(3):
        x, y = torch.randn(6, 3), torch.randn(6, 1)
        now = give()
        loss = F.mse_loss(head(net(x)), y) + (now - former).square().sum()
        both.zero_grad()
        loss.backward()
        both.step()
""",
    {
        "constant": ((FORMER, "    former = give().detach()\n"),),
        "without gradient": ((FORMER, "    with torch.no_grad():\n        former = give()\n"),),
        "cut in each pass": ((NOW, NOW + "        former = former.detach()\n"),),
        "anew": ((FORMER, ""), (NOW, NOW + "        former = give()\n")),
        "anew and cut": ((NOW, NOW + "        former = give().detach()\n"),),
        "keep": (("loss.backward()", "loss.backward(retain_graph=True)"),),
        "both cut": ((NOW, "        now, former = give().detach(), former.detach()\n"),),
    },
    frozenset({"constant", "without gradient", "cut in each pass"}),
)
RIGHT = tuple(KEPT.right)
PROGRAMS = (
    KEPT,
    KEPT.mutated("a ratio", ("(now - former).square()", "(now / former - 0.5).square()"), right=RIGHT),
    KEPT.mutated("it is held against what is given for other inputs", ("(now - former)", "(net(old + 0.1) - former)")),
    KEPT.mutated("noise in both", ("net(old).sigmoid()", "F.dropout(net(old).sigmoid(), 0.5)")),
    KEPT.mutated("it is trained by another term, too", ("square().sum()", "square().sum() + head(former).exp().sum()")),
    KEPT.mutated(
        "only something without a graph is compared with its former value",
        (FORMER, FORMER + "    held = [p.detach().clone() for p in net.parameters()]\n"),
        ("(now - former)", "(head(former) + sum((p - h).abs().sum() for p, h in zip(net.parameters(), held)))"),
    ),
    replace(
        KEPT.mutated(
            "what else is made once is compared with nothing",
            (FORMER, FORMER + "    mix = head(net(old)).softmax(0)\n"),
            ("+ (now", "+ (mix * net(old)).square().sum() + (now"),
        ),
        edits={
            "constant": ((FORMER, "    former = give().detach()\n"), ("softmax(0)", "softmax(0).detach()")),
            "anew": ((NOW, NOW + "        former, mix = give(), head(net(old)).softmax(0)\n"),),
            "only the other anew": (
                (FORMER, "    former = give().detach()\n"), (NOW, NOW + "        mix = head(net(old)).softmax(0)\n"),
            ),
        },
    ),
)  # fmt: skip
