"""The target of a loss is trained too.

## What it finds
Finds a regression loss whose target is a sum of data and of a multiple of the trained network's own result, with its
graph: a reward and a discounted value. Other targets with a graph, as of two views of one sample, are told, and are
no alarm.

## Why it matters
The gradient moves the target towards the prediction as well as the prediction towards the target. That is not the
update which Q-learning and temporal differences describe, and it learns more slowly or not at all.

## What it cannot tell
Whether a residual gradient is wanted; then say so on the line.
"""

from autofix.audit.fault import Fault, examples


class TargetTrains(Fault):
    code, name = "AG531", "target-trains"
    broken = (("target-trains", "the target of this loss is made by the network that it trains, and has a graph"),)
    noted = (("target-with-graph", "the target of this loss has a graph, too"),)
    finds, passes = examples("""\
value = nn.Linear(4, 1)
opt = optim.SGD(value.parameters(), lr=0.1)
!
for _ in range(5):
    s, s2, r = torch.randn(8, 4), torch.randn(8, 4), torch.randn(8, 1)
    opt.zero_grad()
-    loss = F.mse_loss(value(s), r + 0.9 * value(s2))  # found
+    loss = F.mse_loss(value(s), (r + 0.9 * value(s2)).detach())  # found
    loss.backward()
    opt.step()
!
for _ in range(5):
    s, s2, r = torch.randn(8, 4), torch.randn(8, 4), torch.randn(8, 1)
    train: F.mse_loss(value(s), r + 0.9 * value(s2).detach())
""")
