"""An in-place write to a tensor that backward still needs.

## What it does
Plays the file and finds a write in place (`x += …`, `x[…] = …`, `x.mul_(…)`, `inplace=True`) to a tensor that an
operation has saved for its backward, also through a view or a detached alias. A `forward` that nothing in the file
calls is played with arguments that nobody knows.

## Why it matters
Backward finds another version of the tensor than the one that was saved: "one of the variables needed for gradient
computation has been modified by an inplace operation". `y = y + x` makes a new tensor instead.

## What it cannot tell
It stays silent under `no_grad`, and where it does not know that the operation before saved the tensor.
"""

from __future__ import annotations

from autofix.check.abstract.tape import Event
from autofix.check.finder import Finder, Spot, examples, spot
from autofix.check.places import said

_UPDATES = ("step", "load_state_dict", "init")


class InplaceOnSavedTensor(Finder):
    code, name = "AG101", "inplace-on-saved-tensor"
    title = "In-place write to a tensor that backward needs"
    kinds = {"overwritten": ""}
    finds, passes = examples("""\
!
class Block(nn.Module):
    def forward(self, x):
        y = torch.sigmoid(x)
        y *= 2  # found
        return y
!
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Linear(4, 4)
        self.relu = nn.ReLU()

    def forward(self, x):
        out = self.relu(self.conv(x))
        out += x  # found
        return out
!
net = torch.nn.Linear(3, 3)
x = net(torch.randn(2, 3))
loss = (x * net(x)).sum()
x[:, 0] = 0  # found
loss.backward()
!
net = torch.nn.Linear(3, 3)
y = net(torch.randn(2, 3)).exp()
shown = y.detach()
shown.clamp_(max=1)  # found
y.sum().backward()
!
class Block(nn.Module):
    def forward(self, x):
        y = torch.sigmoid(x)
        y = y * 2
        return y
!
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Linear(4, 4)

    def forward(self, x):
        out = self.conv(x)
        out += x
        return torch.relu(out)
!
class Block(nn.Module):
    @torch.no_grad()
    def forward(self, x):
        y = torch.sigmoid(x)
        y *= 2
        return y
!
net = torch.nn.Linear(3, 3)
y = net(torch.randn(2, 3)).exp()
loss = y.sum()
loss.backward()
y.detach().clamp_(max=1)
!
net, count = torch.nn.Linear(3, 3), len(sys.argv)
maps = [{"heat": net(torch.randn(2, 3))} for _ in range(count)]
loss = 0
for s in range(count):
    maps[s]["heat"] = maps[s]["heat"].sigmoid_()
    loss = loss + maps[s]["heat"].log().sum()
loss.backward()
""")

    def told(self, event: Event) -> Spot | None:
        cause, node = event.cause, event.node
        if cause is None or node is None or cause.text in _UPDATES:
            return None
        made = node.place
        message = f"this changes in place a tensor that the operation in {said(made, event)} has saved for its backward"
        return spot(
            cause.place, message, (made, "the tensor is saved here"), (event.place, "this backward needs it as it was")
        )
