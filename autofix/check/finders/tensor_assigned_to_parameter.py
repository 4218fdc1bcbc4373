"""A tensor assigned to the name of a module's parameter.

## What it does
Plays the file and finds `self.weight = self.weight * mask` and its like on an attribute of a module that holds a
parameter.

## Why it matters
torch refuses: "cannot assign … as parameter 'weight' (torch.nn.Parameter or None expected)".

## What it cannot tell
It stays silent where anybody has reached into the module's own dictionaries before.
"""

from autofix.check.finder import Finder, examples


class TensorAssignedToParameter(Finder):
    code, name = "AG306", "tensor-assigned-to-parameter"
    title = "A tensor is assigned to the name of a parameter"
    kinds = {"assigned-to-parameter": "a tensor is assigned to {text}, which is a parameter of this module"}
    finds, passes = examples("""\
!
net = torch.nn.Linear(2, 3)
net.weight = net.weight * 0.5  # found
!
class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.nn.Parameter(torch.ones(1))

    def normalise(self):
        self.scale = self.scale / self.scale.norm()  # found

Scaled().normalise()
!
net = torch.nn.Linear(2, 3)
net.weight = torch.nn.Parameter(net.weight * 0.5)
!
class Scaled(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.raw = torch.nn.Parameter(torch.ones(1))
        self.scale = self.raw.exp()

    def forward(self, x):
        self.scale = self.raw.exp()
        return x * self.scale
""")
