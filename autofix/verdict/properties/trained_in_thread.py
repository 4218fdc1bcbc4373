"""Training runs in a thread of its own

## What it finds

A backward is called in another thread than the one that began the script, as by `ThreadPoolExecutor` or
`threading.Thread`. A thread that only loads data or plays is no such case.

## Why it matters

torch's modes, by which operations are watched, belong to one thread. What an edit does to values, draws and names
in another thread is not seen: gradients are compared there, but a write or a result that is lost is overlooked.
"""

from autofix.verdict.property import Example, Seen

POOL = """\
from concurrent.futures import ThreadPoolExecutor

net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
state = torch.zeros(1)


def train(x):
    global state
    out = net(x) + state
    loss = out.square().mean()
    train: loss
    state = out.mean(0)


with ThreadPoolExecutor(1) as pool:
    for _ in range(5):
        CALL
"""
CUT = ("out.mean(0)", "out.mean(0).detach()")
TRAINED = "pool.submit(train, torch.randn(4, 3)).result()"


class TrainedInThread(Seen):
    fact = "trained-in-thread"
    sentence = "this backward runs in a thread of its own, where the runs do not see all that the edit does"
    raises = (
        Example(POOL.replace("CALL", TRAINED), *CUT),
        Example(POOL.replace("CALL", "list(pool.map(train, [torch.randn(4, 3)]))"), *CUT),
    )
    silent = (
        Example(POOL.replace("CALL", "train(pool.submit(torch.ones, 4, 3).result())"), *CUT),
        Example(POOL.replace("CALL", "train(*pool.map(torch.ones, [4], [3]))"), *CUT),
    )
