"""One loss trains two networks

## What it finds

Two losses train the parameters of one optimizer, one of them also trains another network, and the failure is about the
graph that they share. An example is an actor's loss whose advantage was not detached from the critic. This is not said

- of a trunk under several heads: there each loss has an optimizer that no other loss reaches;
- where the other network throws that gradient away before its step, as GANs do, and no parameter belongs to both
  optimizers. An optimizer that throws away what a loss sends does not count as an optimizer of that loss;
- where the loss compares what the other network makes with the very data that the first one took: an autoencoder, both
  parts of which learn to give back their input. The second loss is then about the code alone.

## Why it matters

The failure shows that the author did not see the shared graph. So the code is no proof that the loss is meant to train
both.
"""

from __future__ import annotations

from autofix.verdict.property import Evidence, Example, Finding, Seen

ACTOR_CRITIC = """\
actor, critic = nn.Linear(4, 2), nn.Linear(4, 1)
actor_opt = torch.optim.SGD(actor.parameters(), lr=0.1)
critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
for _ in range(4):
    seen, reward = torch.randn(6, 4), torch.randn(6)
    advantage = reward - critic(seen).squeeze(-1)
    actor_loss = -(actor(seen).log_softmax(-1)[:, 0] * advantage).mean()
    critic_loss = advantage.square().mean()
    actor_opt.zero_grad()
    critic_opt.zero_grad()
    actor_loss.backward()
    critic_loss.backward()
    actor_opt.step()
    critic_opt.step()
"""
THROWN_AWAY = ACTOR_CRITIC.replace("    critic_opt.zero_grad()\n", "").replace(
    "    critic_loss.backward()", "    critic_opt.zero_grad()\n    critic_loss.backward()"
)
TEMPERATURE = """\
policy, critic, scale = nn.Linear(4, 2), nn.Linear(2, 1), torch.zeros(1, requires_grad=True)
policy_opt = torch.optim.SGD(policy.parameters(), lr=0.1)
critic_opt = torch.optim.SGD(critic.parameters(), lr=0.1)
scale_opt = torch.optim.SGD([scale], lr=0.1)
for _ in range(4):
    train[critic_opt]: critic(torch.randn(6, 2)).square().mean()
    action = policy(torch.randn(6, 4)).tanh()
    policy_loss = -critic(action).mean() + action.square().mean()
    scale_loss = (scale * action.square()).mean()
    policy_opt.zero_grad()
    scale_opt.zero_grad()
    policy_loss.backward()
    scale_loss.backward()
    policy_opt.step()
    scale_opt.step()
"""
HEADS = """\
trunk, first, second = nn.Linear(4, 3), nn.Linear(3, 1), nn.Linear(3, 1)
optimizers = [torch.optim.SGD(part.parameters(), lr=0.1) for part in (trunk, first, second)]
for _ in range(4):
    features = trunk(torch.randn(6, 4)).tanh()
    first_loss, second_loss = first(features).square().mean(), second(features).exp().mean()
    for optimizer in optimizers:
        optimizer.zero_grad()
    first_loss.backward()
    second_loss.backward()
    for optimizer in optimizers:
        optimizer.step()
"""
CODE = """\
encoder, decoder = nn.Linear(4, 2), nn.Linear(2, 4)
encoder_opt = torch.optim.SGD(encoder.parameters(), lr=0.1)
decoder_opt = torch.optim.SGD(decoder.parameters(), lr=0.1)
for _ in range(4):
    x = torch.randn(6, 2, 2)
    code = encoder(x.flatten(1))
    rebuilt_loss = (decoder(code).view_as(x) - x).square().mean()
    code_loss = code.mean(0).square().sum()
    encoder_opt.zero_grad()
    decoder_opt.zero_grad()
    rebuilt_loss.backward()
    code_loss.backward()
    encoder_opt.step()
    decoder_opt.step()
"""
LABELS = CODE.replace("nn.Linear(2, 4)", "nn.Linear(2, 1)").replace(".view_as(x) - x)", " - x.sum((1, 2))[:, None])")
KEPT_CODE = ("rebuilt_loss.backward()", "rebuilt_loss.backward(retain_graph=True)")
KEPT = "actor_loss.backward(retain_graph=True)"


class LossTrainsTwoNetworks(Seen):
    fact = "mixed"
    anyway = True
    sentence = (
        "this loss trains {subject} and another network, and {subject} has a second loss. The code does not say "
        "whether this loss is meant to train both"
    )
    raises = (
        Example(ACTOR_CRITIC, "actor_loss.backward()", KEPT),
        Example(TEMPERATURE, "policy_loss.backward()", "policy_loss.backward(retain_graph=True)"),
        Example(LABELS, *KEPT_CODE),
    )
    silent = (
        Example(THROWN_AWAY, "actor_loss.backward()", KEPT),
        Example(HEADS, "first_loss.backward()", "first_loss.backward(retain_graph=True)"),
        Example(CODE, *KEPT_CODE),
        Example(TEMPERATURE, "(scale * action.square())", "(scale * action.detach().square())"),
    )

    def find(self, evidence: Evidence) -> Finding | None:
        if not evidence.freed_by:
            return None
        # An edit that keeps every gradient keeps what the code does, in the reading that it equals.
        found = evidence.assessment
        reading = found.reading
        apart = reading is not None and (reading.apart or reading.separated or reading.sent_once)
        kept = found.effect.keeps_gradients and not apart
        if kept and (written := evidence.followed.seen(self.fact)):
            rebuilding = {fact.stack for fact in evidence.sourced.seen("loss-rebuilds-input")}
            if all(fact.stack in rebuilding for fact in written):
                return None
        return self.first(evidence.edited, *((evidence.followed,) if kept else ()))
