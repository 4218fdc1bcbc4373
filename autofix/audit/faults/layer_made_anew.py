"""A layer is made anew in each forward.

## What it finds
Finds parameters that get a gradient once and are never seen again, because the line that makes their layer runs in
every pass.

## Why it matters
The layer has new random weights in each pass. The rest of the network learns to live with noise.

## What it cannot tell
Weights that another network computes, and inner copies with an optimizer of their own, are no parameters without
owner.
"""

from autofix.audit.fault import Fault, examples


class LayerMadeAnew(Fault):
    code, name = "AG539", "layer-made-anew"
    broken = (("layer-made-anew", "this makes a layer anew in each pass: what it learns is lost"),)
    finds, passes = examples("""\
!
net = nn.Linear(4, 4)
opt = optim.SGD(net.parameters(), lr=0.1)
for _ in range(6):
    x = torch.randn(8, 4)
    head = nn.Linear(4, 1)  # found
    train: F.mse_loss(head(net(x)), x[:, :1])
!
net, hyper = nn.Linear(4, 4), nn.Linear(4, 16)
opt = optim.SGD([*net.parameters(), *hyper.parameters()], lr=0.1)
for _ in range(6):
    x = torch.randn(8, 4)
    weight = hyper(x.mean(0)).view(4, 4)
    train: F.mse_loss(F.linear(net(x), weight), x)
""")
