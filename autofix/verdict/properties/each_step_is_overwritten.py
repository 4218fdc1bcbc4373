"""What each step moves is overwritten

## What it finds

An optimizer moves a parameter by its gradient. Before the next step, the code writes new values over it. The new values
were computed by other parameters, and nothing of this parameter is in them. An example is a queue of keys that is
declared as an `nn.Parameter`. The edit makes that write one without gradient. This is not said

- where the new values are plain numbers, data or an older value of the parameter;
- where several steps refine the parameter before it is written again;
- where the rows that are written had no gradient, as codes that no input chose.

## Why it matters

Each step is lost. Values that are overwritten in this way are mostly data (keys, features, prototypes), which no
optimizer should move. They belong into a buffer, or into a parameter that requires no gradient.
"""

from autofix.verdict.property import Example, OfTheCode

QUEUE = """\
net, keys = nn.Linear(4, 3), nn.Linear(4, 3).requires_grad_(False)
queue = nn.Parameter(torch.randn(8, 3))
optimizer = torch.optim.SGD([*net.parameters(), queue], lr=0.1)
for i in range(6):
    x = torch.randn(2, 4)
    at = 2 * i % 8
    loss = (net(x) @ queue.clone().t()).logsumexp(1).mean()
    new = keys(x)
    train: loss
    queue[at : at + 2] = new
"""
WITHOUT = ("    queue[at : at + 2] = new\n", "    with torch.no_grad():\n        queue[at : at + 2] = new\n")
WHOLE = QUEUE.replace("    queue[at : at + 2] = new\n", "    queue.copy_(keys(torch.randn(8, 4)))\n")
DATA = ("queue.copy_(", "queue.data.copy_(")
REFINED = """\
net, back = nn.Linear(4, 3), nn.Linear(3, 4)
code = nn.Parameter(torch.zeros(8, 3))
optimizer = torch.optim.SGD([code], lr=0.1)
for _ in range(4):
    x = torch.randn(8, 4)
    code.copy_(net(x))
    for _ in range(3):
        loss = (back(code) - x).square().mean()
        train: loss
"""


class EachStepIsOverwritten(OfTheCode):
    fact = "steps-overwritten"
    sentence = (
        "each step updates {subject}, and this line overwrites it with values computed without it. It may be data and"
        " no parameter"
    )
    raises = (Example(QUEUE, *WITHOUT), Example(WHOLE, *DATA))
    silent = (
        Example(
            QUEUE.replace("= new\n", "= 0.9 * queue[at : at + 2] + 0.1 * new\n"), "    queue[at", "    queue.data[at"
        ),
        Example(QUEUE.replace("= new\n", "= 0.0\n"), "    queue[at", "    queue.data[at"),
        Example(QUEUE.replace("queue.clone()", "queue[at - 2 : at].clone()"), *WITHOUT),
        Example(QUEUE.replace("new = keys(x)", "new = torch.randn(2, 3)"), *WITHOUT),
        Example(REFINED, "code.copy_", "code.data.copy_"),
    )
