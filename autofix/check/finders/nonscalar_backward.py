"""Backward from more than one value, without saying how much each counts.

## What it does
Plays the file and finds `loss.backward()` on a loss that was made with `reduction="none"` and never reduced.

## Why it matters
torch refuses: "grad can be implicitly created only for scalar outputs".

## What it cannot tell
It stays silent where it does not know how many values a tensor has.
"""

from autofix.check.finder import Finder, examples


class NonscalarBackward(Finder):
    code, name = "AG403", "nonscalar-backward"
    title = "backward() from more than one value"
    kinds = {"nonscalar": "this loss has many values, one for each sample, and is not reduced after {made}"}
    made = "the loss is made here"
    finds, passes = examples("""\
net, crit = torch.nn.Linear(2, 3), torch.nn.CrossEntropyLoss(reduction="none")
!
loss = crit(net(torch.randn(4, 2)), torch.tensor([0, 1, 2, 0])) * torch.rand(4)
loss.backward()  # found
!
import torch.nn.functional as F

net = torch.nn.Linear(2, 3)
F.mse_loss(net(torch.randn(4, 2)), torch.zeros(4, 3), reduction="none").backward()  # found
!
loss = crit(net(torch.randn(4, 2)), torch.tensor([0, 1, 2, 0])) * torch.rand(4)
loss.mean().backward()
!
loss = crit(net(torch.randn(4, 2)), torch.tensor([0, 1, 2, 0]))
loss.backward(torch.ones(4))
""")
