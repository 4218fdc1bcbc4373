"""A snapshot shares its memory with what is trained.

## What it finds
Finds a state or weights that were kept without a copy before further steps, and are then loaded, saved, or compared
with the network's own.

## Why it matters
`state_dict()`, `.data` and `.detach()` share memory with the parameters. What was kept as the best is the last, and a
distance from the start is always 0.

## What it cannot tell
A state that is kept and saved at once, before the next step, is what it should be.
"""

from autofix.audit.fault import Fault, examples


class SnapshotIsAlias(Fault):
    code, name = "AG538", "snapshot-is-alias"
    law = "a name keeps its value"
    broken = (
        ("snapshot-is-alias", "what is kept here shares its memory with the parameters: later steps have changed it{}"),
    )
    finds, passes = examples("""\
net = nn.Linear(4, 1)
opt = optim.SGD(net.parameters(), lr=0.1)
!
for epoch in range(5):
    x = torch.randn(8, 4)
    train: F.mse_loss(net(x), x[:, :1])
    if epoch == 2:
-        best = net.state_dict()  # found
+        best = copy.deepcopy(net.state_dict())  # found
net.load_state_dict(best)
!
for epoch in range(5):
    x = torch.randn(8, 4)
    train: F.mse_loss(net(x), x[:, :1])
    if epoch == 2:
        best = {key: value.clone() for key, value in net.state_dict().items()}
net.load_state_dict(best)
torch.save(net.state_dict(), "last.pt")
""")
