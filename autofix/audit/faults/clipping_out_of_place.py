"""Gradients are clipped where no step uses them.

## What it finds
Finds `clip_grad_norm_`, `clip_grad_value_` or a clamp of `.grad` that never finds a gradient which a step is still to
use: before the backward, after the step, or between the backward of a scaled loss and `unscale_`. Three times or
more, and never in its place.

## Why it matters
Nothing is clipped. Under a scaler the bound is compared with gradients 65536 times too large, and everything is
clipped.

## What it cannot tell
A call that asks for the norm alone, with a bound of infinity, may stand anywhere.
"""

from autofix.audit.fault import Fault, examples


class ClippingOutOfPlace(Fault):
    code, name = "AG525", "clipping-out-of-place"
    broken = (("clipping-out-of-place", "this clips gradients that no step uses {}"),)
    finds, passes = examples("""\
net = nn.Linear(4, 1)
opt = optim.SGD(net.parameters(), lr=0.1)
!
for _ in range(5):
    x = torch.randn(8, 4)
    opt.zero_grad()
    F.mse_loss(net(x), x[:, :1]).backward()
+    nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # found
    opt.step()
-    nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # found
!
for i in range(12):
    x = torch.randn(8, 4)
    F.mse_loss(net(x), x[:, :1]).backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    if i % 2:
        opt.step()
        opt.zero_grad()
""")
