"""A flag is set that torch does not know.

## What it finds
Finds attributes of parameters whose name is nearly `requires_grad`, and `requires_grad` of a module, set from outside
of it. Python takes both without a word.

## Why it matters
What was to be frozen is trained.

## What it cannot tell
A module's own option of that name, set by the module itself, is its own affair.
"""

from autofix.audit.fault import Fault, examples


class NoSuchFlag(Fault):
    code, name = "AG547", "no-such-flag"
    broken = (("no-such-flag", "`{}` means nothing here: nothing is frozen by it"),)
    finds, passes = examples("""\
net = nn.Linear(4, 1)
!
for p in net.parameters():
    p.require_grad = False  # found
net.requires_grad = False  # found
!
net.weight.requires_grad = False
net.weight.decay = 0.1
net.bias.requires_grad_(False)
""")
