"""A loss trains what steps on it: programs in which that law speaks, and as many that are easily mistaken for them."""

from __future__ import annotations

from lawful import Program

VALUED = Program(
    "an actor's loss uses a critic's value",
    """\
actor, critic = Net(4, 2), Net(4, 1)
both = Optimizers(actor, critic)
for _ in range(4):
    seen, reward = torch.randn(6, 4), torch.randn(6)
    value = critic(seen).squeeze(-1)
    advantage = reward - value
    weight = advantage
    actor_loss = -(actor(seen).log_softmax(-1)[:, 0] * weight).mean()
    critic_loss = advantage.square().mean()
    both.zero_grad()
    actor_loss.backward()
    critic_loss.backward()
    both.step()
""",
    {
        "keep": (("actor_loss.backward()", "actor_loss.backward(retain_graph=True)"),),
        "cut the actor's": (("[:, 0] * weight", "[:, 0] * weight.detach()"),),
        "cut the critic's": (("    critic_loss.backward()", "    critic_loss.detach().requires_grad_().backward()"),),
    },
    frozenset({"cut the actor's"}),
)
ENCODED = Program(
    "an encoder with a loss of its own and a classifier behind it",
    """\
encoder, head = Net(4, 3), Net(3, 2)
both = Optimizers(encoder, head)
for _ in range(4):
    x, label = torch.randn(6, 4), torch.randint(0, 2, (6,))
    z = encoder(x)
    own = F.cross_entropy(z @ z.t(), torch.arange(6))
    features = z
    loss = F.cross_entropy(head(features), label)
    both.zero_grad()
    own.backward()
    loss.backward()
    both.step()
""",
    {
        "keep": (("own.backward()", "own.backward(retain_graph=True)"),),
        "cut the head's": (("features = z", "features = z.detach()"),),
        "cut its own": (("own.backward()", "own.detach().requires_grad_().backward()"),),
    },
)
GAN = Program(
    "a generator descends its critic's loss",
    """\
G, D = Net(4, 3), Net(3, 1)
opt_g, opt_d = Optimizers(G), Optimizers(D)
for _ in range(4):
    real, fake = torch.randn(6, 3), G(torch.randn(6, 4))
    opt_g.zero_grad()
    opt_d.zero_grad()
    score = D(fake)
    loss_d = F.softplus(-D(real)).mean() + F.softplus(score).mean()
    loss_d.backward()
    opt_d.step()
    loss_g = F.softplus(-D(fake)).mean()
    loss_g.backward()
    opt_g.step()
""",
    {
        "keep": (("loss_d.backward()", "loss_d.backward(retain_graph=True)"),),
        "cut D's": (("score = D(fake)", "score = D(fake.detach())"),),
        "zero between": (
            ("loss_d.backward()", "loss_d.backward(retain_graph=True)"),
            ("    loss_g.backward()", "    opt_g.zero_grad()\n    loss_g.backward()"),
        ),
    },
    frozenset({"cut D's", "zero between"}),
)
ONE_SCORE = Program(
    "a generator and its critic both use one score, which the critic's step makes stale",
    """\
G, D = Net(4, 3), Net(3, 1)
opt_g, opt_d, sign = Optimizers(G), Optimizers(D), 1
for _ in range(4):
    real, fake = torch.randn(6, 3), G(torch.randn(6, 4))
    opt_g.zero_grad()
    opt_d.zero_grad()
    score = D(fake)
    held = D(real)
    loss_d = F.softplus(-held).mean() + F.softplus(score).mean()
    loss_d.backward(retain_graph=True)
    opt_d.step()
    loss_g = F.softplus(-sign * score).mean()
    loss_g.backward()
    opt_g.step()
""",
    {
        "anew, cut D's": (("score = D(fake)", "score = D(fake.detach())"), ("* score", "* D(fake)")),
        "anew, zero between": (
            ("    loss_g =", "    opt_g.zero_grad()\n    loss_g ="),
            ("* score", "* D(fake)"),
        ),
        "anew alone": (("* score", "* D(fake)"),),
        "anew, both cut": (
            ("score = D(fake)", "score = D(fake.detach())"),
            ("* score", "* D(fake.detach())"),
        ),
        "anew, the other way": (
            ("score = D(fake)", "score = D(fake.detach())"),
            ("-sign * score", "D(fake)"),
        ),
        "anew of other draws": (
            ("score = D(fake)", "score = D(fake.detach())"),
            ("* score", "* D(G(torch.randn(6, 4)))"),
        ),
        "anew, and D's own is gone": (
            ("softplus(score)", "softplus(score.detach())"),
            ("* score", "* D(fake)"),
        ),
        "anew, half as much": (
            ("score = D(fake)", "score = D(fake.detach())"),
            ("* score", "* D(fake)[:3]"),
        ),
    },
    frozenset({"anew, cut D's", "anew, zero between"}),
)
TRUNK = Program(
    "a trunk trained by two losses, one of which steps its head before",
    """\
trunk, first, second = Net(4, 3), Net(3, 2), Net(3, 2)
of_trunk, of_first, of_second = Optimizers(trunk), Optimizers(first), Optimizers(second)
for _ in range(4):
    x, label = torch.randn(6, 4), torch.randint(0, 2, (6,))
    z = trunk(x)
    of_trunk.zero_grad(), of_first.zero_grad(), of_second.zero_grad()
    one = F.cross_entropy(first(z), label)
    one.backward()
    of_first.step()
    other = F.mse_loss(second(z), x[:, :2])
    other.backward()
    of_second.step(), of_trunk.step()
""",
    {
        "keep": (("one.backward()", "one.backward(retain_graph=True)"),),
        "cut the first": (("first(z)", "first(z.detach())"),),
        "cut the second": (("second(z)", "second(z.detach())"),),
    },
)
IMAGINED = Program(
    "a policy is trained through a simulator that learns, and imitates beside",
    """\
policy, world = Net(4, 4), Net(4, 4)
both = Optimizers(policy, world)
for _ in range(4):
    seen, shown = torch.randn(6, 4), torch.randn(6, 4)
    action = policy(seen)
    imitation = F.mse_loss(action, shown)
    ahead = world(action)
    analytic = (ahead - 1).square().mean()
    both.zero_grad()
    imitation.backward()
    analytic.backward()
    both.step()
""",
    {
        "keep": (("imitation.backward()", "imitation.backward(retain_graph=True)"),),
        "cut the simulator's": (("world(action)", "world(action.detach())"),),
        "cut the imitation": (("imitation.backward()", "imitation.detach().requires_grad_().backward()"),),
    },
)
THROWN_AWAY = Program(
    "what an actor's loss sends to the critic is thrown away",
    """\
actor, critic = Net(4, 2), Net(6, 1)
opt_actor, opt_critic = Optimizers(actor), Optimizers(critic)
for _ in range(4):
    seen = torch.randn(6, 4)
    action = actor(seen).tanh()
    value = critic(torch.cat([seen, action], 1))
    actor_loss = -value.mean()
    opt_actor.zero_grad()
    actor_loss.backward()
    critic_loss = (value - 1).square().mean()
    opt_critic.zero_grad()
    critic_loss.backward()
    opt_critic.step(), opt_actor.step()
""",
    {
        "keep": (("actor_loss.backward()", "actor_loss.backward(retain_graph=True)"),),
        "cut the critic's": (("critic_loss = (value", "critic_loss = (critic(torch.cat([seen, action.detach()], 1))"),),
        "cut the actor's": (("-value.mean()", "-critic(torch.cat([seen, action.detach()], 1)).mean()"),),
    },
)
DEPENDENCE = Program(
    "an encoder and a critic both raise a measure of dependence, and the critic has a penalty",
    """\
encoder, T = Net(4, 3), Net(3, 1)
both = Optimizers(encoder, T)
for _ in range(4):
    x = torch.randn(6, 4)
    z = encoder(x)
    here, there = T(z), T(z[torch.randperm(6)] + 0.1)
    measure = -(here.mean() - there.mean())
    penalty = here.square().mean()
    further = F.relu(1 + z.square().mean())
    both.zero_grad()
    measure.backward()
    (penalty + further).backward()
    both.step()
""",
    {
        "keep": (("measure.backward()", "measure.backward(retain_graph=True)"),),
        "critic without the measure": (
            ("    measure.backward()", "    measure.backward(retain_graph=True, inputs=list(encoder.parameters()))"),
        ),
        "encoder without the measure": (
            ("    measure.backward()", "    measure.backward(retain_graph=True, inputs=list(T.parameters()))"),
        ),
    },
)
TEMPERATURE = Program(
    "a temperature's loss uses what a policy's method gives",
    """\
class Policy(Net):
    def sample(self, seen):
        mean = self(seen)
        noise = torch.randn_like(mean)
        action = (mean + noise).tanh()
        return action, (-noise.square() / 2 - (1.001 - action.square()).log()).sum(1)


policy, critic, scale = Policy(4, 2), Net(6, 1).requires_grad_(False), torch.zeros(1, requires_grad=True)
first, both = Net(4, 1), Optimizers(policy)
of_first, of_scale = Optimizers(first), torch.optim.SGD([scale], lr=0.05)
for _ in range(4):
    seen = torch.randn(6, 4)
    of_first.zero_grad()
    first(seen).square().mean().backward()
    of_first.step()
    action, logp = policy.sample(seen)
    weight = logp - 1
    policy_loss = (0.5 * logp - critic(torch.cat([seen, action], 1)).squeeze(1)).mean()
    scale_loss = -(scale * weight).mean()
    both.zero_grad(), of_scale.zero_grad()
    policy_loss.backward()
    scale_loss.backward()
    both.step(), of_scale.step()
""",
    {
        "keep": (("policy_loss.backward()", "policy_loss.backward(retain_graph=True)"),),
        "cut the scale's": (("= logp - 1", "= (logp - 1).detach()"),),
        "cut the policy's": (("0.5 * logp -", "0.5 * logp.detach() -"),),
    },
    frozenset({"cut the scale's"}),
)
SCORED = Program(
    "a generator beside another loss takes its critic's score of what was cut off",
    """\
gen, critic = Net(4, 6), Net(6, 1)
of_gen, of_critic = (torch.optim.SGD(net.parameters(), lr=0.05) for net in (gen, critic))
for _ in range(5):
    fake, real = gen(torch.randn(8, 4)), torch.randn(8, 6)
    score = critic(fake.detach())
    of_critic.zero_grad()
    (F.mse_loss(critic(real), torch.ones(8, 1)) + F.mse_loss(score, torch.zeros(8, 1))).backward()
    of_critic.step()
    loss = F.l1_loss(fake, real) + 0.1 * F.mse_loss(score, torch.ones(8, 1))
    of_gen.zero_grad()
    loss.backward()
    of_gen.step()
""",
    {
        "anew": (("    loss = F", "    score = critic(fake)\n    loss = F"),),
        "anew, and cut off": (("    loss = F", "    score = critic(fake.detach())\n    loss = F"),),
        "a constant": (("    loss = F", "    score = score.detach()\n    loss = F"),),
        "kept": (("torch.zeros(8, 1))).backward()", "torch.zeros(8, 1))).backward(retain_graph=True)"),
                 ("    of_critic.step()\n", ""), ("    of_gen.step()\n", "    of_gen.step()\n    of_critic.step()\n")),
    },
    frozenset({"anew"}),
)  # fmt: skip
PROBED = Program(
    "the loss of a probe that is cut off from what it reads is added to another one",
    """\
net, task, probe = Net(4, 6), Net(6, 1), Net(6, 3)
of_net = torch.optim.SGD([*net.parameters(), *task.parameters()], lr=0.05)
of_probe = torch.optim.SGD(probe.parameters(), lr=0.05)
for _ in range(5):
    h = net(torch.randn(8, 4))
    seen = F.cross_entropy(probe(h.detach()), torch.randint(0, 3, (8,)))
    of_probe.zero_grad()
    seen.backward()
    of_probe.step()
    loss = F.mse_loss(task(h), torch.ones(8, 1)) + 0.1 * seen
    of_net.zero_grad()
    loss.backward()
    of_net.step()
""",
    {
        "not cut off": (("probe(h.detach())", "probe(h)"), ("seen.backward()", "seen.backward(retain_graph=True)"),
                        ("    of_probe.step()\n", ""),
                        ("    of_net.step()\n", "    of_net.step()\n    of_probe.step()\n")),
        "kept": (("seen.backward()", "seen.backward(retain_graph=True)"),),
    },
)  # fmt: skip

