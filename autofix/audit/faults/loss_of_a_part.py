"""Only a part of what is computed is trained on.

## What it finds
Finds a loop over batches that computes a loss for each and goes backward from the last one alone, again and again;
and a cross entropy over a single class, which is always 0. A loss of one row of a batch is told, and is no alarm.

## Why it matters
All but the last batch of each epoch is wasted. The printed loss is a real one.

## What it cannot tell
A forward on another line, as of a validation, is none of the loop's.
"""

from autofix.audit.fault import Fault, examples


class LossOfAPart(Fault):
    code, name = "AG533", "loss-of-a-part"
    broken = (
        ("last-batch-only", "of the losses computed for each step only the last goes backward: {} are thrown away"),
        ("loss-of-one-class", "this cross entropy is over a single class: it is always 0"),
    )
    noted = (
        ("loss-of-one-sample", "this loss is that of one row of {}"),
        ("loss-of-means", "this loss compares an average: single rows are compared with nothing"),
    )
    finds, passes = examples("""\
net = nn.Linear(4, 1)
opt = optim.SGD(net.parameters(), lr=0.1)
!
for epoch in range(5):
    for x in torch.randn(4, 8, 4):
        loss = F.mse_loss(net(x), x[:, :1])
-    opt.zero_grad()
+        opt.zero_grad()
-    loss.backward()  # found
+        loss.backward()  # found
-    opt.step()
+        opt.step()
!
for epoch in range(5):
    total = 0.0
    for x in torch.randn(4, 8, 4):
        total = total + F.mse_loss(net(x), x[:, :1])
    train: total
!
for epoch in range(4):
    for x in torch.randn(2, 8, 4):
        train: F.mse_loss(net(x), x[:, :1])
    for x in torch.randn(4, 8, 4):
        print(F.mse_loss(net(x), x[:, :1]))
""")
