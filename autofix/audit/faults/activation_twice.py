"""A loss that applies an activation gets its result.

## What it finds
Finds `cross_entropy` whose input is the result of a softmax in the graph, and `binary_cross_entropy_with_logits`
whose input is that of a sigmoid, whichever module made it.

## Why it matters
The activation is applied twice. Scores that lie between 0 and 1 can never make a class surely right or wrong:
gradients are small, and the loss of C classes cannot fall below about log(1 + (C - 1) / e).

## What it cannot tell
A softmax whose result goes elsewhere, as attention weights do, is none of its business.
"""

from autofix.audit.fault import Fault, examples


class ActivationTwice(Fault):
    code, name = "AG528", "activation-twice"
    broken = (("activation-twice", "this loss applies {} itself, and gets its result"),)
    finds, passes = examples("""\
!
-net = nn.Sequential(nn.Linear(4, 3), nn.Softmax(dim=1))
+net = nn.Sequential(nn.Linear(4, 3), nn.Identity())
opt = optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    x, y = torch.randn(8, 4), torch.randint(3, (8,))
    opt.zero_grad()
    loss = F.cross_entropy(net(x), y)  # found
    loss.backward()
    opt.step()
!
key, value = nn.Linear(4, 4), nn.Linear(4, 3)
opt = optim.SGD([*key.parameters(), *value.parameters()], lr=0.1)
for _ in range(5):
    x, y = torch.randn(8, 5, 4), torch.randint(3, (8,))
    weight = F.softmax(key(x) @ x.transpose(1, 2), dim=-1)
    train: F.cross_entropy((weight @ value(x)).mean(1), y)
""")
