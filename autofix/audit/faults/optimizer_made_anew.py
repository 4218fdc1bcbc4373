"""An optimizer is made anew for each step.

## What it finds
Finds a line that makes an optimizer with a memory (Adam, momentum) of the same parameters again and again, each of
which makes one step, where the parameters go on from where the one before left them.

## Why it matters
Averages of gradients begin at nothing in each pass. Adam then moves every weight by the learning rate, whatever its
gradient is; momentum never gathers.

## What it cannot tell
An inner loop that adapts and puts the weights back is no fault, nor an optimizer without a memory.
"""

from autofix.audit.fault import Fault, examples


class OptimizerMadeAnew(Fault):
    code, name = "AG544", "optimizer-made-anew"
    broken = (
        ("optimizer-made-anew", "this makes an optimizer anew for each step: what it remembers of gradients is lost"),
    )
    noted = (("optimizer-made-anew-at-times", "this makes an optimizer anew now and then: each time it forgets"),)
    finds, passes = examples("""\
net = nn.Linear(4, 1)
!
for _ in range(8):
    x = torch.randn(8, 4)
    opt = optim.Adam(net.parameters())  # found
    train: F.mse_loss(net(x), x[:, :1])
!
state = copy.deepcopy(net.state_dict())
for _ in range(8):
    x = torch.randn(8, 4)
    net.load_state_dict(state)
    opt = optim.Adam(net.parameters())
    F.mse_loss(net(x), x[:, :1]).backward()
    opt.step()
    opt.zero_grad()
""")
