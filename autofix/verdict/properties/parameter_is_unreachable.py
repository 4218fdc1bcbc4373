"""A parameter can be reached by nothing

## What it finds

A parameter that was made before training began gets a gradient in the code as written, and no variable, module or
optimizer has it: only the graph of what was computed from it does, as in `self.scale = torch.exp(nn.Parameter(…))`. Or
it would get one, and a deep copy of what was computed from it has none. The edit keeps it so. This is not said of a
parameter that the program holds, as one that is frozen or updated by hand, nor of those of a layer that was let go of:
that may be a fixed projection.

## Why it matters

An `nn.Parameter` is made to be trained. Here nothing can train it, whatever the edit: it has to be kept under a name of
its own (`self.raw = nn.Parameter(…)`), and what is computed from it has to be computed in each pass.
"""

from __future__ import annotations

from autofix.verdict.property import Evidence, Example, Finding, Property

KERNEL = """\
class Kernel(nn.Module):
    def __init__(self, scale):
        super().__init__()
        self.scale = torch.exp(nn.Parameter(torch.tensor(scale)))
        self.noise = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return torch.exp(-(x / self.scale).square()) + self.noise.exp()


model = Kernel(0.5)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
for _ in range(5):
    loss = (model(torch.linspace(0, 1, 9)) - 0.5).square().mean()
    train: loss
"""
KEEP = ("loss.backward()", "loss.backward(retain_graph=True)")
CUT = ("(x / self.scale)", "(x / self.scale.detach())")
HELD = KERNEL.replace(
    "self.scale = torch.exp(nn.Parameter(torch.tensor(scale)))",
    "self.raw = [nn.Parameter(torch.tensor(scale))]\n        self.scale = torch.exp(self.raw[0])",
)
FACTORS = """\
def factor(*shape):
    return nn.Parameter(torch.randn(*shape)).tanh()


users, bias = factor(6, 3), torch.zeros(6, requires_grad=True)
optimizer = torch.optim.SGD([bias], lr=0.1)
for _ in range(5):
    loss = (users.sum(1) + bias - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
TENSOR = FACTORS.replace("nn.Parameter(torch.randn(*shape))", "torch.randn(*shape).requires_grad_()")
BY_HAND = FACTORS.replace("users,", "raw = nn.Parameter(torch.randn(6, 3))\nusers,").replace(
    "factor(6, 3),", "raw.tanh(),"
)
BY_HAND = BY_HAND.replace("    optimizer.step()\n", "    optimizer.step()\n    raw.data -= 0.1 * raw.grad\n")
LAYER = FACTORS.replace("nn.Parameter(torch.randn(*shape)).tanh()", "nn.Linear(4, shape[1])(torch.ones(shape[0], 4))")
OFF = ("users.sum(1)", "users.detach().sum(1)")
CLONED = """\
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.bias = MADE

    def forward(self, x):
        return (self.linear(x) + self.bias).tanh()


layer = Layer()
model = nn.Sequential(*(copy.deepcopy(layer) for _ in range(2)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    loss = (model(torch.randn(5, 3)) - 1).square().mean()
    train: loss
"""
SCALED = "import copy\n" + CLONED.replace("MADE", "nn.Parameter(torch.randn(3)) * 0.1")
KEPT = "import copy\n" + CLONED.replace("MADE", "(torch.ones(3, requires_grad=True) * torch.randn(3)).cumsum(0)")
DETACHED = ("nn.Parameter(torch.randn(3)) * 0.1", "(nn.Parameter(torch.randn(3)) * 0.1).detach()")


class ParameterIsUnreachable(Property):
    change = "registered"
    sentence = (
        "nothing keeps the parameter that is made here, so that no optimizer can train it. Keep it as"
        " an attribute (`self.raw = nn.Parameter(…)`), and compute from it in each forward"
    )
    raises = (Example(KERNEL, *KEEP), Example(KERNEL, *CUT), Example(FACTORS, *KEEP), Example(SCALED, *DETACHED))
    silent = (
        Example(HELD, *KEEP),
        Example(TENSOR, *OFF),
        Example(BY_HAND, *KEEP),
        Example(LAYER, *OFF),
        Example(KEPT, ".cumsum(0)", ".cumsum(0).detach()"),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        lost = evidence.letter.seen("unreachable")
        return self.found(lost[0].stack) if lost else None
