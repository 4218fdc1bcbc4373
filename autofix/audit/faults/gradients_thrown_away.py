"""Gradients are cleared before any step uses them.

## What it finds
Finds a loop in which the same backward runs several times for one step, and `zero_grad()` between them clears all but
the last: accumulation over micro-batches whose clearing stands in the wrong place. Finds a backward of which in every
pass all is cleared before a step, a clip or the script itself has used any of it.

## Why it matters
Of each group only the last micro-batch is trained on. Memory, time and the division of the loss suggest a large
batch; the gradient is that of a small one.

## What it cannot tell
Gradients that a loss sends to a further network and that are cleared before its own, as in adversarial training, are
thrown away on purpose.
"""

from autofix.audit.fault import Fault, examples


class GradientsThrownAway(Fault):
    code, name = "AG523", "gradients-thrown-away"
    broken = (
        ("gradients-thrown-away", "this clears gradients before any step used them: only the last batch counts"),
        ("backward-in-vain", "this clears all that a backward call sent, in each pass, before any step used it"),
    )
    finds, passes = examples("""\
net = nn.Linear(4, 1)
opt = optim.SGD(net.parameters(), lr=0.1)
!
for i in range(16):
    x = torch.randn(4, 4)
-    opt.zero_grad()  # found
    (F.mse_loss(net(x), x[:, :1]) / 4).backward()
    if i % 4 == 3:
        opt.step()
+        opt.zero_grad()  # found
!
for i in range(16):
    x = torch.randn(4, 4)
    (F.mse_loss(net(x), x[:, :1]) / 4).backward()
    if i % 4 == 3:
        opt.step()
        opt.zero_grad()
!
for _ in range(6):
    x = torch.randn(4, 4)
    opt.zero_grad()
    F.mse_loss(net(x), x[:, :1]).backward()
    move = [0.05 * p.grad.sign() for p in net.parameters()]
    train: F.mse_loss(net(x + move[0].mean()), x[:, :1])
!
first, second = optim.SGD([net.weight], lr=0.1), optim.SGD([net.bias], lr=0.1)
for i in range(24):
    x = torch.randn(4, 4)
    net.zero_grad()
    F.mse_loss(net(x), x[:, :1]).backward()
    (first if i % 8 < 4 else second).step()
!
net = nn.Linear(4, 2)
opt = optim.SGD(net.parameters(), lr=0.1)
for _ in range(6):
    out, kept = net(torch.randn(4, 4)), []
    for loss in (out[:, 0].square().mean(), (out[:, 1] - 1).square().mean()):
        opt.zero_grad()
        loss.backward(retain_graph=True)
        kept.append([p.grad.clone() for p in net.parameters()])
    for p, *grads in zip(net.parameters(), *kept):
        p.grad = sum(grads)
    opt.step()
""")
