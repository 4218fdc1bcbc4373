"""A step also moves what is read beside its leaf

## What it finds

A leaf that an optimizer took shares its memory with an older tensor, which is read after a step. Only what trains is a
read: an argument of a module, or of an operation beside something with a graph. Parameters that share memory are tied
on purpose, and a view made of the leaf later is meant to move.

## Why it matters

A target moves along with what is trained towards it. The leaf needs memory of its own: `clone()`.
"""

from autofix.verdict.property import Example, OfTheCode

TARGET = """\
image = torch.randn(3, 4)
x = image.detach().requires_grad_()
optimizer = torch.optim.SGD([x], lr=0.1)
for _ in range(6):
    square = (x - 1).square()
    optimizer.zero_grad()
    square.sum().backward()
    loss = square.mean() + (x - image).square().sum()
    loss.backward()
    optimizer.step()
"""
OWN = TARGET.replace("image.detach()", "image.clone()")
EDIT = ("square.sum().backward()", "square.sum().backward(retain_graph=True)")


class StepMovesWhatIsRead(OfTheCode):
    fact = "elder"
    sentence = (
        "{subject} shares its memory with the tensor read here, so that each step changes both; it needs a clone()"
    )
    raises = (Example(TARGET, *EDIT),)
    silent = (Example(OWN, *EDIT),)
