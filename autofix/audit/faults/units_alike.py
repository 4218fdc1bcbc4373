"""The units of a layer are copies of each other.

## What it finds
Finds a weight of which all rows are equal at the first step, whose gradients have equal rows, and that stays so.

## Why it matters
Units that begin alike and are moved alike stay alike: a layer of a hundred units is one unit. It comes of weights that
begin at one constant.

## What it cannot tell
A last layer that begins at 0 is no finding: its rows get different gradients.
"""

from autofix.audit.fault import Fault, examples


class UnitsAlike(Fault):
    code, name = "AG551", "units-alike"
    broken = (("units-alike", "all rows of {} are equal and are moved alike: its units stay copies of each other"),)
    finds, passes = examples("""\
!
def start(layer):
    if isinstance(layer, nn.Linear):
        nn.init.constant_(layer.weight, 0.1)
        nn.init.zeros_(layer.bias)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))  # found
net.apply(start)
opt = optim.SGD(net.parameters(), lr=0.1)
for _ in range(6):
    x = torch.randn(8, 4)
    train: F.mse_loss(net(x), x[:, :1])
!
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
nn.init.zeros_(net[2].weight)
opt = optim.SGD(net.parameters(), lr=0.1)
for _ in range(6):
    x, y = torch.randn(8, 4), torch.randint(3, (8,))
    train: F.cross_entropy(net(x), y)
""")
