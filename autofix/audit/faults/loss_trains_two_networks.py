"""One loss trains two networks that have other losses too.

## What it finds
Tells where a factor of a product, such as an advantage that was not detached, is trained by the product beside a loss
of its own, where a loss also sends gradient that another network's optimizer uses, where a graph grows from pass to
pass, and where a backward goes through a node that is older than the last update of its weights. All of these are
often meant, and none is an alarm.

## Why it matters
An actor's loss that also trains the critic moves the critic to where the actor looks good.

## What it cannot tell
Which of the networks a loss is meant for.
"""

from autofix.audit.fault import Fault, examples


class LossTrainsTwoNetworks(Fault):
    code, name = "AG542", "loss-trains-two-networks"
    law = "a loss trains what steps on it"
    noted = (
        ("factor-trains", "a factor of this product is trained by it too, beside a loss of its own: an advantage?"),
        ("loss-trains-two", "this loss also trains another network than {}, which has a loss of its own"),
        ("graph-grows", "the graph of this backward grows from pass to pass"),
        ("graph-older-than-update", "this backward goes through a node that is older than the last update of {}"),
    )
    finds, passes = examples("""\
trunk, a, b = nn.Linear(4, 4), nn.Linear(4, 1), nn.Linear(4, 1)
opt = optim.SGD([*trunk.parameters(), *a.parameters(), *b.parameters()], lr=0.1)
!
for _ in range(5):
    x = torch.randn(8, 4)
    h = trunk(x)
    train: (F.mse_loss(a(h), x[:, :1]) + F.mse_loss(b(h), x[:, 1:2]))
""")
