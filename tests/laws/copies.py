"""A copy only answers: targets by a slow critic, and what only looks like them."""

from __future__ import annotations

from lawful import Program

TD = Program(
    "a slow critic says what the next state is worth",
    """\
actor, critic = Net(4, 2), Net(6, 1)
slow = copy.deepcopy(critic).requires_grad_(False)
each = Optimizers(actor, critic)
for _ in range(5):
    seen, then, done, reward = torch.randn(6, 4), torch.randn(6, 4), torch.randn(6, 2), torch.randn(6, 1)
    both = torch.tanh(actor(torch.cat([seen, then])))
    now, later = both[:6], both[6:]
    actor_loss = ((now - done) ** 2).mean()
    target = reward + 0.9 * slow(torch.cat([then, later], 1))
    value = critic(torch.cat([seen, done], 1))
    critic_loss = F.mse_loss(value, target)
    each.zero_grad()
    actor_loss.backward()
    critic_loss.backward()
    each.step()
""",
    {
        "constant": (("    value = critic", "    target = target.detach()\n    value = critic"),),
        "the next action cut": (("both[:6], both[6:]", "both[:6], both[6:].detach()"),),
        "keep": (("actor_loss.backward()", "actor_loss.backward(retain_graph=True)"),),
        "the prediction cut": (("value, target)", "value.detach(), target)"), ("actor_loss.b", "(actor_loss * 1).b")),
        "the actor cut": (("((now - done)", "((now.detach() - done)"),),
        "one backward": (
            ("    actor_loss.backward()\n", ""),
            ("critic_loss.backward", "(actor_loss + critic_loss).backward"),
        ),
    },
    frozenset({"constant", "the next action cut"}),
)
COPIED = "copy.deepcopy(critic).requires_grad_(False)"
PROGRAMS = (
    TD,
    TD.mutated(
        "the copy is in no optimizer, and that is all",
        (COPIED, "copy.deepcopy(critic)"),
        right=("constant", "the next action cut"),
    ),
    TD.mutated(
        "the worse of two",
        (
            "slow(torch.cat([then, later], 1))",
            "torch.min(*[one(torch.cat([then, later], 1)) for one in (slow, other)])",
        ),
        (COPIED, f"{COPIED}\nother = copy.deepcopy(slow)"),
        right=("constant", "the next action cut"),
    ),
    TD.mutated(
        "the copy learns, too", ("Optimizers(actor, critic)", "Optimizers(actor, critic, slow)"), (COPIED, "Net(6, 1)")
    ),
    TD.mutated("it is no copy", (COPIED, "nn.Sequential(Net(6, 3), nn.Linear(3, 1)).requires_grad_(False)")),
    TD.mutated("nothing stands between", ("slow(torch.cat([then, later], 1))", "later.sum(1, keepdim=True)")),
    TD.mutated(
        "the prediction is made of the same", ("[seen, done], 1))\n    critic", "[then, later], 1))\n    critic")
    ),
    TD.mutated("nothing is added", ("reward + 0.9 * slow", "0.9 * slow")),
    TD.mutated(
        "a reward is subtracted",
        ("reward + 0.9 * slow(torch.cat([then, later], 1))", "0.9 * slow(torch.cat([then, later], 1)) - reward"),
        right=("constant", "the next action cut"),
    ),
    TD.mutated(
        "one optimizer has both",
        ("Optimizers(actor, critic)", "torch.optim.SGD([*actor.parameters(), *critic.parameters()], lr=0.05)"),
    ),
)
