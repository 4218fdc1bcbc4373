"""A gradient scaler that is left out of a step.

## What it finds
Finds a scaled loss whose optimizer is stepped directly, a loss that was not scaled and whose step goes through the
scaler, and a scaler that is never updated.

## Why it matters
The step is 65536 times too large, or as many times too small; Adam hides the first in its normalisation, except for
its epsilon, weight decay and clipping.

## What it cannot tell
A scaler that is switched off does nothing, and nothing is said about it.
"""

from autofix.audit.fault import Fault, examples


class ScalerMisused(Fault):
    code, name = "AG527", "scaler-misused"
    broken = (
        ("scaler-passed-by", "this step uses the gradients of a scaled loss: they are neither unscaled nor checked"),
        ("scaler-without-scale", "this step divides gradients by a scale that their loss was never multiplied by"),
        ("scaler-not-updated", "the scaler of this step is never updated"),
    )
    finds, passes = examples("""\
net = nn.Linear(4, 1)
!
opt = optim.SGD(net.parameters(), lr=1e-6)
scaler = torch.amp.GradScaler("cpu")
for _ in range(5):
    x = torch.randn(8, 4)
    opt.zero_grad()
    scaler.scale(F.mse_loss(net(x), x[:, :1])).backward()
-    opt.step()  # found
+    scaler.step(opt)
+    scaler.update()  # found
!
opt = optim.SGD(net.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
for _ in range(5):
    x = torch.randn(8, 4)
    opt.zero_grad()
    scaler.scale(F.mse_loss(net(x), x[:, :1])).backward()
    scaler.unscale_(opt)
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()
""")
