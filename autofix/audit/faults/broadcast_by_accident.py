"""Predictions and targets are broadcast against each other.

## What it finds
Finds a regression loss, or a difference or product that is trained, of a tensor of shape (n, 1) and one of shape
(n,): the result has n times n elements.

## Why it matters
Every prediction is compared with every target. The best answer to that is the mean of all targets, and the loss falls
towards it as if something were learnt.

## What it cannot tell
Pairs that are made on purpose, by `unsqueeze` or `[:, None]` in the same function, are left alone.
"""

from autofix.audit.fault import Fault, examples


class BroadcastByAccident(Fault):
    code, name = "AG529", "broadcast-by-accident"
    broken = (("broadcast-by-accident", "shapes {} are broadcast: each prediction meets every target"),)
    finds, passes = examples("""\
net = nn.Linear(4, 1)
opt = optim.SGD(net.parameters(), lr=0.1)
!
for _ in range(5):
    x = torch.randn(8, 4)
-    loss = (net(x) - x.sum(1)).pow(2).mean()  # found
+    loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()  # found
    train: loss
!
for _ in range(5):
    x = torch.randn(8, 4)
    score = net(x).squeeze(1)
    margin = score.unsqueeze(1) - score
    train: F.softplus(-margin * (x[:, 0].unsqueeze(1) - x[:, 0]).sign()).mean()
!
for _ in range(5):
    x = torch.randn(8, 4)
    train: F.mse_loss(net(x).squeeze(1), x.sum(1))
""")
