"""Training goes on in eval mode.

## What it finds
Finds a network with dropout or batch norm that was trained in training mode first, was put into eval mode, and is
trained on like that. A network that is trained in eval mode from the start is told, and is no alarm.

## Why it matters
Dropout is off and the running statistics stand still from the first validation on. Nothing changes in the loss that
would show it.

## What it cannot tell
Single layers that are kept in eval mode, as frozen batch norm is, are left alone.
"""

from autofix.audit.fault import Fault, examples


class EvalLeftOn(Fault):
    code, name = "AG532", "eval-left-on"
    broken = (("eval-left-on", "{} is put into eval mode here, and training goes on without train()"),)
    noted = (
        ("trained-in-eval", "{} is trained in eval mode: dropout is off, statistics stand still"),
        ("dropout-in-evaluation", "{} is in eval mode, and this dropout is on: nothing tells it the mode"),
        ("measured-in-train-mode", "this is measured in train mode: dropout is on, or statistics move"),
    )
    finds, passes = examples("""\
net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(), nn.Linear(8, 1))
opt = optim.SGD(net.parameters(), lr=0.1)
!
for epoch in range(3):
+    net.train()
    for _ in range(3):
        x = torch.randn(8, 4)
        train: F.mse_loss(net(x), x[:, :1])
    net.eval()  # found
    with torch.no_grad():
        print(net(torch.randn(8, 4)).mean())
!
for epoch in range(3):
    net.train()
    for _ in range(3):
        x = torch.randn(8, 4)
        train: F.mse_loss(net(x), x[:, :1])
    net.eval()
    with torch.no_grad():
        print(net(torch.randn(8, 4)).mean())
""")
