"""An input that each pass overwrites with what it makes of it.

## What it does
Gives what a pass makes of its input a name of its own: `h = g.ndata["h"]`, then `h = conv(g, h)` in place of
`g.ndata["h"] = conv(g, g.ndata["h"])`. What a pass writes by a second name (`mesh = self.template`, `mesh += …`) it
writes to a copy. So each pass begins with what was put there before the first one.

## Why autograd fails
The next pass takes the output of the one before for its input, and with it a graph that is freed. Where that graph is
cut, the network reads its own output: after ten passes it has ten times as many layers, of which one pass is trained.

## Fix safety
Never safe by itself: a state that passes hand on is written in the same way, and goes on from pass to pass. Where runs
show that the value was data and a pass reads nothing else, autofix asks.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from autofix.search.rule import Cause, Declined, Diagnosis, Example, Proposal, Rule, Sources, Tier
from autofix.syntax.edits import append_call, in_local_name, lasting

WHY = "Each iteration reads the original input, and no longer what the iteration before made."


class InputOverwritten(Rule):
    code, name = "AG211", "input-overwritten"
    title = "Keep the input under its name"
    causes = frozenset({Cause.FREED_GRAPH, Cause.SAVED_TENSOR_MODIFIED})
    tier = Tier.PASS
    examples = Example.each("""\
from types import SimpleNamespace
! unsafe: the loop may be meant to go on from what the pass before made
net, head = torch.nn.Linear(4, 4), torch.nn.Linear(4, 3)
opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
x, y = torch.randn(6, 4), torch.randint(3, (6,))
for _ in range(5):
-    x = torch.relu(net(x))
-    loss = torch.nn.functional.cross_entropy(head(x), y)
+    x_now = x
+    x_now = torch.relu(net(x_now))
+    loss = torch.nn.functional.cross_entropy(head(x_now), y)
    train: loss
! unsafe: the same of a field of an object that a network is given
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(2))

    def forward(self, graph):
        \"\"\"The features of all nodes.\"\"\"
-        for layer in self.layers:
-            graph.x = torch.tanh(layer(graph.x))
-        return graph.x
+        x = graph.x
+        for layer in self.layers:
+            x = torch.tanh(layer(x))
+        return x


net, graph = Net(), SimpleNamespace(x=torch.randn(6, 4), y=torch.randn(6, 4))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    loss = (net(graph) - graph.y).square().mean()
    train: loss
! unsafe: the same under a key
def run(layers, data):
-    data["h"] = torch.tanh(layers[0](data["h"]))
-    data["h"] = layers[1](data["h"])
-    return data["h"]
+    h = data["h"]
+    h = torch.tanh(layers[0](h))
+    h = layers[1](h)
+    return h


layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(2))
data = {"h": torch.randn(6, 4), "y": torch.randn(6, 4)}
opt = torch.optim.SGD(layers.parameters(), lr=0.1)
for _ in range(5):
    loss = (run(layers, data) - data["y"]).square().mean()
    train: loss
! unsafe: the same by a second name
class Deformed(torch.nn.Module):
    def __init__(self, template):
        super().__init__()
        self.register_buffer("template", template)
        self.net = torch.nn.Linear(2, 4)

    def forward(self, code):
-        mesh = self.template
+        mesh = self.template.clone()
        mesh += self.net(code)
        return mesh


model, codes = Deformed(torch.randn(4)), torch.randn(5, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for code in codes:
    loss = (model(code) - 1).square().mean()
    train: loss
! what is written by a second name begins with zeros: a sum
class Summed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(4))
        self.net = torch.nn.Linear(2, 4)

    def forward(self, code):
        total = self.total
        total += self.net(code)
        return total


model, codes = Summed(), torch.randn(5, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for code in codes:
    loss = (model(code) - 1).square().mean()
    train: loss
! a state begins with zeros
cell, head = torch.nn.GRUCell(2, 4), torch.nn.Linear(4, 1)
opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1)
h = torch.zeros(3, 4)
for _ in range(5):
    h = cell(torch.randn(3, 2), h)
    train: head(h).pow(2).mean()
! the pass writes into its input
net = torch.nn.Linear(4, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(6, 4)
for _ in range(5):
    x += torch.tanh(net(x))
    train: x.pow(2).mean()
""")

    def proposals(self, diagnosis: Diagnosis, sources: Sources) -> Iterator[Proposal]:
        """Where the failing pass took something of an earlier one: the statement that made it of what stood there.

        Or that gives what stands there the name by which it is written.
        """
        for crossing in diagnosis.crossed:
            if (found := lasting(sources, crossing.made)) is not None:
                yield self.propose(append_call(found.source, found.given, ".clone()"), WHY)
            for _, source, node in sources.nodes(crossing.made):
                with suppress(Declined):
                    yield self.propose(in_local_name(source, source.statement(node), diagnosis.failure.stack), WHY)
