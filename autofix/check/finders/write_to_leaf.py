"""An in-place write to a leaf that requires a gradient.

## What it does
Finds `w -= …`, `w[i] = …` and `w.mul_(…)` on a name that was bound to `torch.zeros(…, requires_grad=True)` or an
`nn.Parameter` in the same scope, outside of `torch.no_grad()`.

## Why it matters
Autograd refuses: "a leaf Variable that requires grad is being used in an in-place operation". An update belongs into
`with torch.no_grad():`.

## What it cannot tell
It stays silent where the name has any other binding, and for what other functions do with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from autofix.check.finder import Finder, Spot, makes_leaf

if TYPE_CHECKING:
    from collections.abc import Iterator

    from autofix.syntax.facts import Scope

_HARMLESS = {"requires_grad_", "detach_", "share_memory_", "retain_grad", "rename_"}


class WriteToLeaf(Finder):
    """An update that autograd refuses."""

    code, name = "AG301", "write-to-leaf"
    title = "In-place write to a leaf that requires a gradient"
    words = (b"torch",)
    finds = (
        """\
import torch

w = torch.zeros(3, requires_grad=True)
for _ in range(3):
    (w - 1).pow(2).sum().backward()
    w -= 0.1 * w.grad  # found
    w.grad.zero_()
""",
        """\
import torch

w = torch.nn.Parameter(torch.randn(3))
w.clamp_(0, 1)  # found
w[0] = 1.0  # found
""",
    )
    passes = (
        """\
import torch

w = torch.zeros(3, requires_grad=True)
(w - 1).pow(2).sum().backward()
with torch.no_grad():
    w -= 0.1 * w.grad
""",
        """\
import torch

w = torch.zeros(3, requires_grad=True)
w = w * 2
w += 1
""",
        """\
import torch

w = torch.zeros(3)
w += 1
w.requires_grad_()
w.data.mul_(0.5)
""",
    )

    def spots(self, scope: Scope) -> Iterator[Spot]:
        for name, binds in scope.binds.items():
            made = [bind for bind in binds if bind.how not in {"augmented", "item"}]
            if not made or "." in name or not all(bind.how == "=" and makes_leaf(scope, bind.value) for bind in made):
                continue
            if f"{name}.requires_grad" in scope.binds or "set_grad_enabled" in scope.calls:
                continue
            message = f"{name} is a leaf that requires a gradient, and is written in place outside of no_grad()"
            for bind in binds:
                if bind.how in {"augmented", "item"} and not bind.quiet and bind.order > made[0].order:
                    yield Spot(bind.node, message)
            for calls in scope.calls.values():
                for call in calls:
                    writes = call.method.endswith("_") and not call.method.endswith("__")
                    if writes and call.receiver == name and call.method not in _HARMLESS and not call.quiet:
                        yield Spot(call.node, message)
