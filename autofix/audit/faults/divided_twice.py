"""An accumulated loss is divided twice.

## What it finds
Finds a loss that is divided by the number of micro-batches twice on its way to the backward, and gradients that are
divided by it although each loss was.

## Why it matters
The step is that many times too small, as if the learning rate were.

## What it cannot tell
The number is the one seen in the run: how many backward calls one step used.
"""

from autofix.audit.fault import Fault, examples


class DividedTwice(Fault):
    code, name = "AG535", "divided-twice"
    broken = (("divided-twice", "this is divided by {}, the number of micro-batches, a second time"),)
    finds, passes = examples("""\
net = nn.Linear(4, 1)
opt = optim.SGD(net.parameters(), lr=0.1)
!
for i in range(12):
    x = torch.randn(4, 4)
    loss = F.mse_loss(net(x), x[:, :1]) / 4
-    (loss / 4).backward()  # found
+    loss.backward()  # found
    if i % 4 == 3:
        opt.step()
        opt.zero_grad()
!
for i in range(12):
    x = torch.randn(4, 4)
    (F.mse_loss(net(x), x[:, :1]) / 4).backward()
    if i % 4 == 3:
        opt.step()
        opt.zero_grad()
""")
