"""A sum is finished before it is trained on: losses that grow from backward to backward, and what looks like them."""

from __future__ import annotations

from lawful import Program

TASKS = Program(
    "a total of tasks",
    """\
net, head = Net(4, 2), Net(2, 2)
both = Optimizers(net, head)
for _ in range(3):
    both.zero_grad()
    terms, total, state = [], torch.zeros(()), torch.zeros(6, 4)
    for task in range(3):
        state = torch.randn(6, 4)
        term = (head(net(state)) - task).square().mean()
        terms.append(term)
        total = total + term
        total.backward()
    both.step()
""",
    {
        "after the loop": (("        total.backward()\n", "    total.backward()\n"),),
        "each addend": (("total.backward()", "term.backward(retain_graph=True)"),),
        "keep": (("total.backward()", "total.backward(retain_graph=True)"),),
        "the last addend": (("        total.backward()\n", "    term.backward()\n"),),
    },
    frozenset({"after the loop", "each addend"}),
)
BALANCE = Program(
    "balance terms that nobody clears between micro-batches",
    """\
net, head = Net(4, 3), Net(3, 1)
both = Optimizers(net, head)
for _ in range(3):
    both.zero_grad()
    balance, total = [], 0.0
    for _ in range(3):
        gates = net(torch.randn(6, 4)).softmax(-1)
        balance.append(gates[:, 0].mean())
        loss = head(gates).square().mean() + 0.5 * sum(balance)
        (loss / 3).backward()
    both.step()
""",
    {
        "its own alone": (("balance.append(gates[:, 0].mean())", "balance = [gates[:, 0].mean()]"),),
        "earlier ones are cut": (
            ("        balance.append", "        balance = [one.detach() for one in balance]\n        balance.append"),
        ),
        "one backward": (
            ("balance.append(gates[:, 0].mean())", "balance = [gates[:, 0].mean()]"),
            ("        (loss / 3).backward()\n", "        total = total + loss / 3\n    total.backward()\n"),
        ),
        "keep": (("(loss / 3).backward()", "(loss / 3).backward(retain_graph=True)"),),
        "all are cut": (("[:, 0].mean())", "[:, 0].mean().detach())"),),
        "the last loss": (("        (loss / 3).backward()\n", "    (loss / 3).backward()\n"),),
    },
    frozenset({"its own alone", "earlier ones are cut", "one backward"}),
)
ADDED = "total = total + term"
PROGRAMS = (
    BALANCE,
    BALANCE.mutated("a mean of those so far", ("sum(balance)", "sum(balance) / len(balance)")),
    BALANCE.mutated(
        "what earlier calls left is thrown away",
        ("        (loss / 3)", "        both.zero_grad()\n        (loss / 3)"),
        right=(),
    ),
    TASKS,
    TASKS.mutated(
        "over time, through a state",
        ("state = torch.randn(6, 4)", "state = torch.randn(6, 4) + torch.cat([net(state), net(state)], 1)"),
        ("        term =", "        total = total / 1.0\n        term ="),
        right=("after the loop", "each addend"),
    ),
    TASKS.mutated("a list of terms", (ADDED, "total = sum(terms)"), right=("after the loop", "each addend")),
    TASKS.mutated("a mean of those so far", (ADDED, "total = torch.stack(terms).mean()")),
    TASKS.mutated("a running average", (ADDED, "total = 0.5 * total + 0.5 * term")),
    TASKS.mutated(
        "what earlier calls left is thrown away",
        ("        total.backward()", "        both.zero_grad()\n        total.backward()"),
        right=("after the loop",),
    ),
    TASKS.mutated(
        "for one of the networks it is",
        ("        total.backward()", "        both.each[0].zero_grad()\n        total.backward()"),
    ),
)


TERM = "term = (head(net(state)) - task)"
LINE = "\n        "
DEAR = (
    TASKS.mutated(
        "a step in the loop",
        ("total.backward()", LINE.join(("total.backward()", "both.step()", "both.zero_grad()"))),
    ),
    TASKS.mutated(
        "a step in the loop, and a running average",
        ("        total.backward()", "        both.zero_grad()\n        total.backward()\n        both.step()"),
        (ADDED, "total = 0.5 * total + 0.5 * term"),
    ),
    TASKS.mutated(
        "a ratio of what is drawn to itself, as in relative policies",
        (TERM, LINE.join(("new = head(net(state)).log_softmax(1)", "term = ((new - new.detach()).exp() - task)"))),
        right=("after the loop", "each addend"),
    ),
    TASKS.mutated(
        "inner steps of first order",
        (
            TERM,
            LINE.join(
                (
                    "inner = head(net(state)).square().mean()",
                    "move = torch.autograd.grad(inner, head.out.bias)[0]",
                    "term = (head(net(state)) - 0.1 * move - task)",
                )
            ),
        ),
        right=("after the loop", "each addend"),
    ),
    TASKS.mutated(
        "weights that are tied",
        (
            "both = Opt",
            "head.out.weight = nn.Parameter(torch.randn(2, 6))\nnet.out.weight = head.out.weight\nboth = Opt",
        ),
        ("Optimizers(net, head)", "Optimizers(nn.ModuleList([net, head]))"),
        right=("after the loop", "each addend"),
    ),
)
