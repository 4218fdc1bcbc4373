"""An update by hand may move behind the step that it stood before; nothing else about it may change."""

from __future__ import annotations

from lawful import Program

UPDATE = "    follow(0.1)\n"
STEP = "    optimizer.step()\n"
EARLY = Program(
    "a teacher is updated between forward and backward",
    """\
student = Net(4, 3)
teacher = copy.deepcopy(student)
optimizer = Optimizers(student)


@torch.no_grad()
def follow(share):
    for mine, theirs in zip(student.parameters(), teacher.parameters()):
        theirs.mul_(1 - share).add_(mine, alpha=share)


for step in range(6):
    x = torch.randn(6, 4)
    target = teacher(x + 0.1)
    loss = F.mse_loss(student(x), target.softmax(1)) + student(x).square().mean()
    follow(0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    {
        "behind the step": ((UPDATE, ""), (STEP, STEP + UPDATE)),
        "teacher without gradient": (("teacher(x + 0.1)", "teacher(x + 0.1).detach()"),),
        "never": ((UPDATE, ""),),
        "another share": ((UPDATE, ""), (STEP, STEP + UPDATE.replace("0.1", "0.2"))),
        "twice": ((UPDATE, ""), (STEP, STEP + UPDATE + UPDATE)),
        "every other pass": ((UPDATE, ""), (STEP, STEP + "    if step % 2:\n    " + UPDATE)),
        "but for the first pass": ((UPDATE, ""), (STEP, STEP + "    if step:\n    " + UPDATE)),
        "before the forward": ((UPDATE, ""), ("    x = torch", UPDATE + "    x = torch")),
        "at the end": ((UPDATE, ""), (STEP, STEP + "    if step == 5:\n    " + UPDATE)),
    },
    frozenset({"behind the step", "teacher without gradient"}),
)
LATE = Program(
    "a teacher is updated behind the step, and two losses share a graph",
    EARLY.text.replace(UPDATE, "")
    .replace(STEP, STEP + UPDATE)
    .replace("    loss.backward()", "    target.mean().backward()\n    loss.backward()"),
    {
        "keep": (("mean().backward()", "mean().backward(retain_graph=True)"),),
        "keep, and update before the step": (
            ("mean().backward()", "mean().backward(retain_graph=True)"),
            (STEP + UPDATE, UPDATE + STEP),
        ),
    },
    frozenset({"keep"}),
)
CLIPPED = Program(
    "weights are clipped behind the step",
    LATE.text.replace("follow(0.1)", "follow(0.1), [p.data.clamp_(-0.2, 0.2) for p in student.parameters()]"),
    {
        "keep": (("mean().backward()", "mean().backward(retain_graph=True)"),),
        "keep, and clip before the step": (
            ("mean().backward()", "mean().backward(retain_graph=True)"),
            (", [p.data.clamp_(-0.2, 0.2) for p in student.parameters()]", ""),
            (STEP, "    [p.data.clamp_(-0.2, 0.2) for p in student.parameters()]\n" + STEP),
        ),
    },
    frozenset({"keep"}),
)
PROGRAMS = (EARLY, LATE, CLIPPED)
