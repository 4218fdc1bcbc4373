"""A teacher or an average is updated and does not move.

## What it finds
Finds a moving average of weights that is computed in each pass and written nowhere, writes to a network that leave it
as it was each time, a state that is loaded onto the network it was taken from, an average of a network with itself, and
an update of weights, made by hand, that only binds a name.

## Why it matters
The teacher, target or average stays what it was at the start. Losses that compare with it look plausible.

## What it cannot tell
A teacher that nobody updates, as in distillation, is a line of the table. So is one whose first update comes later
than the run.
"""

from autofix.audit.fault import Fault, examples


class TeacherNeverMoves(Fault):
    code, name = "AG537", "teacher-never-moves"
    broken = (
        ("average-never-written", "this average is computed and written nowhere: the teacher stays as it was"),
        ("writes-change-nothing", "what is written here changes nothing: the network stays as it was"),
        ("state-loaded-onto-itself", "this loads a network's state onto the same network"),
        ("average-of-itself", "this is averaged with itself: both are one memory, or made of one"),
        ("update-never-written", "this update is computed and written nowhere: the weights stay as they were"),
    )
    finds, passes = examples("""\
net = nn.Linear(4, 4)
slow = copy.deepcopy(net)
opt = optim.SGD(net.parameters(), lr=0.1)
!
for _ in range(6):
    x = torch.randn(8, 4)
    train: (F.mse_loss(net(x), slow(x).detach()) + net(x).pow(2).mean())
    for s, p in zip(slow.parameters(), net.parameters()):
-        s = 0.9 * s.data + 0.1 * p.data  # found
+        s.data.copy_(0.9 * s.data + 0.1 * p.data)  # found
!
for _ in range(6):
    x = torch.randn(8, 4)
    train: (F.mse_loss(net(x), slow(x).detach()) + net(x).pow(2).mean())
    for s, p in zip(slow.parameters(), net.parameters()):
        s.data = 0.9 * s.data + 0.1 * p.data
""")