FEEDBACK = Program(
    "a teacher's loss is weighed by what its labels were worth to a student",
    """\
teacher, student = Net(4, 3), Net(4, 3)
opt_t, opt_s = Optimizers(teacher), Optimizers(student)
for _ in range(4):
    x, label, other = torch.randn(6, 4), torch.randint(0, 3, (6,)), torch.randn(6, 4)
    given = teacher(other)
    guess = given.detach().argmax(1)
    before = F.cross_entropy(student(x), label)
    F.cross_entropy(student(other), guess).backward()
    opt_s.step()
    opt_s.zero_grad()
    after = F.cross_entropy(student(x), label)
    worth = before - after
    loss = worth * F.cross_entropy(given, guess) + F.cross_entropy(teacher(x), label)
    opt_t.zero_grad()
    loss.backward()
    opt_t.step()
""",
    {
        "a constant": (("worth = before - after", "worth = (before - after).detach()"),),
        "numbers": (("worth = before - after", "worth = before.item() - after.item()"),),
        "the older cut": (("worth = before", "worth = before.detach()"),),
        "the newer cut": (("- after", "- after.detach()"),),
        "before again": (("    worth =", "    before = F.cross_entropy(student(x), label).detach()\n    worth ="),),
        "no term": (("loss = worth * F", "loss = (worth * F"), (", guess) +", ", guess)).detach() +")),
    },
    frozenset({"a constant", "numbers"}),
)
PROGRAMS = (
    FEEDBACK,
    FEEDBACK.mutated(
        "of other data after the step",
        ("after = F.cross_entropy(student(x)", "after = F.cross_entropy(student(x.flip(0))"),
    ),
    FEEDBACK.mutated("it also weighs a term of the student", ("(given, guess) +", "(given + student(x), guess) +")),
    FEEDBACK.mutated(
        "a term of the student stands beside it",
        ("F.cross_entropy(teacher(x), label)", "F.cross_entropy(teacher(x) + student(x), label)"),
    ),
    VALUED,
    VALUED.mutated("its weight has a minimum in the value", ("weight = advantage", "weight = advantage.square()")),
    VALUED.mutated(
        "its weight is normalised",
        ("= advantage\n", "= (advantage - advantage.mean()) / advantage.std()\n"),
        right=("cut the actor's",),
    ),
    VALUED.mutated("its weight is clamped", ("= advantage\n", "= advantage.clamp(-0.5, 0.5)\n")),
    VALUED.mutated(
        "the critic's own loss is piecewise affine",
        ("advantage.square()", "advantage.abs()"),
        right=("cut the actor's",),
    ),
    VALUED.mutated("the critic's other loss is affine, too", ("advantage.square()", "(-advantage)")),
    VALUED.mutated(
        "actor and critic share a layer that both own",
        ("both = ", "critic.hidden = actor.hidden\nboth = "),
    ),
    VALUED.mutated(
        "the value is a sum by hand",
        ("critic(seen).squeeze(-1)", "(seen @ critic.hidden.weight.t()).sum(1)"),
        right=("cut the actor's",),
    ),
    DEPENDENCE,
    DEPENDENCE.mutated("it is a player's loss beside a drift", ("F.relu(1 + z.square().mean())", "-T(z).mean()")),
    ENCODED,
    ENCODED.mutated(
        "the other network's loss is affine in what the encoder gives",
        ("F.cross_entropy(head(features), label)", "(head(torch.ones(6, 3)).sum(1).tanh() * features.sum(1)).mean()"),
        right=("cut the head's",),
    ),
    ENCODED.mutated(
        "a decoder with a further loss", ("F.cross_entropy(z @ z.t(), torch.arange(6))", "F.l1_loss(head(z), x[:, :2])")
    ),
    ENCODED.mutated(
        "two towers, one of which has a loss of its own",
        ("Net(4, 3), Net(3, 2)", "Net(4, 3), Net(4, 3)"),
        ("F.cross_entropy(head(features), label)", "F.cross_entropy(features @ head(x + 1).t(), torch.arange(6))"),
    ),
    GAN,
    GAN.mutated("their targets are numbers", ("softplus(-D(fake)).mean()", "mse_loss(D(fake), torch.ones(6, 1))")),
    GAN.mutated("both pull the same way", ("loss_g = F.softplus(-D(fake))", "loss_g = F.softplus(D(fake))")),
    GAN.mutated("one number says little", ("torch.randn(6, 4)", "torch.randn(1, 4)")),
    ONE_SCORE,
    ONE_SCORE.mutated(
        "both, of one score, pull the same way",
        ("sign = Optimizers(G), Optimizers(D), 1", "sign = Optimizers(G), Optimizers(D), -1"),
    ),
    TRUNK,
    TRUNK.mutated(
        "it is told apart from a domain", ("F.mse_loss(second(z), x[:, :2])", "-F.cross_entropy(second(z), label)")
    ),
    IMAGINED,
    THROWN_AWAY,
    TEMPERATURE,
    TEMPERATURE.mutated("it has a minimum in what the method gives", ("scale * weight", "scale * weight.square()")),
    TEMPERATURE.mutated(
        "the policy's loss has none",
        ("logp - critic(torch.cat([seen, action], 1)).squeeze(1)", "logp - 0 * seen[:, 0]"),
    ),
    SCORED,
    PROBED,
)
