"""A derivative by something that requires no gradient.

## What it does
Plays the file and finds `torch.autograd.grad(outputs, inputs)` where an input surely requires no gradient.

## Why it matters
torch refuses: "One of the differentiated Tensors does not require grad", or "… appears to not have been used in the
graph".

## What it cannot tell
It stays silent where an input may require a gradient.
"""

from autofix.check.finder import Finder, examples


class UnusedInput(Finder):
    code, name = "AG405", "unused-input"
    title = "A derivative with respect to a tensor that requires no gradient"
    kinds = {"input-without-gradient": "this is a derivative with respect to a tensor that requires no gradient"}
    caused = "its graph ended here"
    finds, passes = examples("""\
net = torch.nn.Linear(1, 1)
!
t = torch.linspace(0, 1, 5).unsqueeze(1)
u = net(t)
du = torch.autograd.grad(u.sum(), t, create_graph=True)[0]  # found
!
x = torch.randn(5, 1, requires_grad=True).detach()
(g,) = torch.autograd.grad(net(x).sum(), [x])  # found
!
t = torch.linspace(0, 1, 5).unsqueeze(1).requires_grad_()
du = torch.autograd.grad(net(t).sum(), t, create_graph=True)[0]
!
def derivative(net, t):
    return torch.autograd.grad(net(t).sum(), t, create_graph=True)[0]
""")
