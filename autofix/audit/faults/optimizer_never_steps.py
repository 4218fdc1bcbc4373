"""An optimizer whose parameters get gradients never steps.

## What it finds
Finds an optimizer that never steps in a run that came to its end, although three or more backward calls sent
gradients to what it owns, and nothing else changed it: the wrong optimizer is stepped, or `step` is named and not
called.

## Why it matters
The network stays as it was initialised.

## What it cannot tell
Nothing is said where the parameters are updated by hand, or before the script has ended.
"""

from autofix.audit.fault import Fault, examples


class OptimizerNeverSteps(Fault):
    code, name = "AG540", "optimizer-never-steps"
    law = "everything owned learns"
    broken = (
        ("optimizer-never-steps", "{} get gradients here, and their optimizer never steps"),
        (
            "closure-without-backward",
            "the closure of this step calls no backward: all its evaluations use one gradient",
        ),
    )
    finds, passes = examples("""\
net = nn.Linear(4, 1)
opt = optim.SGD(net.parameters(), lr=0.1)
!
for _ in range(5):
    x = torch.randn(8, 4)
    opt.zero_grad()
    F.mse_loss(net(x), x[:, :1]).backward()  # found
-    opt.step
+    opt.step()
!
for _ in range(5):
    x = torch.randn(8, 4)
    opt.zero_grad()
    F.mse_loss(net(x), x[:, :1]).backward()
    with torch.no_grad():
        for p in net.parameters():
            p -= 0.1 * p.grad
""")
