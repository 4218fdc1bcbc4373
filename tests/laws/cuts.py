"""A gradient is sent on once: parts of a model that each go backward by themselves, and what looks like them."""

from __future__ import annotations

from lawful import Program

SPLIT = Program(
    "split learning of two clients",
    """\
one, two, server = Net(3, 4), Net(3, 4), Net(8, 2)
parts = Optimizers(one, two, server)


class Client:
    def __init__(self, net):
        self.net = net

    def forward(self, x):
        self.sent = self.net(x)
        return self.sent


def serve(taken):
    for h in taken:
        h.retain_grad()
    loss = (server(torch.cat(taken, 1)) - 1).square().mean()
    loss.backward()
    return [h.grad.clone() for h in taken]


clients = [Client(one), Client(two)]
for _ in range(3):
    parts.zero_grad()
    taken = [client.forward(torch.randn(6, 3)) for client in clients]
    for client, back in zip(clients, serve(taken)):
        client.sent.backward(back)
    parts.step()
""",
    {
        "sent as leaves": (("        return self.sent", "        return self.sent.detach().requires_grad_()"),),
        "taken as leaves": (
            (
                "    for h in taken:\n",
                "    taken = [h.detach().requires_grad_() for h in taken]\n    for h in taken:\n",
            ),
        ),
        "keep": (("loss.backward()", "loss.backward(retain_graph=True)"),),
        "the server alone": (("zip(clients, serve(taken))", "zip([], serve(taken))"),),
        "one client is left out": (
            ("zip(clients, serve(taken))", "zip(clients[:1], serve([h.detach().requires_grad_() for h in taken]))"),
        ),
    },
    frozenset({"sent as leaves", "taken as leaves", "the server alone"}),
)
ONE_OPTIMIZER = SPLIT.mutated(
    "split learning with one optimizer",
    ("Optimizers(one, two, server)", "Optimizers(torch.nn.ModuleList([one, two, server]))"),
    right=("sent as leaves", "taken as leaves", "the server alone"),
)
NOISY = SPLIT.mutated("noise on what is sent back", ("h.grad.clone()", "h.grad + 0.1 * torch.randn(6, 4)"))
ZEROED = SPLIT.mutated(
    "what the server left is zeroed",
    ("        client.sent.backward(back)", "        client.net.zero_grad()\n        client.sent.backward(back)"),
    right=("sent as leaves", "taken as leaves", "keep", "the server alone"),
)
ZEROED_IN_PART = SPLIT.mutated(
    "a part of what the server left is zeroed",
    ("        client.sent.backward(back)", "        client.net.out.zero_grad()\n        client.sent.backward(back)"),
)
OWN_LOSS = SPLIT.mutated(
    "each client has a loss of its own",
    ("client.sent.backward(back)", "client.sent.backward(torch.ones(6, 4))"),
)
PROGRAMS = [SPLIT, ONE_OPTIMIZER, NOISY, ZEROED, ZEROED_IN_PART, OWN_LOSS]
