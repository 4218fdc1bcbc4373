"""Nothing of a state is loaded.

## What it finds
Finds `load_state_dict(state, strict=False)` of which no key is one of the network's: a prefix such as `module.` too
many, or the state of a checkpoint that holds it one level deeper.

## Why it matters
The network goes on with the weights it was initialised with, as if it were pretrained.

## What it cannot tell
A state of which some keys fit is loaded on purpose in part.
"""

from autofix.audit.fault import Fault, examples


class NothingLoaded(Fault):
    code, name = "AG546", "nothing-loaded"
    broken = (("nothing-loaded", "none of the {} keys of this state is the network's: nothing is loaded"),)
    finds, passes = examples("""\
!
net = nn.Linear(4, 1)
state = {f"module.{key}": value for key, value in net.state_dict().items()}
net.load_state_dict(state, strict=False)  # found
!
net = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
state = {key: value for key, value in net.state_dict().items() if key.startswith("0.")}
net.load_state_dict(state, strict=False)
""")
