"""Writes that are said otherwise."""

from autofix.verdict.property import Example

BOUND_BELOW = """\
net, head = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for _ in range(8):
    h = net(torch.randn(5, 3))
    h = torch.relu(h)
    h[0] = 0.5
    train: (head(h) - 1).square().mean()
"""
MASKED = """\
net = nn.Linear(3, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
most = 1e6
for _ in range(8):
    heat = net(torch.randn(5, 3)).sigmoid()
    heat[:, 0] = 0
    heat[:, 3] = 0
    optimizer.zero_grad()
    (heat - 0.3).square().sum().backward()
    nn.utils.clip_grad_norm_(net.parameters(), most)
    optimizer.step()
"""
ENDS = "    heat[:, 0] = 0\n    heat[:, 3] = 0\n"
MASK = "    mask = torch.ones(4)\n    mask[0], mask[3] = 0, 0\n    heat = heat * mask\n"
FILL = """\
    ends = torch.tensor([True, False, False, True])
    heat = heat.masked_fill(ends[None].expand_as(heat), 0.0)
"""
SUNK = """\
net = nn.Linear(3, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
last = torch.arange(4) > 2
for _ in range(8):
    heat = net(torch.randn(5, 3)).sigmoid()
    mean = heat.square().mean()
    heat[:, last] = -1e9
    loss = heat.max(1)[0].mean() - mean
    train: loss
"""
SINKS = SUNK[SUNK.index("    heat[") : SUNK.index(".max")]
SINKS_ANEW = "    loss = (heat + last.float() * -1e9)"
PAIR = """\
net = nn.Linear(3, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
first = torch.arange(4) == 0
for _ in range(8):
    heat, size = net(torch.randn(5, 3)).sigmoid(), net(torch.randn(5, 3))
    heat[:, first] = 0
    size[:, first] = 0
    train: (heat - 0.3).square().sum().add(size.square().sum())
"""
BOTH = "    heat[:, first] = 0\n    size[:, first] = 0\n"
OF_HEAT, OF_SIZE = (f"    {name} = torch.where(first, torch.zeros(()), {name})\n" for name in ("heat", "size"))
CLIPPED = MASKED[MASKED.index("most") :]
CLIP = "    nn.utils.clip_grad_norm_(net.parameters(), most)\n"
CHAIN = """\
net = nn.Linear(3, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
def chained(x):
    length, scale = x.shape[1], torch.ones(4)
    out = x.exp()
    out[:, 0] = 0
    for k in range(1, length):
        out[:, k] = (out[:, k - 1] + out[:, k]).sin()
    return out * scale
for _ in range(8):
    optimizer.zero_grad()
    chained(net(torch.randn(5, 3))).square().mean().backward()
    norm = nn.utils.clip_grad_norm_(net.parameters(), 1e6)
    optimizer.step()
"""
BODY = CHAIN[CHAIN.index("    length") : CHAIN.index("for _")]
IN_ROWS = """\
    with torch.enable_grad():
        rows = [torch.zeros_like(x[:, 0])]
        for k in range(1, x.shape[1]):
            rows.append((rows[-1] + x[:, k].exp()).sin())
        return torch.stack(rows, 1)
"""
REST_OF_CHAIN = CHAIN[CHAIN.index("    length") :]
NORM = CHAIN[CHAIN.index("    norm") : CHAIN.index("    optimizer.step")]
BEHIND = CLIPPED.replace(CLIP, "") + CLIP
OWNED = MASKED.replace("net.parameters(), most", "[*net.parameters()], most")
GIVEN_OWNED = OWNED[OWNED.index("    heat[:, 0]") : OWNED.index("    optimizer.step")]
BY_NAME = f"{MASK}    owned = [*net.parameters()]\n" + GIVEN_OWNED.replace(ENDS, "").replace(
    "([*net.parameters()], most)", "(owned, most)"
)
CLEARED = "optimizer.zero_grad()\n", "for p in owned:\n        p.grad = None\n"
GIVEN_ONCE = GIVEN_OWNED.replace("[*net.parameters()]", "net.parameters()")
ACTIVE = """\
cell, norm = nn.GRUCell(3, 4), nn.LayerNorm(4)
optimizer = torch.optim.SGD([*cell.parameters(), *norm.parameters()], lr=0.1)
for _ in range(6):
    state, seen, loss = torch.zeros(5, 4), torch.randn(3, 5, 3), 0
    for t, active in enumerate((5, 4, 2)):
        state[:active] = cell(seen[t, :active], state[:active])
        loss = loss + norm(state[:active])[:, 0].square().mean()
    optimizer.zero_grad()
    (loss + state.mean()).backward()
    optimizer.step()
"""
WRITES = ACTIVE[ACTIVE.index("        state[:active]") : ACTIVE.index("    optimizer.zero")]
BY_ROW = (
    WRITES.replace("state[:active] = cell", "h = cell", 1)
    .replace("norm(state[:active])", "norm(h)")
    .replace("        loss", "        state = state.clone()\n        state[:active] = h\n        loss")
)
RENORMED = """\
net, head = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for _ in range(6):
    net.weight.renorm_(2, dim=0, maxnorm=0.5)
    head.weight.renorm_(2, dim=0, maxnorm=99)
    loss = head(net(torch.randn(5, 3)).tanh()).square().mean()
    train: loss
"""
RENORMS = RENORMED[RENORMED.index("    net.") : RENORMED.index("    loss")]
BY_FUNCTION = "".join(
    f"    {name}.data = torch.renorm({name}.data, 2, dim=0, maxnorm={most})\n"
    for name, most in (("net.weight", 0.5), ("head.weight", 99))
)
JUMPS = """\
cell = nn.GRUCell(3, 4)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
seen = torch.tensor([0, 3])
for _ in range(8):
    h = cell(torch.randn(5, 3), torch.zeros(5, 4))
    mean = h.square().mean()
    h[seen] = cell(torch.randn(len(seen), 3), h[seen])
    loss = h.mean() - mean
    train: loss
"""
JUMP = JUMPS[JUMPS.index("    h[seen]") : JUMPS.index("    loss")]
JUMPED = JUMP.replace("h[seen] = ", "jumped = torch.zeros_like(h).index_copy(0, seen, ", 1).replace("])\n", "]))\n")
WHERE_SEEN = f"""\
{JUMPED}\
    mask = torch.zeros(5, 1, dtype=torch.bool)
    mask[seen] = True
    h = torch.where(mask, jumped, h)
"""
ALL_JUMP = JUMPS.replace("torch.tensor([0, 3])", "torch.arange(5)")
CARRIED_ON = """\
net = nn.Linear(3, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(8):
    given = (torch.rand(4, 5, 3) > 0.5).float()
    last, loss = net(torch.ones(5, 3)), 0
    for seen, mask in zip(torch.randn(4, 5, 3) * given, given):
        loss = loss + last.square().mean()
        known = mask.bool()
        last[known] = seen[known]
    train: loss
"""
LAST = "last[known] = seen[known]"
BLENDED = "last = mask * seen + (1 - mask) * last"
BY_ALIAS = """\
net, head = nn.Linear(3, 4), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for _ in range(8):
    gate = net(torch.randn(5, 3)).sigmoid()
    size = gate.square().mean()
    low = (torch.arange(4) < 1).float()
    masked = gate
    masked[:, low.bool()] = 1.0
    loss = (head(masked) * masked).mean() + size
    train: loss
"""
TO_ALIAS = BY_ALIAS[BY_ALIAS.index("    masked") : BY_ALIAS.index("    loss")]
IN_WHERE = "    masked = torch.where(low.bool(), torch.ones_like(gate), gate)\n"
IN_SUM = "    masked = low + (1 - low) * gate\n"

