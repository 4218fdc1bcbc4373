"""A gradient that no backward has made yet, used as if it were zeros.

## What it does
Plays the file and finds `x.grad += g` on a leaf that no backward has reached since it was made or since `zero_grad()`.

## Why it matters
The gradient of a leaf is None until a backward reaches it, and since torch 2.0 `zero_grad()` sets it to None again.

## What it cannot tell
It stays silent where the tensor is not known to be such a leaf.
"""

from autofix.check.finder import Finder, examples


class GradientStillNone(Finder):
    code, name = "AG305", "gradient-still-none"
    title = "Something is added to a gradient that is still None"
    kinds = {
        "gradient-still-none": "this adds to a gradient that is still None: no backward has reached the tensor since "
        "it was made or zeroed",
    }
    made = "the tensor is made here"
    finds, passes = examples("""\
x = torch.zeros(3, requires_grad=True)
!
opt = torch.optim.Adam([x], lr=0.1)
for _ in range(3):
    opt.zero_grad()
    (g,) = torch.autograd.grad((x - 1).pow(2).sum(), [x])
    x.grad += g  # found
    opt.step()
!
opt = torch.optim.Adam([x], lr=0.1)
for _ in range(3):
    opt.zero_grad()
    (x - 1).pow(2).sum().backward()
    x.grad += 0.1
    opt.step()
!
def add(parameters, gradients):
    for parameter, gradient in zip(parameters, gradients):
        parameter.grad += gradient
!
x.grad = torch.zeros(3)
x.grad += torch.autograd.grad((x - 1).pow(2).sum(), x)[0]
""")
