"""A tensor that outlives the pass is written by a second name

## What it finds

Each pass gives a second name to a tensor that was there before it (`mesh = self.template`), writes by that name
(`mesh += self.net(code)`), and the next pass finds the tensor changed. It is no state: that is also written by its own
name or starts empty, or its new value is made of the old one.

## Why it matters

Every pass writes upon what the earlier ones left, while its author mostly means to begin with the same template each
time. An edit that only detaches the tensor between passes keeps this.
"""

from __future__ import annotations

from autofix.verdict.property import Evidence, Example, Finding, Property
from autofix.verdict.shared import other_names

MESH = """\
class Deformed(nn.Module):
    def __init__(self, template):
        super().__init__()
        self.register_buffer("template", template)
        self.net = nn.Linear(3, 4)

    def forward(self, code):
        mesh = self.template
        mesh += 0.1 * self.net(code)
        return mesh


torch.manual_seed(0)
model, codes = Deformed(torch.randn(4)), torch.randn(6, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for code in codes:
    loss = (model(code) - 1).square().mean()
    train: loss
"""
WEIGHED = """\
class Spatial(nn.Module):
    def __init__(self, adjacency):
        super().__init__()
        self.A, self.net = adjacency, nn.Linear(4, 4)
        self.mask = nn.Parameter(torch.ones(4, 4))

    def forward(self, x):
        A = self.A
        A *= self.mask
        return self.net(x) @ A


torch.manual_seed(0)
model = Spatial(torch.rand(4, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(6):
    loss = (model(torch.randn(3, 4)) - 1).square().mean()
    train: loss
"""
MOVED_FIRST = WEIGHED.replace("        A = self.A\n", '        self.A = self.A.to("cpu")\n        A = self.A\n')
IN_PART = WEIGHED.replace("A *= self.mask", "A[1:] *= self.mask[1:]")
HANDED = WEIGHED.replace("        A = self.A\n        A *= self.mask\n", "        A = self.weighed(self.A)\n").replace(
    "    def forward", "    def weighed(self, A):\n        A.mul_(self.mask)\n        return A\n\n    def forward"
)
BY_ROWS = WEIGHED.replace(
    "        A = self.A\n        A *= self.mask\n        return self.net(x) @ A\n",
    """\
        seen, out = self.net(x), 0
        for row in range(4):
            part = self.A[row]
            part *= self.mask[row]
            out = out + seen * part
        return out
""",
)
ROWS = BY_ROWS[BY_ROWS.index("* part") :]
COPIED_ROWS = ROWS.replace("* part", "* part.clone()").replace("loss\n", "loss\n    model.A = model.A.detach()\n")
CUT_A = ("    optimizer.step()\n", "    optimizer.step()\n    model.A = model.A.detach()\n")
ROLLED = ("mesh = self.template\n", "mesh = self.template.detach()\n")
STARTED = MESH.replace("torch.randn(4)", "torch.zeros(4)").replace(
    'register_buffer("template", template)', 'register_buffer("template", torch.zeros(4))'
)
RESET = MESH.replace("for code in codes:\n", "for code in codes:\n    model.template.mul_(0.5)\n")
BOUND = MESH.replace(
    "        return mesh\n", "        return mesh\n\n    def begin(self, template):\n        self.template = template\n"
)
RECURRENT = MESH.replace("self.net(code)", "self.net(code + self.seen(mesh))").replace(
    "    def forward", "    def seen(self, mesh):\n        return mesh[:3].detach()\n\n    def forward"
)
ROLLOUT = """\
class World:
    def __init__(self):
        self.position = torch.rand(4)

    def step(self, action):
        position = self.position
        position += 0.1 * action.tanh()
        return position


torch.manual_seed(0)
policy, world = nn.Linear(4, 4), World()
optimizer = torch.optim.SGD(policy.parameters(), lr=0.1)
seen = torch.rand(4)
for _ in range(5):
    action = policy(2 * seen)
    seen = world.step(action)
    loss = (seen - 1).square().mean()
    train: loss
"""
MOVED = ROLLOUT.replace("    seen = world.step(action)\n    loss = (seen", "    loss = (world.step(action)").replace(
    "2 * seen", "2 * world.position"
)
STOPPED = ("    optimizer.step()\n", "    optimizer.step()\n    world.position.detach_()\n")
LOOPED = """\
net, base = nn.Linear(3, 4), torch.randn(4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(6):
    moved = base
    moved += 0.1 * net(torch.randn(3))
    loss = (moved - 1).square().mean()
    train: loss
"""
NAMED_ONCE = LOOPED.replace("    moved = base\n", "").replace("for _ in", "moved = base\nfor _ in")
ENDED = ("    optimizer.step()\n", "    optimizer.step()\n    base.detach_()\n")


class LastingTensorIsWritten(Property):
    change = "copied"
    sentence = (
        "{subject} is the same tensor as {other}, which this line writes in each pass; the next pass may be meant to "
        "find its first value"
    )
    raises = (
        Example(MESH, *ROLLED),
        Example(WEIGHED, *CUT_A),
        Example(MOVED_FIRST, *CUT_A),
        Example(IN_PART, *CUT_A),
        Example(HANDED, *CUT_A),
        Example(BY_ROWS, ROWS, COPIED_ROWS),
        Example(LOOPED, *ENDED),
    )
    silent = (
        Example(STARTED, *ROLLED),
        Example(RESET, *ROLLED),
        Example(BOUND, *ROLLED),
        Example(WEIGHED.replace("A = self.A\n        A *=", "self.A *=").replace("@ A", "@ self.A"), *CUT_A),
        Example(MOVED_FIRST.replace('self.A.to("cpu")', 'self.A.to("cpu").clone()'), *CUT_A),
        Example(RECURRENT, *ROLLED),
        Example(NAMED_ONCE, *ENDED),
        Example(ROLLOUT, *STOPPED),
        Example(MOVED, *STOPPED),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        named = other_names.lasting(evidence)
        return (
            self.found(named[1], **other_names.words(evidence, *named)) if other_names.shows(evidence, named) else None
        )
