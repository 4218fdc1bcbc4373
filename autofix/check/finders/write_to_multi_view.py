"""An in-place write to one of several views that one operation gave.

## What it does
Plays the file and finds a write in place to a part that `chunk`, `split`, `unbind` or a loop over a tensor gave, and
to a view that was made under `no_grad` and is given values with a graph.

## Why it matters
Autograd refuses: "a view and is being modified inplace".

## What it cannot tell
It stays silent where the tensor may require no gradient.
"""

from __future__ import annotations

from autofix.check.abstract.tape import Event
from autofix.check.finder import Finder, Spot, examples, spot
from autofix.check.places import said


class WriteToMultiView(Finder):
    code, name = "AG105", "write-to-multi-view"
    title = "In-place write to one of several views"
    kinds = {"multi-view-written": "", "quiet-view-written": ""}
    finds, passes = examples("""\
net = torch.nn.Linear(3, 4)
!
i, f = net(torch.randn(2, 3)).chunk(2, dim=1)
f += 1.0  # found
(i * f).sum().backward()
!
image = net(torch.randn(2, 3)).clone()
for row in image:
    row.mul_(2)  # found
image.sum().backward()
!
i, f = net(torch.randn(2, 3)).chunk(2, dim=1)
f = f + 1.0
(i * f).sum().backward()
!
image = torch.randn(2, 3)
for row in image:
    row.mul_(2)
!
y = net(torch.randn(2, 3))
y[:, :2] += 1.0
y.sum().backward()
""")

    def told(self, event: Event) -> Spot | None:
        made = event.made_at
        if event.kind == "quiet-view-written":
            return spot(event.place, "this writes values with a graph into a view that was made without gradients")
        message = f"this writes in place to one of several views of a tensor, made in {said(made, event)}"
        return spot(event.place, message, (made, "the views are made here"))
