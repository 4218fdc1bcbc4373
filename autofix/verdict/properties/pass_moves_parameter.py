"""Each pass moves a parameter beside its steps

## What it finds

A forward writes into a parameter what was made of it, such as `weight *= 0.7` or `weight.add_(noise)`, before that
parameter was trained, and an optimizer trains it. The edit makes that write one without gradient: then each pass moves
the parameter once more, by more than the steps between do; where it shrinks what it is made of, or does not take back
what a step did, a part of them is enough. This is not said of a write behind a step, of a slow decay, nor of a clamp, a
mask or a norm, which move nothing that no step has moved.

## Why it matters

Such a write is mostly meant for the pass alone: a code that is scaled before it is used, a weight with noise. Then it
belongs on a copy. As an update it goes on and on, and the training runs against it.
"""

from __future__ import annotations

from autofix.verdict.property import Example, OfTheCode

SCALED = """\
net = torch.nn.Linear(4, 2).requires_grad_(False)
code = torch.randn(3, 4, requires_grad=True)
optimizer = torch.optim.Adam([code], lr=0.01)
for _ in range(5):
    code.mul_(0.7)
    loss = (net(code) - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
ROWS = SCALED.replace("code.mul_(0.7)", "code[:, 1:] = 0.1 + 0.7 * (code[:, 1:] - 0.1)")
BEHIND = SCALED.replace("    code.mul_(0.7)\n", "").replace("step()\n", "step()\n    code.mul_(0.7)\n")
WITHOUT = "    code", "    with torch.no_grad(): code"
DATA = "code.mul_", "code.data.mul_"
DATA_ROWS = "code[:, 1:] = 0.1 + 0.7 * (code", "code.data[:, 1:] = 0.1 + 0.7 * (code.data"
QUICK = ROWS.replace("lr=0.01", "lr=0.2")


def _of(write: str, text: str = SCALED) -> str:
    return text.replace("code.mul_(0.7)", write)


CHAIN = _of("code[1] += 0.5 * code[0].detach()")
CHAIN_BEHIND = _of("code[1] += 0.5 * code[0].detach()", BEHIND)
LATER = CHAIN.replace(
    "    code[1]",
    """\
    critic_loss = critic(torch.randn(3, 4)).square().mean()
    train[of_critic]: critic_loss
    code[1]""",
).replace(
    "for _",
    "critic = torch.nn.Linear(4, 1)\nof_critic = torch.optim.SGD(critic.parameters(), lr=0.01)\nfor _",
)


class PassMovesParameter(OfTheCode):
    fact = "moved-again"
    sentence = (
        "done under no_grad, this write changes {subject} once more in each iteration; it may be meant for one "
        "iteration alone"
    )
    raises = (
        Example(SCALED, *DATA),
        Example(ROWS, *WITHOUT),
        Example(QUICK, *WITHOUT),
        Example(QUICK, *DATA_ROWS),
        Example(_of("code.add_(0.3 * torch.randn(3, 4))"), *WITHOUT),
        Example(CHAIN, *WITHOUT),
        Example(CHAIN.replace("lr=0.01", "lr=0.2"), *WITHOUT),
        Example(LATER, *WITHOUT),
    )
    silent = (
        Example(_of("code.clamp_(-0.5, 0.5)"), *WITHOUT),
        Example(_of("code.div_(code.detach().norm(dim=1, keepdim=True))"), *WITHOUT),
        Example(_of("code[:, 1:] = code[:, 1:].clamp(-0.5, 0.5)"), *WITHOUT),
        Example(_of("code[:, 1:] = F.normalize(code[:, 1:], dim=1)").replace("lr=0.01", "lr=0.2"), *WITHOUT),
        Example(_of("code.copy_(code - code.mean(1, keepdim=True))").replace("lr=0.01", "lr=0.2"), *WITHOUT),
        Example(_of("code[:, 1:] = 0.99 * code[:, 1:]").replace("lr=0.01", "lr=0.2"), *WITHOUT),
        Example(_of("code.mul_(torch.tensor([0.0, 1.0, 1.0, 1.0]))"), *WITHOUT),
        Example(_of("code.div_(code.detach().norm(dim=1, keepdim=True))").replace("lr=0.01", "lr=0.2"), *WITHOUT),
        Example(_of("code[1:] -= code[1:].detach().mean(1, keepdim=True)").replace("lr=0.01", "lr=0.2"), *WITHOUT),
        Example(
            _of("code.mul_(code.detach().abs() >= code.detach().abs().median())").replace("lr=0.01", "lr=0.2"), *WITHOUT
        ),
        Example(BEHIND, *DATA),
        Example(CHAIN_BEHIND, *WITHOUT),
    )
