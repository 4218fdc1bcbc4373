"""A tensor with a graph is handed to code that keeps none.

## What it does
Plays the file and finds `.numpy()`, functions of numpy, and `copy.deepcopy` on a tensor that surely requires a
gradient.

## Why it matters
torch refuses: "Can't call numpy() on Tensor that requires grad", "Only Tensors created explicitly by the user support
the deepcopy protocol".

## What it cannot tell
It stays silent where the tensor may require no gradient.
"""

from autofix.check.finder import Finder, examples


class TensorToNumpy(Finder):
    code, name = "AG404", "tensor-to-numpy"
    title = "A tensor that requires a gradient is handed to numpy or copied"
    kinds = {
        "numpy": "an array cannot hold the graph of the tensor that is made in {made}; detach() it first",
        "copied-non-leaf": "this copies a tensor that is computed in {made}; only leaves can be copied",
    }
    made = "the tensor is made here"
    finds, passes = examples("""\
net = torch.nn.Linear(2, 1)
!
print(net(torch.randn(4, 2)).numpy())  # found
!
import numpy as np

net, history = torch.nn.Linear(2, 1), []
for x in torch.randn(3, 4, 2):
    history.append(net(x).mean())
print(np.mean(history))  # found
!
print(net(torch.randn(4, 2)).detach().numpy())
with torch.no_grad():
    print(net(torch.randn(4, 2)).numpy())
!
import copy

import numpy as np

twin = copy.deepcopy(net)
print(np.mean([net(x).mean().item() for x in torch.randn(3, 4, 2)]))
""")
