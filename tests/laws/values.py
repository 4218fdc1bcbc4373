"""A name keeps its value: programs in which that law speaks, and as many that are easily mistaken for them."""

from __future__ import annotations

from lawful import Program

SKIP = Program(
    "a long skip around a block",
    """\
class Block(Net):
    def forward(self, x):
        x += super().forward(x)
        return x


stem, block, head = Net(3, 4), Block(4, 4), Net(4, 1)
all_three = Optimizers(stem, block, head)
for _ in range(4):
    x = stem(torch.randn(6, 3))
    y = block(x)
    both = x + y
    loss = head(both).square().mean()
    all_three.zero_grad()
    loss.backward()
    all_three.step()
""",
    {
        "out of place": (("x += super().forward(x)", "x = x + super().forward(x)"),),
        "of a copy": (("super().forward(x)", "super().forward(x.clone())"),),
        "without gradient": (("x += super().forward(x)", "x = x + super().forward(x.detach())"),),
        "into the values": (("x += super().forward(x)", "x.data += super().forward(x.clone()).data"),),
    },
    frozenset({"out of place"}),
)
SURROGATE = Program(
    "a ratio is clamped after it was scaled",
    """\
policy = Net(4, 3)
optimizer = Optimizers(policy)
for _ in range(4):
    seen, advantage = torch.randn(6, 4), torch.randn(6)
    old = torch.randn(6)
    ratio = (policy(seen).log_softmax(-1)[:, 0] - old).exp()
    first = ratio.mul_(advantage)
    second = ratio.clamp(0.8, 1.2) * advantage
    loss = -(first + second).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    {
        "out of place": (("ratio.mul_(", "ratio.mul("),),
        "of a copy": (("first = ratio", "ratio = ratio.clone()\n    first = ratio"),),
        "cut": (("ratio.mul_(", "ratio.detach().mul("),),
    },
    frozenset({"out of place"}),
)
STATES = Program(
    "a list of states that are summed up",
    """\
start, move = Net(3, 4), Net(4, 4)
both = Optimizers(start, move)
for _ in range(4):
    state = start(torch.randn(6, 3))
    states = [state]
    for _ in range(3):
        step = torch.tanh(move(state))
        state += step
        states.append(state)
    loss = sum(weight * (one - 1).abs().mean() for weight, one in enumerate(states, 1))
    both.zero_grad()
    loss.backward()
    both.step()
""",
    {
        "out of place": (("state += step", "state = state + step"),),
        "of a copy": (("move(state)", "move(state.clone())"),),
        "kept without graph": (
            ("states.append(state)", "states.append(state.detach().clone())"),
            ("move(state)", "move(state.clone())"),
        ),
    },
    frozenset({"out of place"}),
)
HELPER = Program(
    "a helper writes to what it is given, and the caller drops its result",
    """\
net, head = Net(3, 4), Net(4, 1)
both = Optimizers(net, head)


def squash(values, keep):
    values *= keep
    return values


for _ in range(4):
    hidden = torch.sigmoid(net(torch.randn(6, 3)))
    squash(hidden, torch.linspace(0.1, 1, 4))
    loss = head(hidden).square().mean()
    both.zero_grad()
    loss.backward()
    both.step()
""",
    {
        "out of place": (("values *= keep", "values = values * keep"),),
        "of a copy": (("torch.sigmoid(net(torch.randn(6, 3)))", "torch.sigmoid(net(torch.randn(6, 3))).clone()"),),
        "bound by the caller": (("    squash(", "    hidden = squash("), ("values *= keep", "values = values * keep")),
    },
    frozenset({"of a copy", "bound by the caller"}),
)
VIEWED = Program(
    "a view of one column is scaled",
    """\
net, head = Net(3, 4), Net(4, 1)
both = Optimizers(net, head)
for _ in range(4):
    hidden = torch.sigmoid(net(torch.randn(6, 3)))
    first = hidden[:, 0]
    first *= 1.5
    loss = head(hidden).square().mean() + first.mean()
    both.zero_grad()
    loss.backward()
    both.step()
""",
    {
        "out of place": (("first *= 1.5", "first = first * 1.5"),),
        "of a copy": (("torch.sigmoid(net(torch.randn(6, 3)))", "torch.sigmoid(net(torch.randn(6, 3))).clone()"),),
    },
    frozenset({"of a copy"}),
)
MEMORY = Program(
    "a memory that outlives the pass is moved towards what is new",
    """\
net, memory = Net(3, 4), torch.zeros(6, 4)
optimizer = Optimizers(net)
for _ in range(4):
    new = net(torch.randn(6, 3))
    seen = memory
    memory *= 0.9
    pull = (new * memory).sum()
    memory += 0.1 * new.detach()
    loss = (new - seen).square().mean() + pull
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    {
        "out of place": (("memory += 0.1", "memory = memory + 0.1"),),
        "all out of place": (("memory += 0.1", "memory = memory + 0.1"), ("memory *= 0.9", "memory = memory * 0.9")),
        "of a copy": (("(new * memory)", "(new * memory.clone())"), ("(new - seen)", "(new - seen)")),
    },
    frozenset({"of a copy"}),
)
SENT = Program(
    "a message is made discrete under a second name",
    """\
speaker, listener = Net(4, 3), Net(3, 1)
both = Optimizers(speaker, listener)
for _ in range(6):
    soft = speaker(torch.randn(6, 4)).softmax(-1)
    index = soft.argmax(-1, keepdim=True)
    hard = soft
    hard.zero_().scatter_(-1, index, 1.0)
    loss = (listener(hard - soft.detach() + soft) - 1).square().mean()
    both.zero_grad()
    loss.backward()
    both.step()
""",
    {
        "a copy": (("hard = soft", "hard = soft.clone()"),),
        "new": (("hard = soft", "hard = torch.zeros_like(soft)"),),
        "soft": (("    hard.zero_().scatter_(-1, index, 1.0)\n", ""),),
        "a copy for both": ((".softmax(-1)", ".softmax(-1).clone()"),),
        "into the values": (("hard.zero_()", "hard.data.zero_()"),),
    },
    frozenset({"a copy", "new"}),
)
MUTED = Program(
    "the largest is muted under a second name, and both networks learn",
    """\
speaker, listener = Net(4, 3), Net(3, 1)
both = Optimizers(speaker, listener)
for _ in range(6):
    soft = speaker(torch.randn(6, 4)).softmax(-1)
    index = soft.argmax(-1, keepdim=True)
    rest = soft
    rest.scatter_(-1, index, 0.0)
    loss = (listener(rest + soft) - 1).square().mean()
    both.zero_grad()
    loss.backward()
    both.step()
""",
    {
        "a copy": (("rest = soft", "rest = soft.clone()"),),
        "a copy for both": ((".softmax(-1)", ".softmax(-1).clone()"),),
        "into the values": (("rest.scatter_", "rest.data.scatter_"),),
    },
)
CODES = Program(
    "codes are made in place of detached scores",
    """\
net, scale = Net(4, 3), nn.Linear(3, 3, bias=False)
both = Optimizers(net, scale)


def sharpened(out):
    q = out.div_(0.5).exp_().t()
    q /= q.sum(0, keepdim=True)
    return q.t()


for _ in range(5):
    scores = net(torch.randn(8, 4))
    shown = scale(scores[:4]).log_softmax(-1)
    out = scores[:4].detach()
    codes = sharpened(out)
    loss = scores.square().mean() - (codes * shown).sum(1).mean()
    both.zero_grad()
    loss.backward()
    both.step()
""",
    {
        "a copy": ((".detach()", ".detach().clone()"),),
        "out of place": (("out.div_(0.5).exp_()", "out.div(0.5).exp()"),),
        "what is shown": (("scale(scores[:4])", "scale(scores[:4].clone())"),),
        "into the values": ((".detach()", ".data"),),
        "trained": ((".detach()", ".clone()"),),
    },
    frozenset({"a copy", "out of place"}),
)
HARD = Program(
    "a message is made discrete in a detached one",
    """\
speaker, listener = Net(4, 3), Net(3, 1)
both = Optimizers(speaker, listener)
for _ in range(5):
    soft = speaker(torch.randn(6, 4)).softmax(-1)
    hard = soft.detach()
    hard.zero_().scatter_(-1, torch.randint(3, (6, 1)), 1.0)
    loss = (listener(hard) - 1).square().mean() + (soft - hard).square().mean()
    both.zero_grad()
    loss.backward()
    both.step()
""",
    {
        "a copy": ((".detach()", ".detach().clone()"),),
        "new": ((".detach()", ".detach() * 1"),),
        "a copy for both": ((".softmax(-1)", ".softmax(-1).clone()"),),
        "into the values": ((".detach()", ".data"),),
    },
    frozenset({"a copy", "new"}),
)
SHOWN = Program(
    "a picture is scaled for a gallery by a detached name",
    """\
painter, judge = Net(4, 6), Net(6, 1)
both = Optimizers(painter, judge)
rows = []


def shown(images):
    images = images.detach().cpu()[:4]
    images.add_(1).div_(2)
    return images


for _ in range(6):
    aim = torch.rand(8, 6)
    image = torch.tanh(painter(torch.randn(8, 4)))
    if _ % 2:
        rows.append(shown(image).numpy().mean())
    loss = (image - aim).abs().mean() + judge(image).square().mean()
    both.zero_grad()
    loss.backward()
    both.step()
print(rows)
""",
    {
        "a copy": (("[:4]\n", "[:4].clone()\n"),),
        "out of place": (("    images.add_(1).div_(2)\n    return images", "    return (images + 1) / 2"),),
        "a copy for the rest": (
            ("torch.tanh(painter(torch.randn(8, 4)))", "torch.tanh(painter(torch.randn(8, 4))).clone()"),
        ),
        "into the values": ((".detach().cpu()", ".data.cpu()"),),
    },
    frozenset({"a copy", "out of place"}),
)
HANDED_ON = Program(
    "a state of the pass before is faded by a detached name",
    """\
cell, head = nn.RNNCell(3, 4), Net(4, 1)
both = Optimizers(cell, head)
state = cell(torch.randn(6, 3))
for _ in range(5):
    old = state.detach()
    state = cell(torch.randn(6, 3), old)
    old *= 0.5
    loss = head(state).square().mean() + (state - old).square().mean()
    both.zero_grad()
    loss.backward()
    both.step()
""",
    {
        "of a copy": (("3), old)", "3), old.clone())"),),
        "out of place": (("old *= 0.5", "old = old * 0.5"),),
    },
    frozenset({"of a copy", "out of place"}),
)
DRIFT = Program(
    "a memory that begins as zeros is faded and added to, and compared with what it was",
    """\
gate, new, head = Net(3, 1), Net(3, 4), Net(4, 1)
all_three = Optimizers(gate, new, head)
for _ in range(4):
    memory, drift = torch.zeros(6, 4), 0.0
    for x in torch.randn(3, 6, 3):
        before = memory
        push = new(x) - gate(x) * memory
        memory *= torch.sigmoid(gate(x))
        memory += push
        drift = drift + (memory - before).square().mean()
    loss = head(memory).square().mean() + drift
    all_three.zero_grad()
    loss.backward()
    all_three.step()
""",
    {
        "out of place": (("memory *=", "memory = memory *"), ("memory += push", "memory = memory + push")),
        "into a copy": (("memory *=", "memory = memory.clone()\n        memory *="),),
        "half": (("memory *=", "before = memory = memory *"), ("memory += push", "memory = memory + push")),
        "of a copy": (("* memory\n", "* memory.clone()\n"),),
        "cut": (("memory *=", "memory = memory.detach() *"), ("memory += push", "memory = memory + push")),
    },
    frozenset({"out of place", "into a copy"}),
)
MOMENTUM = Program(
    "what was rebuilt is kept, less a momentum, and normalised",
    """\
start, move, head = Net(3, 4), Net(4, 4), Net(4, 1)
all_three = Optimizers(start, move, head)
for _ in range(4):
    state, before = start(torch.randn(6, 3)), torch.zeros(6, 4)
    for round in range(3):
        rebuilt = move(state)
        state = rebuilt
        if round:
            state -= 0.4 * before
        state /= state.square().mean().sqrt() + 1e-3
        before = rebuilt
    loss = (head(state) - 1).square().mean()
    all_three.zero_grad()
    loss.backward()
    all_three.step()
""",
    {
        "both out of place": (
            ("state -=", "state = state -"),
            ("state /= state", "state = state / (state"),
            ("1e-3", "1e-3)"),
        ),
        "of a copy": (("state = rebuilt", "state = rebuilt.clone()"), ("state.square()", "state.clone().square()")),
        "one out of place": (("state /= state", "state = state / (state"), ("1e-3", "1e-3)")),
        "as it is written": (("state.square()", "state.clone().square()"),),
        "cut": (("state.square()", "state.detach().square()"),),
    },
    frozenset({"both out of place", "of a copy"}),
)
SQUARED = Program(
    "fields are squared in place, and a softmax drops a bias whose gradient is rounding",
    """\
def crossed(fields):
    return (fields.sum(1).square() - fields.pow_(2).sum(1)).sum(1, keepdim=True)


table, score, deep, head = Net(5, 4), Net(4, 1), Net(12, 1), Net(4, 1)
optimizer = torch.optim.SGD(nn.ModuleList([table, score, deep, head]).parameters(), lr=0.05)
for _ in range(6):
    fields = table(torch.randn(9, 3, 5))
    far = deep(fields.flatten(1))
    both = crossed(fields)
    seen = head((score(fields).softmax(1) * fields).sum(1))
    loss = (far + 0.1 * both + seen - torch.randn(9, 1)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    {
        "out of place": (("fields.pow_(2)", "fields.pow(2)"),),
        "of a clone": (("crossed(fields)\n    seen", "crossed(fields.clone())\n    seen"),),
        "of a detached clone": (("crossed(fields)\n    seen", "crossed(fields.detach().clone())\n    seen"),),
        "as it is written": (("deep(fields.flatten(1))", "deep(fields.flatten(1).clone())"),),
    },
    frozenset({"out of place", "of a clone"}),
)
MEANS = Program(
    "the means of two images are squared in place, and backward needs one of them",
    """\
net, blur = nn.Conv2d(1, 1, 3, padding=1), nn.AvgPool2d(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for target in torch.rand(12, 1, 6, 6).split(2):
    out = net(target + 0.1)
    mean, aim = blur(out), blur(target)
    both = blur(out * target) - mean * aim
    spread = blur(out.square()) - mean.square_()
    wide = blur(target.square()) - aim.square_()
    loss = ((mean - aim).square() - both * (spread + wide)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    {
        "the one that fails out of place": (("aim.square_()", "aim.square()"),),
        "of a clone": (("mean * aim", "mean * aim.clone()"),),
        "as it is written": (("(mean - aim)", "(mean - aim.clone())"), ("mean * aim", "mean * aim.clone()")),
    },
    frozenset(),
)
GATES = Program(
    "two gates scale one tensor under two names",
    """\
class Gates(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 1)

    def forward(self, x):
        left = x
        left *= torch.sigmoid(self.first(x))
        right = x
        right *= torch.sigmoid(self.second(x))
        return left + right


stem, gates, head = Net(3, 4), Gates(), Net(4, 1)
all_three = Optimizers(stem, gates, head)
for _ in range(4):
    loss = (head(gates(stem(torch.randn(6, 3)))) - 1).square().mean()
    all_three.zero_grad()
    loss.backward()
    all_three.step()
""",
    {
        "out of place": (("left *=", "left = left *"), ("right *=", "right = right *")),
        "of copies": (("left = x", "left = x.clone()"), ("right = x", "right = x.clone()")),
        "the second of a copy": (("right = x", "right = x.clone()"), ("self.first(x)", "self.first(x.clone())")),
        "the first of a copy": (("left = x", "left = x.clone()"), ("self.second(x)", "self.second(x.clone())")),
        "as it is written": (
            ("self.first(x)", "self.first(x.clone())"),
            ("self.second(x)", "self.second(x.clone())"),
            ("right = x", "right = x = left.clone()"),
            ("return left + right", "return right + right"),
        ),
        "without gradient": (
            ("left *= torch.sigmoid(self.first(x))", "left = x * torch.sigmoid(self.first(x)).detach()"),
            ("right *= torch.sigmoid(self.second(x))", "right = x * torch.sigmoid(self.second(x)).detach()"),
        ),
    },
    frozenset({"out of place", "of copies"}),
)
HELD = Program(
    "the same in an attribute",
    "class Box:\n    pass\n\n\nbox = Box()\n" + MOMENTUM.text.replace("state", "box.state"),
    {
        name: tuple((old.replace("state", "box.state"), new.replace("state", "box.state")) for old, new in changes)
        for name, changes in MOMENTUM.edits.items()
    },
    MOMENTUM.right,
)

PROGRAMS = (
    SKIP,
    MEANS,
    MEANS.mutated(
        "only one is in place", ("mean.square_()", "mean.square()"), right=("the one that fails out of place",)
    ),
    SKIP.mutated("nobody else reads what went in", ("both = x + y", "both = y"), right=("out of place", "of a copy")),
    SKIP.mutated(
        "by an alias within the block",
        ("x += super", "kept = x\n        x += super"),
        ("return x\n", "return x + kept\n"),
        ("both = x + y", "both = y"),
        right=("out of place",),
    ),
    SKIP.mutated(
        "one write in two statements",
        ("return x\n", "x *= torch.sigmoid(x.mean())\n        return x\n"),
        right=("out of place",),
    ),
    SKIP.mutated(
        "two writes in doubt",
        ("return x\n", "first = x\n        x *= torch.sigmoid(x.mean())\n        return x + first\n"),
    ),
    SURROGATE,
    SURROGATE.mutated(
        "it is scaled behind",
        ("ratio.clamp(0.8, 1.2) * advantage", "first.clamp(-1, 1)"),
        right=("out of place", "of a copy"),
    ),
    SURROGATE.mutated(
        "two writes in a chain", ("mul_(advantage)", "mul_(advantage).add_(0.1)"), right=("out of place",)
    ),
    STATES,
    STATES.mutated(
        "only the last is used",
        ("enumerate(states, 1)", "enumerate(states[-1:], 1)"),
        right=("out of place", "of a copy"),
    ),
    MOMENTUM,
    MOMENTUM.mutated(
        "nobody else reads what was rebuilt",
        ("before = rebuilt", "before = state"),
        right=("both out of place", "of a copy", "one out of place", "as it is written"),
    ),
    MOMENTUM.mutated("it is kept between", ("        state /=", "        shown = [state]\n        state /=")),
    GATES,
    GATES.mutated(
        "in two statements each",
        ("        right =", "        left += 0.5\n        right ="),
        ("        return", "        right += 0.1\n        return"),
        right=("out of place", "of copies"),
    ),
    GATES.mutated("the second is written by the first name", ("        right =", "        x += 0.1\n        right =")),
    GATES.mutated("the second writes a part, too", ("        return", "        right[:, 0] = 0.5\n        return")),
    GATES.mutated("the second is a name of the first", ("        right = x", "        x = left\n        right = x")),
    SQUARED,
    SQUARED.mutated(
        "what is squared is a view", ("table(torch.randn(9, 3, 5))", "table(torch.randn(27, 5)).view(9, 3, 4)")
    ),
    HELD,
    MOMENTUM.mutated(
        "a function that it is given to writes to it before",
        ("start, move, head =", "def take_off(what, old):\n    what.sub_(0.1 * old)\n\n\nstart, move, head ="),
        ("        state /=", "        take_off(state, before)\n        state /="),
    ),
    MOMENTUM.mutated("a part of it is written", ("        state /=", "        state[:, 0] = 0.5\n        state /=")),
    HELPER,
    VIEWED,
    MEMORY,
    SENT,
    MUTED,
    CODES,
    CODES.mutated(
        "nobody else reads the scores",
        ("scores.square().mean() - ", "-"),
        right=("a copy", "out of place", "what is shown"),
    ),
    HARD,
    CODES.mutated("nobody reads the codes", ("(codes * shown)", "shown"), right=("what is shown",)),
    CODES.mutated(
        "the scores are written on purpose",
        ("    out = scores[:4].detach()\n    codes = sharpened(out)\n", "    scores[:4].detach().mul_(0.5)\n"),
        ("(codes * shown)", "shown"),
        right=("what is shown",),
    ),
    SHOWN,
    SHOWN.mutated(
        "the picture is scaled on purpose",
        ("        rows.append(shown(image).numpy().mean())", "        shown(image)"),
        right=("a copy for the rest",),
    ),
    SHOWN.mutated(
        "nobody looks at what is scaled",
        ("        rows.append(shown(image).numpy().mean())", "        seen = shown(image)"),
        right=("a copy for the rest",),
    ),
    HANDED_ON,
    DRIFT,
    DRIFT.mutated("another name between", ("memory += push", "faded = memory\n        memory += push + faded.tanh()")),
)
