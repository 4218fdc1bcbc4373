"""What is done in another order, or once more."""

from autofix.verdict.property import Example

SCHEDULED = """\
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 100)
for _ in range(8):
    out = net(torch.randn(5, 3))
    optimizer.zero_grad()
    out.square().mean().backward()
    out.abs().mean().backward()
    optimizer.step()
    scheduler.step()
"""
FIRST = "out.square().mean().backward()"
KEPT = "out.square().mean().backward(retain_graph=True)"
REST = SCHEDULED[SCHEDULED.index(FIRST) :]
STEPS = "    optimizer.step()\n    scheduler.step()\n"
RUNS = SCHEDULED[SCHEDULED.index("    out = net") : SCHEDULED.index("    out.abs()")]
CLEAR = "    optimizer.zero_grad()\n"
OTHER_WAY = "    scheduler.step()\n    optimizer.step()\n"
BOUNDED = """\
net, scale = nn.Linear(3, 1), torch.ones(())
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
h = torch.zeros(5, 1)
for _ in range(6):
    h = net(torch.randn(5, 3)) + h
    loss = scale.item() * h.square().mean()
    train: loss
    net.weight.data.clamp_(-9, 9); scale.data.mul_(0.9)
    h = h
"""
BOUND = "    net.weight.data.clamp_(-9, 9); scale.data.mul_(0.9)\n    h = h\n"
SAMPLED = """\
energy = nn.Sequential(nn.Linear(2, 8), nn.SiLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(energy.parameters(), lr=0.05)
for _ in range(5):
    x = torch.randn(6, 2, requires_grad=True)
    for _ in range(3):
        (slope,) = torch.autograd.grad(energy(x).sum(), x)
        x -= 0.1 * slope
        x.clamp_(-9, 9)
    loss = energy(torch.randn(6, 2)).mean() - energy(x.detach()).mean()
    train: loss
"""
WATCHED = """\
net = nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(8):
    x = torch.randn(5, 3)
    out = net(x)
    optimizer.zero_grad()
    out.square().mean().backward()
    out.abs().mean().backward()
    optimizer.step()
    print(out.mean().item())
"""
OF_STEP = WATCHED[WATCHED.index(FIRST) : WATCHED.index("    print")]
ONCE_MORE = "    out = net(x)\n"
METER = """\
net, sums = nn.Linear(3, 1), {}
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
def add(name, value):
    sums[name] = sums.get(name, 0.0) + value
    return sums[name]
for step in range(6):
    sums.clear()
    optimizer.zero_grad()
    for x in torch.randn(2, 5, 3):
        loss = net(x).square().mean()
        total = add("loss", loss)
        add("seen", len(x))
        total.backward()
    optimizer.step()
"""
SUMS = METER[METER.index("    sums[name]") : METER.index("    optimizer.step")]
ALONE = SUMS.replace("total = ", "").replace("total.b", "loss.b")
MOVES = "        x -= 0.1 * slope\n        x.clamp_(-9, 9)\n"
TWO = """\
net, critic = nn.Linear(3, 4), nn.Linear(4, 1)
of_net, of_critic = (torch.optim.SGD(one.parameters(), lr=0.1) for one in (net, critic))
for step in range(8):
    out = net(torch.randn(5, 3))
    score = critic(out).square().mean()
    of_critic.zero_grad()
    score.backward(retain_graph=True)
    of_critic.step()
    if step % 1 == 0:
        of_net.zero_grad()
        (out.square().mean() - score).backward(inputs=[*net.parameters()])
        of_net.step()
"""
OF_CRITIC = TWO[TWO.index("    of_critic.step()") :]
STEPS_ALWAYS = OF_CRITIC.replace("    of_critic.step()\n", "", 1) + "    of_critic.step()\n"
STEPS_AT_TIMES = STEPS_ALWAYS.replace("    of_critic", "        of_critic")
AIMED = """\
net, age = nn.Linear(3, 1), torch.zeros(5)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(8):
    age += 1
    out = net(torch.randn(5, 3))
    goal = torch.randn(5, 1)
    goal[age > 200] = 0
    kept = goal.clone()
    loss = (out - kept).square().mean()
    optimizer.zero_grad()
    loss.backward()
    out.abs().mean().backward()
    optimizer.step()
"""
AIMS = AIMED[AIMED.index("    goal[") : AIMED.index("    out.abs")]
AT_GOAL = AIMS.replace("loss.backward()", "loss.backward(retain_graph=True)")
AT_FIRST = "    kept = goal.clone()\n" + AT_GOAL.replace("    kept = goal.clone()\n", "")
OWN_LOSS = TWO[TWO.index("    score.backward") :]
FOR_ITS_OWN = "    score.backward(retain_graph=True, inputs=[*critic.parameters()])\n" + STEPS_ALWAYS

RAISES = (
    Example(SCHEDULED, REST, REST.replace(FIRST, KEPT).replace("    scheduler.step()\n", "")),
    Example(SCHEDULED, REST, REST.replace(FIRST, KEPT).replace(STEPS, OTHER_WAY)),
    Example(SAMPLED, MOVES, "        x.data -= 0.1 * slope\n"),
    Example(BOUNDED, BOUND, "    scale.data.mul_(0.9)\n    h = h.detach()\n"),
    Example(TWO, OF_CRITIC, STEPS_AT_TIMES),
    Example(WATCHED, OF_STEP, OF_STEP.replace(FIRST, KEPT) + ONCE_MORE),
    Example(METER, SUMS, ALONE.replace(", loss)", ", loss.detach() if step > 99 else loss)")),
    Example(METER, SUMS, SUMS.replace(", loss)", ", loss.clamp(max=99))").replace("total.b", "loss.b")),
    Example(AIMED, AIMS, AT_FIRST),
    Example(AIMED, AIMS, AT_FIRST.replace("kept", "aim")),
)
SILENT = (
    Example(SCHEDULED, FIRST, KEPT),
    Example(SCHEDULED, RUNS, CLEAR + RUNS.replace(CLEAR, "").replace(FIRST, KEPT)),
    Example(SAMPLED, MOVES, MOVES.replace("x.clamp_", "x.data.clamp_").replace("x -=", "x.data -=")),
    Example(SAMPLED, MOVES, f"        with torch.no_grad():\n{MOVES.replace('        ', ' ' * 12)}"),
    Example(BOUNDED, BOUND, BOUND.replace("= h", "= h.detach()")),
    Example(WATCHED, OF_STEP, OF_STEP.replace(f"{FIRST}\n", f"{FIRST}\n{ONCE_MORE}")),
    Example(WATCHED.replace("(out.mean", "(x.mean"), OF_STEP, OF_STEP.replace(FIRST, KEPT) + ONCE_MORE),
    Example(METER, SUMS, ALONE.replace(", loss)", ", loss.item())")),
    Example(METER, SUMS, ALONE.replace("+ value", "+ (value.detach() if torch.is_tensor(value) else value)")),
    Example(AIMED, AIMS, AT_GOAL.replace("kept", "aim")),
    Example(
        AIMED.replace("goal[age > 200] = 0", "age[:] = 9"),
        *(text.replace("goal[age > 200] = 0", "age[:] = 9") for text in (AIMS, AT_FIRST)),
    ),
    Example(TWO, OF_CRITIC, STEPS_ALWAYS),
    Example(TWO, OWN_LOSS, FOR_ITS_OWN),
    Example(
        TWO.replace("step % 1 == 0", "critic.training"),
        OF_CRITIC.replace("step % 1 == 0", "critic.training"),
        STEPS_AT_TIMES.replace("step % 1 == 0", "critic.training"),
    ),
)
