"""What is collected keeps its value: views of one memory that are joined, and what is easily mistaken for them."""

from __future__ import annotations

from lawful import Program

OLD = ("field[:-2].square()", "field[:-2].clone().square()")
FIELD = Program(
    "parts of a field are collected while a solver moves it",
    """\
rate = nn.Parameter(torch.full((6,), 0.3))
optimizer = torch.optim.SGD([rate], lr=0.05)


def solve():
    field, seen = torch.linspace(0, 1, 8), []
    for _ in range(3):
        field[1:-1] += rate * (field[2:] - 2 * field[1:-1] + field[:-2].square())
        seen.append(field[2:-2])
    return torch.stack(seen)


for _ in range(4):
    loss = (solve() - 0.3).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    {
        "a copy is written": (("        field[1:-1] +=", "        field = field.clone()\n        field[1:-1] +="), OLD),
        "out of place": (
            ("        field[1:-1] += ", "        inner = field[1:-1] + "),
            ("        seen.append", "        field = torch.cat([field[:1], inner, field[-1:]])\n        seen.append"),
        ),
        "a copy is read": (OLD,),
        "copies are kept, and cut": (
            ("        field[1:-1] += ", "        field = field.detach().clone()\n        field[1:-1] += "),
            OLD,
        ),
        "one time alone": (
            ("        field[1:-1] += ", "        field = field.clone()\n        field[1:-1] += "),
            ("seen.append(field[2:-2]", "seen.append((field.detach() if seen else field)[2:-2]"),
            OLD,
        ),
    },
    frozenset({"a copy is written", "out of place"}),
)  # fmt: skip
CACHE = Program(
    "keys are written to a cache, of which each step reads what there is",
    """\
net, head = Net(3, 4), Net(4, 3)
both = Optimizers(net, head)
for _ in range(4):
    cache, token, loss = torch.zeros(6, 4, 4), torch.randn(6, 3), torch.zeros(())
    for place in range(4):
        cache[:, place] = net(token)
        token = head(cache[:, : place + 1].square().mean(1))
        loss = loss + (token - 1).square().mean()
    both.zero_grad()
    loss.backward()
    both.step()
""",
    {
        "a copy is read": (("cache[:, : place + 1]", "cache[:, : place + 1].clone()"),),
        "a copy is written": (
            ("        cache[:, place] =", "        cache = cache.clone()\n        cache[:, place] ="),
        ),
        "what was read is cut": (("cache[:, : place + 1]", "cache[:, : place + 1].detach().clone()"),),
        "what is kept is cut": (("= net(token)", "= net(token).detach()"),),
        "the new alone": (("cache[:, : place + 1]", "cache[:, place : place + 1].clone()"),),
    },
    frozenset({"a copy is read", "a copy is written"}),
)
ROOM = Program(
    "what an environment shows is a part of the state that it moves",
    """\
class Room(nn.Module):
    def __init__(self):
        super().__init__()
        self.force = Net(2, 2)

    def reset(self):
        self.state = torch.cat([torch.ones(2), torch.zeros(2)])
        return self.state[:2]

    def move(self):
        self.state[2:] += 0.1 * self.force(self.state[:2])
        self.state[:2] += 0.5 * self.state[2:]
        return self.state[:2]


room = Room()
optimizer = Optimizers(room)
for _ in range(4):
    shown = [room.reset()]
    for _ in range(3):
        shown.append(room.move())
    loss = (torch.cat(shown) - 0.5).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    {
        "a copy is written": (
            ("        self.state[2:] +=", "        self.state = self.state.clone()\n        self.state[2:] +="),
            ("self.force(self.state[:2])", "self.force(self.state[:2].clone())"),
        ),
        "a copy is read": (("self.force(self.state[:2])", "self.force(self.state[:2].clone())"),),
        "copies are shown": (
            ("self.force(self.state[:2])", "self.force(self.state[:2].clone())"),
            ("return self.state[:2]", "return self.state[:2].clone()"),
        ),
        "it is cut": (
            (
                "        self.state[2:] +=",
                "        self.state = self.state.detach().clone()\n        self.state[2:] +=",
            ),
            ("self.force(self.state[:2])", "self.force(self.state[:2].clone())"),
        ),
    },
    frozenset({"a copy is written", "copies are shown"}),
)
APART = ("pose[1] * pose[0]", "pose[1].clone() * pose[0].clone()")
POSES = Program(
    "a pose is moved in place, and each of its states is looked at",
    """\
net = Net(6, 3)
optimizer = Optimizers(net)


def moved():
    pose, poses = torch.ones(2, 3), []
    for _ in range(3):
        delta = net(pose.flatten().clone())
        pose[0] = 0.5 * pose[0] + delta
        pose[1] = pose[1] * pose[0]
        poses.append(pose)
    return poses


for _ in range(4):
    loss = sum((one - 0.3).square().mean() for one in moved())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    {
        "a copy is written": (("        pose[0] =", "        pose = pose.clone()\n        pose[0] ="), APART),
        "copies are kept": (("append(pose", "append(pose.clone()"), APART),
        "a copy is read": (APART,),
        "a copy is written, and cut": (
            ("        pose[0] =", "        pose = pose.detach().clone()\n        pose[0] ="),
            APART,
        ),
        "half is written in a copy": (("        pose[1] =", "        pose = pose.clone()\n        pose[1] ="), APART),
    },
    frozenset({"a copy is written", "copies are kept"}),
)
PROGRAMS = (FIELD, POSES)
DEAR = (
    CACHE,
    FIELD.mutated(
        "copies of the parts are collected",
        ("seen.append(field[2:-2])", "seen.append(field[2:-2].clone())"),
        right=("a copy is written", "out of place", "a copy is read"),
    ),
    ROOM,
    FIELD.mutated(
        "the last one is used",
        ("    return torch.stack(seen)", "    return seen[-1]"),
        right=("a copy is written", "out of place", "a copy is read"),
    ),
    FIELD.mutated(
        "they are joined, and the last one is used",
        ("    return torch.stack(seen)", "    return torch.stack(seen)[-1:]"),
        right=("out of place", "a copy is read"),
    ),
    FIELD.mutated(
        "what is collected is no part of what is written",
        ("field, seen = torch.linspace(0, 1, 8), []", "field, seen, edge = torch.linspace(0, 1, 8), [], torch.ones(4)"),
        ("field[2:-2])", "field[2:-2] * edge)"),
        right=("out of place", "a copy is read", "a copy is written"),  # one copy more, which trains the same
    ),
    FIELD.mutated(
        "a view of the part is collected",
        ("field[2:-2])", "field[2:-2].view(2, 2))"),
        right=("a copy is written", "out of place"),
    ),
    ROOM.mutated(
        "it shows what it does",
        ("        return self.state[:2]\n\n    def move", "        return self.state[:2].clone()\n\n    def move"),
        ("        return self.state[:2]\n\n\nroom", "        return self.state[:2] * 1\n\n\nroom"),
        right=("a copy is written", "a copy is read", "copies are shown"),
    ),
    POSES.mutated(
        "copies of the pose are collected",
        ("poses.append(pose)", "poses.append(pose.clone())"),
        right=("a copy is written", "copies are kept", "a copy is read", "half is written in a copy"),
    ),
    POSES.mutated(
        "the pose that comes out is looked at alone",
        ("in moved())", "in moved()[-1:])"),
        right=("a copy is written", "copies are kept", "a copy is read", "half is written in a copy"),
    ),
    ROOM.mutated(
        "only the speed is moved",  # what is shown never moves: all of them train the same, which is nothing
        ("        self.state[:2] += 0.5 * self.state[2:]\n", ""),
        right=("a copy is read", "copies are shown"),
    ),
)
