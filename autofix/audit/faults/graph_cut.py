"""A path is cut before parameters that an optimizer owns.

## What it finds
Finds parameters that are owned, ask for a gradient, are used in each pass and never get one, because what is made of
them leaves the graph: by `.data`, `.item()`, `torch.tensor(…)`, NumPy, `argmax`, `.detach()` or `no_grad`, and comes
back into the loss. The line of the cut is named. A part that rests in eval mode, and a `detach` or `no_grad` in a run
that was cut short, are told, and are no alarm.

## Why it matters
The rest of the network learns around a part that stays as it was initialised. The loss falls, only not as far as it
could.

## What it cannot tell
That parameters never take part at all is another matter (AG509). A part that is frozen with `requires_grad_(False)`
is never named.
"""

from autofix.audit.fault import Fault, examples


class GraphCut(Fault):
    code, name = "AG524", "graph-cut"
    law = "everything owned learns"
    broken = (("graph-cut", "{} never get a gradient: the path to them ends here"),)
    noted = (
        ("graph-cut-perhaps", "{} are owned and never get a gradient: the path to them ends here"),
        ("state-cut-in-time", "this cuts the graph at each step of a loop: a loss reaches the last step alone"),
    )
    finds, passes = examples("""\
!
enc, dec = nn.Linear(4, 2), nn.Linear(2, 4)
opt = optim.SGD([*enc.parameters(), *dec.parameters()], lr=0.1)
for _ in range(5):
    x = torch.randn(8, 4)
-    code = torch.tanh(enc(x)).data  # found
+    code = torch.tanh(enc(x))  # found
    train: F.mse_loss(dec(code), x)
!
enc, dec = nn.Linear(4, 2).requires_grad_(False), nn.Linear(2, 4)
opt = optim.SGD([*enc.parameters(), *dec.parameters()], lr=0.1)
for _ in range(5):
    x = torch.randn(8, 4)
    with torch.no_grad():
        code = enc(x)
    train: F.mse_loss(dec(code), x)
!
enc, dec = nn.Linear(4, 2), nn.Linear(2, 4)
opt = optim.SGD([*enc.parameters(), *dec.parameters()], lr=0.1)
for _ in range(5):
    x = torch.randn(8, 4)
    code = enc(x)
    code = code + (code.round() - code).detach()
    train: F.mse_loss(dec(code), x)
    print(code.mean().item())
""")
