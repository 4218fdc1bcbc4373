"""A learning rate schedule that the training does not follow.

## What it finds
Finds a scheduler that is made and never stepped in a run that came to its end, one that drives an optimizer which was
replaced, and a one-cycle schedule over all batches that is stepped once an epoch.

## Why it matters
The learning rate stays where it was, or at the warm-up's start. torch says nothing.

## What it cannot tell
A run that was cut short says nothing about a schedule that is stepped once an epoch. `scheduler.step()` before
`optimizer.step()` is AG505.
"""

from autofix.audit.fault import Fault, examples


class ScheduleNotFollowed(Fault):
    code, name = "AG526", "schedule-not-followed"
    broken = (
        ("schedule-never-stepped", "this schedule is never stepped: the learning rate stays as it is"),
        ("schedule-of-other-optimizer", "this schedule drives an optimizer that does not step; another one trains"),
        ("schedule-in-wrong-loop", "this schedule was stepped {} times in the whole training: it counts batches"),
        ("schedule-of-counts", "this schedule waits for a figure to improve, and is given the number of its step"),
    )
    noted = (("schedule-past-its-end", "this schedule was stepped {} times: the rate rises again behind its end"),)
    finds, passes = examples("""\
net = nn.Linear(4, 1)
opt = optim.SGD(net.parameters(), lr=0.1)
!
schedule = optim.lr_scheduler.StepLR(opt, 1)  # found
for _ in range(5):
    x = torch.randn(8, 4)
    train: F.mse_loss(net(x), x[:, :1])
+    schedule.step()
!
schedule = optim.lr_scheduler.OneCycleLR(opt, 0.1, total_steps=6)
for _ in range(6):
    x = torch.randn(8, 4)
    train: F.mse_loss(net(x), x[:, :1])
    schedule.step()
""")
