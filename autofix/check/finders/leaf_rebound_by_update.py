"""An update that binds the name of a leaf to a new tensor, whose gradient nobody keeps.

## What it does
Plays two passes of each loop and finds `.grad` used of a tensor that is the result of an operation: `w = w - lr *
w.grad`, `x = (x + d).clamp(0, 1)`, `torch.randn(3, requires_grad=True) * 0.1`.

## Why it matters
Only leaves keep their gradient. For a result `.grad` is None, and the next use of it fails.

## What it cannot tell
It stays silent where the tensor may be a leaf or keep its gradient (`retain_grad()`).
"""

from autofix.check.finder import Finder, examples


class LeafReboundByUpdate(Finder):
    code, name = "AG303", "leaf-rebound-by-update"
    title = "The gradient of a result is used, and is None"
    kinds = {
        "gradient-none": "the gradient of a result is used here; it is None, since the tensor of {made} is no leaf",
        "flag-on-non-leaf": "requires_grad is switched off for what is computed in {made}; only a leaf has this flag",
    }
    made = "the tensor is computed here"
    finds, passes = examples("""\
!
w = torch.randn(3, requires_grad=True)
for _ in range(3):
    (w ** 2).sum().backward()
    w = w - 0.1 * w.grad  # found
!
x = torch.randn(3, requires_grad=True) * 0.1
(x ** 2).sum().backward()
print(x.grad.norm())  # found
!
w = torch.randn(3, requires_grad=True)
for _ in range(3):
    (w ** 2).sum().backward()
    w = (w - 0.1 * w.grad).detach().requires_grad_()
!
x = torch.randn(3, requires_grad=True)
y = x * 2
y.retain_grad()
y.sum().backward()
print(y.grad * 2)
!
x = torch.randn(3, requires_grad=True)
y = x * 2
if y.grad is not None:
    y.grad.zero_()
""")
