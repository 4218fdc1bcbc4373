"""A result of an operation given to an optimizer.

## What it does
Plays the file and finds an optimizer of torch that is given a tensor which was computed from a leaf:
`torch.randn(3, requires_grad=True).cuda()`, `raw.exp()`, `[*W]`.

## Why it matters
torch refuses: "can't optimize a non-leaf Tensor".

## What it cannot tell
It stays silent where it does not know the tensor. Where `.to(…)` changes nothing, the tensor stays the leaf that it
was, and torch does not complain.
"""

from autofix.check.finder import Finder, examples


class ResultGivenToOptimizer(Finder):
    code, name = "AG304", "result-given-to-optimizer"
    title = "An optimizer is given the result of an operation"
    kinds = {"non-leaf-owned": "the optimizer is given a tensor that is no leaf: it is computed in {made}"}
    made = "the tensor is computed here"
    finds, passes = examples("""\
!
raw = torch.zeros(3, requires_grad=True)
scale = raw.exp()
opt = torch.optim.Adam([scale], lr=0.1)  # found
!
delta = torch.zeros(3, requires_grad=True).cuda()
opt = torch.optim.SGD([{"params": [delta]}], lr=0.1)  # found
!
raw = torch.zeros(3, requires_grad=True)
opt = torch.optim.Adam([raw], lr=0.1)
scale = raw.exp()
!
raw = torch.zeros(3, requires_grad=True)
scale = raw.exp()
scale.retain_grad()
opt = torch.optim.Adam([scale], lr=0.1)
!
net = torch.nn.Linear(2, 3).cuda()
opt = torch.optim.SGD([{"params": net.parameters()}], lr=0.1)
""")