UNLABELLED = """\
net = nn.Linear(3, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
absent = [1, 2]
for _ in range(8):
    kind = torch.randint(0, 2, (5,)) * 3
    label = F.one_hot(kind, 4).float()
    guess = net(torch.randn(5, 3)).softmax(1)
    size = guess.square().mean()
    guess[:, absent] = 0.0
    label[:, absent] = 0.0
    loss = size - (guess * label).sum() / (guess + label).sum()
    train: loss
"""
UNLABELS = UNLABELLED[UNLABELLED.index("    guess[") : UNLABELLED.index("    train")]
BY_MASK = """\
    keep = torch.ones(4)
    keep[absent] = 0.0
    guess, label = guess * keep, LABEL
    loss = size - (guess * label).sum() / (guess + label).sum()
"""

RAISES = (
    Example(UNLABELLED, UNLABELS, BY_MASK.replace("LABEL", "label")),
    Example(UNLABELLED, UNLABELS, BY_MASK.replace("LABEL", "label * keep.clamp(max=9)")),
    Example(UNLABELLED, UNLABELS, BY_MASK.replace("LABEL", "label * (kind[:, None] != 2)")),
    Example(UNLABELLED, UNLABELS, BY_MASK.replace("LABEL", "(label * keep).clamp(max=9)")),
    Example(BY_ALIAS, TO_ALIAS, IN_WHERE.replace("(gate), gate", "(gate), gate.clamp(-9, 9)")),
    Example(BY_ALIAS, TO_ALIAS, IN_WHERE.replace("low.bool()", "low.bool() & (gate < 9)")),
    Example(BY_ALIAS, TO_ALIAS, IN_SUM.replace("low +", "low * low +")),
    Example(CARRIED_ON, LAST, BLENDED.replace("* last", "* last.clamp(-9, 9)")),
    Example(CARRIED_ON, LAST, BLENDED.replace("mask * seen", "mask * mask * seen")),
    Example(JUMPS, JUMP, WHERE_SEEN.replace("mask, jumped", "mask, jumped.clamp(-9, 9)")),
    Example(JUMPS, JUMP, WHERE_SEEN.replace("zeros_like(h)", "zeros_like(h).clamp(-9, 9)")),
    Example(ALL_JUMP, JUMP, JUMPED.replace("jumped =", "h =")),
    Example(MASKED, CLIPPED, CLIPPED.replace("most = 1e6\n", "").replace(CLIP, "").replace(ENDS, MASK)),
    Example(MASKED, ENDS, FILL.replace("expand_as(heat)", "expand_as(heat) & (heat < 9)")),
    Example(PAIR, BOTH, OF_HEAT + OF_SIZE.replace("first", "first | (size > 1e6)")),
    Example(SUNK, SINKS, SINKS_ANEW.replace("float()", "float().clamp(max=9)")),
    Example(SUNK, SINKS, SINKS_ANEW.replace("float()", "float().mul(heat < 9)")),
    Example(MASKED, CLIPPED, BEHIND.replace(ENDS, MASK)),
    Example(CHAIN, REST_OF_CHAIN, REST_OF_CHAIN.replace(BODY, IN_ROWS).replace(NORM, "")),
    Example(MASKED, GIVEN_ONCE, BY_NAME.replace("[*net.parameters()]", "net.parameters()").replace(*CLEARED)),
    Example(OWNED, GIVEN_OWNED, BY_NAME.replace("= [*net.parameters()]", "= [net.bias]")),
    Example(ACTIVE, WRITES, BY_ROW.replace("norm(h)", "norm(h.clamp(-2, 2))")),
    Example(RENORMED, RENORMS, BY_FUNCTION.replace("99", "98")),
)
SILENT = (
    Example(UNLABELLED, UNLABELS, BY_MASK.replace("LABEL", "label * keep")),
    Example(UNLABELLED, UNLABELS, BY_MASK.replace("LABEL", "keep * label.clone()")),
    Example(BY_ALIAS, TO_ALIAS, IN_WHERE),
    Example(BY_ALIAS, TO_ALIAS, IN_SUM),
    Example(CARRIED_ON, LAST, BLENDED),
    Example(CARRIED_ON, LAST, BLENDED.replace("mask * seen", "known.float() * seen")),
    Example(JUMPS, JUMP, WHERE_SEEN),
    Example(JUMPS, JUMP, WHERE_SEEN.replace("zeros_like", "ones_like")),
    Example(JUMPS, JUMP, JUMPED.replace("torch.zeros_like(h)", "h").replace("jumped =", "h =")),
    Example(BOUND_BELOW, "torch.relu(h)", "torch.where(h > 0, h, torch.tensor(0.0))"),
    Example(OWNED, GIVEN_OWNED, BY_NAME.replace("owned", "mine")),
    Example(OWNED, GIVEN_OWNED, BY_NAME),
    Example(SUNK, SINKS, SINKS_ANEW),
    Example(SUNK, SINKS, SINKS_ANEW.replace("float()", "double().float()")),
    Example(MASKED, ENDS, MASK),
    Example(MASKED, ENDS, FILL),
    Example(CHAIN, BODY, IN_ROWS),
    Example(PAIR, BOTH, OF_HEAT + OF_SIZE),
    Example(RENORMED, RENORMS, BY_FUNCTION),
    Example(ACTIVE, WRITES, BY_ROW),
)
