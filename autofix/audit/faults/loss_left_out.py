"""A loss is computed in each pass and never goes backward.

## What it finds
Finds a call of a loss function that runs in three passes or more, is part of nothing that goes backward, and alone
would reach parameters that an optimizer owns: a sum that is not assigned, `loss =+ term` in place of `loss += term`,
a return value that is dropped.

## Why it matters
What only this loss trains stays as it was initialised.

## What it cannot tell
A loss that is computed for the log, and whose networks other losses train, is no fault. Nothing is said of losses
that are written out as sums and powers: they have no name to be known by.
"""

from autofix.audit.fault import Fault, examples


class LossLeftOut(Fault):
    code, name = "AG543", "loss-left-out"
    law = "everything owned learns"
    broken = (("loss-left-out", "this loss never goes backward, and nothing else reaches {}"),)
    finds, passes = examples("""\
!
trunk, a, b = nn.Linear(4, 4), nn.Linear(4, 1), nn.Linear(4, 1)
opt = optim.SGD([*trunk.parameters(), *a.parameters(), *b.parameters()], lr=0.1)
for _ in range(5):
    x = torch.randn(8, 4)
    h = torch.tanh(trunk(x))
    loss = F.mse_loss(a(h), x[:, :1])
    aux = F.mse_loss(b(h), x[:, 1:2])  # found
-    loss + 0.5 * aux
+    loss = loss + 0.5 * aux
    train: loss
!
net = nn.Linear(4, 1)
opt = optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    x = torch.randn(8, 4)
    train: F.mse_loss(net(x), x[:, :1])
    print(F.l1_loss(net(x), x[:, :1]).item())
""")
