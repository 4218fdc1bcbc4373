"""A network reads its own output in place of its input

## What it finds

The first pass of a network reads data that the script has put somewhere. A pass writes what it makes of that in its
place, so that each later pass reads the output of the one before and nothing else. All of it goes through parameters
once more, and the loss holds it against the same data as before. The edit keeps that, and only ends the graph.

It is not said of a state: that begins with zeros, or each pass reads something of its own beside it, or the state also
moves on past the network, as that of a simulation does.

## Why it matters

After ten passes the network that is trained is one of ten times as many layers, and what was put there is gone. Mostly
the input was to stay as it is, and what a pass makes of it needs a name of its own.
"""

from __future__ import annotations

from autofix.verdict.left_open import own_output
from autofix.verdict.property import Evidence, Example, Finding, Property

FEATURES = """\
layers, head = nn.ModuleList(nn.Linear(4, 4) for _ in range(2)), nn.Linear(4, 3)
optimizer = torch.optim.SGD([*layers.parameters(), *head.parameters()], lr=0.1)
near = (torch.rand(9, 9) < 0.3).float()
nodes = {"h": torch.randn(9, 4), "label": torch.randint(3, (9,))}
for _ in range(6):
    for layer in layers:
        nodes["h"] = torch.relu(layer(near @ nodes["h"]))
    loss = nn.functional.cross_entropy(head(nodes["h"]), nodes["label"])
    train: loss
"""
CUT = ("    optimizer.step()\n", '    optimizer.step()\n    nodes["h"] = nodes["h"].detach()\n')
ENDED = ("    optimizer.step()\n", "    optimizer.step()\n    h = h.detach()\n")
OWN_NAME = (
    """    for layer in layers:
        nodes["h"] = torch.relu(layer(near @ nodes["h"]))
    loss = nn.functional.cross_entropy(head(nodes["h"]), nodes["label"])
""",
    """    h = nodes["h"]
    for layer in layers:
        h = torch.relu(layer(near @ h))
    loss = nn.functional.cross_entropy(head(h), nodes["label"])
""",
)
REFINED = """\
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 4))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
h, y = torch.randn(9, 4), torch.randn(9, 4)
for _ in range(6):
    h = net(h)
    loss = (h - y).square().mean()
    train: loss
"""
READ = REFINED.replace("nn.Linear(4, 8), nn.Tanh()", "nn.Linear(6, 8), nn.Tanh()")
FRESH = READ.replace("net(h)", "net(torch.cat([h, torch.randn(9, 2)], 1))")
FIXED = READ.replace("h, y =", "x, h, y = torch.randn(9, 2),").replace("net(h)", "net(torch.cat([h, x], 1))")
ZEROS = REFINED.replace("h, y = torch.randn(9, 4)", "h, y = torch.zeros(9, 4)")
MOVED = REFINED.replace("h = net(h)", "h = h + 0.1 * net(h)")
EACH = REFINED.replace("h - y", "h - torch.randn(9, 4)")
BEGUN = REFINED.replace("range(6):\n", "range(6):\n    if _ % 3 == 0:\n        h = torch.randn(9, 4)\n")
UNHELD = REFINED.replace("h - y", "h - 1")


class NetworkReadsItsOutput(Property):
    change = "input_kept"
    last = True
    sentence = (
        "the network reads data in the first iteration, and in each later one only its own last output. Each "
        "iteration may be meant to read the data"
    )
    raises = (Example(FEATURES, *CUT), Example(REFINED, *ENDED))
    silent = (
        Example(FRESH, *ENDED),
        Example(FIXED, *ENDED),
        Example(ZEROS, *ENDED),
        Example(MOVED, *ENDED),
        Example(EACH, *ENDED),
        Example(BEGUN, *ENDED),
        Example(UNHELD, *ENDED),
        Example(FEATURES, *OWN_NAME),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        fact = own_output.seen(evidence)
        return self.found(fact.stack) if fact is not None else None
