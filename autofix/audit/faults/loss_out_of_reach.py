"""A loss can never be small.

## What it finds
Finds a loss that is no number in pass after pass: NaN. Targets that the activation before the loss can never give,
such as negative ones behind a ReLU, are told, and are no alarm.

## Why it matters
From a NaN nothing is learnt, and each parameter that it reaches becomes one. Towards a target out of reach the
activation is driven to its bound, where its gradient is 0.

## What it cannot tell
Why a loss became NaN. A loss that is infinite for a moment, as with a scaler, is no finding.
"""

from autofix.audit.fault import Fault, examples


class LossOutOfReach(Fault):
    code, name = "AG550", "loss-out-of-reach"
    broken = (("loss-is-no-number", "this goes backward from NaN: nothing is learnt from it"),)
    noted = (("target-out-of-reach", "targets lie beyond {}, between which the activation before this loss stays"),)
    finds, passes = examples("""\
!
net = nn.Linear(4, 1)
opt = optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    x = torch.randn(8, 4)
    opt.zero_grad()
    net(x).log().mean().backward()  # found
    opt.step()
!
net = nn.Sequential(nn.Linear(4, 1), nn.Sigmoid())
opt = optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    x = torch.randn(8, 4)
    train: F.mse_loss(net(x), torch.rand(8, 1))
""")
