"""One loss goes backward twice.

## What it finds
Finds two backward calls that start from the same loss, whose gradients one step uses together: a criterion and its
trainer both call `backward`.

## Why it matters
Every gradient is twice as large as it should be. With Adam it hardly shows; with clipping and weight decay the
balance is another.

## What it cannot tell
Two losses that share a part of the graph are not one loss.
"""

from autofix.audit.fault import Fault, examples


class SameLossTwice(Fault):
    code, name = "AG541", "same-loss-twice"
    broken = (("same-loss-twice", "this loss has gone backward before: its gradients are used twice"),)
    noted = (("gradient-used-twice", "this step uses gradients that a step has used: no backward lies between"),)
    finds, passes = examples("""\
!
net = nn.Linear(4, 1)
opt = optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    x = torch.randn(8, 4)
    opt.zero_grad()
    loss = F.mse_loss(net(x), x[:, :1])
    loss.backward(retain_graph=True)
-    loss.backward()  # found
    opt.step()
!
net = nn.Linear(4, 2)
opt = optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    x = torch.randn(8, 4)
    opt.zero_grad()
    out = net(x)
    F.mse_loss(out[:, 0], x[:, 0]).backward(retain_graph=True)
    F.l1_loss(out[:, 1], x[:, 1]).backward()
    opt.step()
""")
