"""An in-place write to a leaf that requires a gradient.

## What it does
Plays the file and finds `w -= …`, `w[i] = …` and `w.mul_(…)` on a parameter or another leaf that requires a gradient,
or on a view of one, outside of `torch.no_grad()`, also in the functions that it is given to.

## Why it matters
Autograd refuses: "a leaf Variable that requires grad is being used in an in-place operation". An update belongs into
`with torch.no_grad():`.

## What it cannot tell
It stays silent where the tensor may require no gradient.
"""

from autofix.check.finder import Finder, examples


class WriteToLeaf(Finder):
    code, name = "AG301", "write-to-leaf"
    title = "In-place write to a leaf that requires a gradient"
    kinds = {
        "leaf-written": "this writes in place, outside of no_grad(), to the leaf of {made}, which requires a gradient",
    }
    made = "the leaf is made here"
    finds, passes = examples("""\
!
w = torch.zeros(3, requires_grad=True)
for _ in range(3):
    (w - 1).pow(2).sum().backward()
    w -= 0.1 * w.grad  # found
    w.grad.zero_()
!
w = torch.nn.Parameter(torch.randn(3))
w.clamp_(0, 1)  # found
w[0] = 1.0  # found
!
class Net(nn.Module):
    def __init__(self, vectors):
        super().__init__()
        self.emb = nn.Embedding(10, 4)
        self.emb.weight.copy_(vectors)  # found

Net(torch.randn(10, 4))
!
w = torch.zeros(3, requires_grad=True)
(w - 1).pow(2).sum().backward()
with torch.no_grad():
    w -= 0.1 * w.grad
!
w = torch.zeros(3, requires_grad=True)
w = w * 2
w += 1
!
w = torch.zeros(3)
w += 1
w.requires_grad_()
w.data.mul_(0.5)
!
layer = nn.Linear(2, 3)
nn.init.zeros_(layer.bias)
layer.requires_grad_(False)
layer.weight.mul_(2)
""")
