"""One network's loss that reaches, through an argument, into a network that it does not train.

## What it does
Plays the file and finds a loss whose graph goes through an input into another network, where the optimizer that steps
for this loss owns nothing of that network, and the other network's own loss needs the same graph later or before.

## Why it matters
The backward of one loss frees the graph of the other: "Trying to backward through the graph a second time". A
`detach()` where the tensor is handed over is often what is meant.

## What it cannot tell
It stays silent where a network, an optimizer or a function is not in the project, and where parameters may be frozen.
"""

from __future__ import annotations

from autofix.check.abstract.tape import Event
from autofix.check.finder import Finder, Spot, examples, spot
from autofix.check.places import apart, earlier_pass, made, said


class UndetachedSharedInput(Finder):
    code, name = "AG202", "undetached-shared-input"
    title = "A loss reaches into a network that it does not train"
    kinds = {"twice": ""}
    finds, passes = examples("""\
G, D = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)
!
opt_g, opt_d = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
for _ in range(4):
    fake = G(torch.randn(4, 2))
    d_loss = D(fake).mean()  # found
    train[opt_d]: d_loss
    g_loss = -D(fake).mean()
    train[opt_g]: g_loss
!
policy, log_alpha = torch.nn.Linear(2, 3), torch.zeros(1, requires_grad=True)
opt, alpha_opt = torch.optim.Adam(policy.parameters()), torch.optim.Adam([log_alpha])
for _ in range(4):
    log_prob = policy(torch.randn(4, 2)).log_softmax(-1)
    train: (log_prob * log_alpha.detach().exp()).mean()
    alpha_loss = -(log_alpha * (log_prob + 1)).mean()  # found
    train[alpha_opt]: alpha_loss
!
opt_g, opt_d = torch.optim.Adam(G.parameters()), torch.optim.Adam(D.parameters())
for _ in range(4):
    fake = G(torch.randn(4, 2))
    train[opt_d]: D(fake.detach()).mean()
    train[opt_g]: (-D(fake).mean())
!
opt = torch.optim.Adam([*G.parameters(), *D.parameters()])
for _ in range(4):
    loss = D(G(torch.randn(4, 2))).mean()
    train: loss
""")

    def told(self, event: Event) -> Spot | None:
        place = apart(event) if earlier_pass(event) is None else None
        if place is None:
            return None
        freed = event.caused_at
        message = (
            f"the part made in {said(made(event), event)} goes into this loss with its graph, and the backwards in "
            f"{said(freed, event)} and {said(event.place, event)} both go through it; the first frees it"
        )
        return spot(
            place,
            message,
            (made(event), "the shared part is made here"),
            (freed, "this backward frees its graph"),
            (event.place, "this backward needs it again"),
        )
