"""Every step of an optimizer finds no gradient.

## What it finds
Finds an optimizer that was stepped three times or more, and at no step had any of its parameters a gradient: because
all are frozen, because the loss was cut from them, or because the loss is a new leaf. The line where the path was cut
is named beside the step. Gradients that are there and exactly 0 at every step are told, and are no alarm.

## Why it matters
Such a step returns at once. The loss may still fall, by what other optimizers do, or stay where it is; nothing says
that this network never learns.

## What it cannot tell
It stays silent about an optimizer that is idle for a while and steps with gradients later or earlier.
"""

from autofix.audit.fault import Fault, examples


class StepsWithoutGradient(Fault):
    code, name = "AG521", "steps-without-gradient"
    law = "everything owned learns"
    broken = (
        ("steps-without-gradient", "no parameter of this optimizer had a gradient at any step: it trains nothing"),
    )
    noted = (
        ("gradients-all-zero", "every gradient that this optimizer used was exactly 0"),
        ("gradients-zero", "every gradient of {} was exactly 0"),
    )
    finds, passes = examples("""\
!
net = nn.Linear(4, 2)
opt = optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    x = torch.randn(8, 4)
-    loss = torch.tensor(F.mse_loss(net(x), x[:, :2]).item(), requires_grad=True)
+    loss = F.mse_loss(net(x), x[:, :2])
    opt.zero_grad()
    loss.backward()
    opt.step()  # found
!
a, b = nn.Linear(4, 2), nn.Linear(4, 2)
opt_a, opt_b = optim.SGD(a.parameters(), lr=0.1), optim.SGD(b.parameters(), lr=0.1)
for step in range(12):
    x = torch.randn(8, 4)
    opt_a.zero_grad()
    opt_b.zero_grad()
    F.mse_loss((a if step < 6 else b)(x), x[:, :2]).backward()
    opt_a.step()
    opt_b.step()
!
net = nn.Linear(4, 2)
opt = optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    x = torch.randn(8, 4)
    train: F.mse_loss(net(x), x[:, :2])
""")
