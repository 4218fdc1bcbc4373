"""A parameter has a name: modules that keep only what they computed from one, and what is easily mistaken for them."""

from __future__ import annotations

from lawful import Program

OLD = "        self.scale = torch.exp(nn.Parameter(torch.zeros(3)))\n"
RAW = (OLD, "        self.log_scale = nn.Parameter(torch.zeros(3))\n")
EDITS = {
    "keep": (("loss.backward()", "loss.backward(retain_graph=True)"),),
    "cut": (("x * self.scale", "x * self.scale.detach()"),),
    "cut where it is made": ((OLD, OLD.replace("3)))", "3))).detach()")),),
    "in forward": (RAW, ("x * self.scale", "x * torch.exp(self.log_scale)")),
    "in another method": (
        RAW,
        ("x * self.scale", "x * self.scale()"),
        ("    def forward", "    def scale(self):\n        return self.log_scale.exp()\n\n    def forward"),
    ),
    "the value itself": ((OLD, "        self.scale = nn.Parameter(torch.exp(torch.zeros(3)))\n"),),
    "named and cut": (RAW, ("x * self.scale", "x * torch.exp(self.log_scale.detach())")),
    "without exp": (RAW, ("x * self.scale", "x * self.log_scale")),
    "named and not used": (
        (OLD, f"        self.log_scale = nn.Parameter(torch.zeros(3))\n{OLD.replace('3)))', '3))).detach()')}"),
    ),
    "the rest is cut": (
        RAW,
        ("x * self.scale", "x * torch.exp(self.log_scale)"),
        ("+ self.bias", "+ self.bias.detach()"),
    ),
}
SCALED = Program(
    "a scale is kept and its logarithm is not",
    """\
class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.exp(nn.Parameter(torch.zeros(3)))
        self.bias = nn.Parameter(torch.zeros(3))

    def forward(self, x):
        return x * self.scale + self.bias


layer, net = Layer(), Net(3, 3)
both = Optimizers(nn.ModuleList([layer, net]))
for _ in range(5):
    x = torch.randn(8, 3)
    loss = F.mse_loss(layer(net(x)), 2 * x)
    both.zero_grad()
    loss.backward()
    both.step()
""",
    EDITS,
    frozenset({"in forward", "in another method"}),
)
PROGRAMS = [
    SCALED,
    SCALED.mutated(
        "the optimizer owns another network alone",
        ("nn.ModuleList([layer, net])", "net"),
    ),
]
