"""Every pass is fed with the same batch.

## What it finds
Finds a network whose input is made anew in each pass and holds the same values each time, because the same seed is
set again, or because a data loader begins anew, in each.

## Why it matters
The network is trained on one batch. The loss falls quickly, and says nothing.

## What it cannot tell
A batch that is made once and used again, to see whether a network can learn it by heart, is the same tensor, and is
left alone.
"""

from autofix.audit.fault import Fault, examples


class SameBatch(Fault):
    code, name = "AG536", "same-batch"
    broken = (("same-batch", "this makes every pass begin with the same batch"),)
    noted = (
        ("same-draw", "random numbers repeat from pass to pass: their source is seeded again"),
        ("same-rows", "every pass is fed with the rows that were drawn here, once"),
    )
    finds, passes = examples("""\
net = nn.Linear(4, 1)
opt = optim.SGD(net.parameters(), lr=0.1)
!
+torch.manual_seed(0)  # found
for _ in range(6):
-    torch.manual_seed(0)  # found
    x = torch.randn(8, 4)
    train: F.mse_loss(net(x), x[:, :1])
!
x = torch.randn(8, 4)
for epoch in range(6):
    torch.manual_seed(epoch)
    train: F.mse_loss(net(x), x[:, :1])
""")
