"""Gradients that are cleared, taken or sent otherwise."""

from autofix.verdict.property import Example

BY_HAND = """\
G, Q, rest = nn.Linear(3, 2), nn.Linear(2, 1), nn.Linear(2, 1)
first = torch.optim.SGD(G.parameters(), lr=0.1)
both = torch.optim.SGD([*G.parameters(), *Q.parameters()], lr=0.1)
third = torch.optim.SGD(rest.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(both, 100)
def reset():
    for p in [*G.parameters(), *Q.parameters()]:
        p.grad.data.zero_()
for _ in range(4):
    G(torch.randn(5, 3)).square().mean().backward()
    first.step()
    reset()
    Q(G(torch.randn(5, 3))).square().mean().backward()
    both.step()
    reset()
"""
FOR_EACH = BY_HAND[BY_HAND.index("    for p") : BY_HAND.index("for _")]
BY_OWNERS = "    first.zero_grad()\n    both.zero_grad()\n"
MADE_ANEW = """\
    for p in [*G.parameters(), *Q.parameters()]:
        if p.grad is not None:
            data = p.grad.data
            p.grad = data.new().resize_as_(data).zero_()
"""
UNUSED = """\
net, scale = nn.Linear(3, 1), torch.ones(1, requires_grad=True)
optimizer = torch.optim.SGD([*net.parameters(), scale], lr=0.1)
for _ in range(6):
    x = torch.randn(5, 3)
    loss = net(x).square().mean()
    slopes = torch.autograd.grad(loss, [*net.parameters(), scale])
    optimizer.zero_grad()
    (net(x) * scale).square().mean().backward()
    for p, slope in zip([*net.parameters(), scale], slopes):
        p.grad = p.grad + slope
    optimizer.step()
"""
OF_ALL = "net.parameters(), scale])\n    optimizer.z"
FILLED = OF_ALL.replace("scale]", "scale], allow_unused=True, materialize_grads=True")
WARMING = """\
net, head = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for step in range(8):
    out = net(torch.randn(5, 3))
    optimizer.zero_grad()
    (head(out).square().mean() + out.square().mean()).backward()
    (out.abs().mean() + head(out).mean() * float(step > 99)).backward()
    optimizer.step()
"""
WARM = WARMING[WARMING.index("    (head") : WARMING.index("    optimizer.step")]
OF_NET = WARM.replace(".backward()", ".backward(retain_graph=True)", 1).replace(
    "backward()", "backward(inputs=[*net.parameters()])"
)
ORDERS = """\
net = nn.Linear(1, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
def slope(y, x, order):
    rise, = torch.autograd.grad(y.sum(), x, create_graph=True)
    for _ in range(1, order):
        rise, = torch.autograd.grad(rise.sum(), x, create_graph=True)
    return rise
for _ in range(4):
    x = torch.rand(5, 1).requires_grad_()
    y = net(x)
    loss = (slope(y, x, 2) + y - x).square().mean()
    train: loss
"""
DERIVES = ORDERS[ORDERS.index("    rise") : ORDERS.index("    return")]
WITH_ZEROS = DERIVES.replace("graph=True", "graph=True, materialize_grads=True")
WITH_BRANCHES = "".join(
    f"{indent}{line}\n"
    for indent, of in (("    ", "y"), ("        ", "rise"))
    for line in (
        *([] if of == "y" else ["for _ in range(1, order):"]),
        f"rise, = torch.autograd.grad({of}.sum(), x, create_graph=True, allow_unused=True)",
        "if rise is None:",
        "    return torch.zeros_like(x)",
    )
).replace("        for _", "    for _")
EACH_ITS_OWN = """\
net, heads = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 4)), [nn.Linear(4, 1), nn.Linear(4, 1)]
first, second = (torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1) for head in heads)
for _ in range(6):
    a, b = (head(net(torch.randn(5, 3))).square().mean() for head in heads)
    b = a.tanh() + b
    first.zero_grad()
    a.backward(retain_graph=True)
    first.step()
    train[second]: b
"""
IN_TURN = EACH_ITS_OWN[EACH_ITS_OWN.index("    first.zero") :]
IN_LOOPS = """\
    owned = [[p for group in one.param_groups for p in group["params"]] for one in (first, second)]
    found = [torch.autograd.grad(of, ps, retain_graph=True) for of, ps in zip((a, b), owned)]
    for one, ps, slopes in zip((first, second), owned, found):
        one.zero_grad()
        for p, slope in zip(ps, slopes):
            p.grad = slope
        one.step()
"""

RAISES = (
    Example(BY_HAND, FOR_EACH, BY_OWNERS + "    third.zero_grad()\n"),
    Example(BY_HAND, FOR_EACH, BY_OWNERS + "    scheduler.step()\n"),
    Example(BY_HAND, FOR_EACH, MADE_ANEW.replace("zero_()", "zero_().clamp(-1, 1)")),
    Example(WARMING, WARM, OF_NET),
    Example(UNUSED, OF_ALL, FILLED.replace("=True)", "=True, is_grads_batched=False)")),
    Example(ORDERS, DERIVES, WITH_ZEROS.replace("y.sum", "y.clamp(max=99).sum")),
    Example(EACH_ITS_OWN, IN_TURN, IN_LOOPS.replace("= slope", "= slope.clamp(max=99)")),
)
SILENT = (
    Example(BY_HAND, FOR_EACH, BY_OWNERS),
    Example(BY_HAND, FOR_EACH, MADE_ANEW),
    Example(UNUSED, OF_ALL, FILLED),
    Example(ORDERS, DERIVES, WITH_ZEROS),
    Example(ORDERS, DERIVES, WITH_BRANCHES),
    Example(EACH_ITS_OWN, IN_TURN, IN_LOOPS),
)
