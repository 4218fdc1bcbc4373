"""Steps leave parameters as they are.

## What it finds
Tells of parameters that have gradients and that at least five steps in a row, of the first twelve, leave as they are
to seven digits: a learning rate of 0, a factor where a rate was meant, a decay by epochs that is stepped with each
batch.

## Why it matters
The network trains as if it were frozen.

## What it cannot tell
A group that is kept still on purpose looks alike, and so does a perfect fit: it is told, and is no alarm. A schedule
that begins at 0 and rises is left alone.
"""

from autofix.audit.fault import Fault, examples


class StepsMoveNothing(Fault):
    code, name = "AG545", "steps-move-nothing"
    noted = (("steps-move-nothing", "the steps leave {} as they are, although they have gradients"),)
    finds, passes = examples("""\
!
net = nn.Linear(4, 1)
opt = optim.SGD(net.parameters(), lr=0.1)
rate = optim.lr_scheduler.LambdaLR(opt, lambda step: min(1.0, step / 10))
for _ in range(15):
    x = torch.randn(8, 4)
    train: F.mse_loss(net(x), x[:, :1])
    rate.step()
""")
