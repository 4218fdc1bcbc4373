"""What is paired is emptied together: lists filled in step of which one is emptied, and what is mistaken for them."""

from __future__ import annotations

from lawful import Program
from scripts import changed

REWARDS = "    policy.rewards = []\n"
EDITS = {
    "emptied": ((REWARDS, f"{REWARDS}    policy.log_probs = []\n"),),
    "cleared": ((REWARDS, f"{REWARDS}    policy.log_probs.clear()\n"),),
    "detached, and still paired": (
        (REWARDS, f"{REWARDS}    policy.log_probs = [p.detach() for p in policy.log_probs]\n"),
    ),
    "keep": (("loss.backward()", "loss.backward(retain_graph=True)"),),
    "collected without graph": (("append(drawn.log_prob(action))", "append(drawn.log_prob(action).detach())"),),
    "the last alone": ((REWARDS, f"{REWARDS}    policy.log_probs = policy.log_probs[-1:]\n"),),
    "the rewards stay, too": (
        (REWARDS, "    policy.log_probs = [p.detach() for p in policy.log_probs]\n"),
    ),
}  # fmt: skip
RIGHT = frozenset({"emptied", "cleared"})
EPISODES = Program(
    "log-probabilities stay, and rewards are emptied",
    """\
class Policy(Net):
    def __init__(self):
        super().__init__(4, 3)
        self.log_probs = []
        self.rewards = []

    def act(self, seen):
        drawn = torch.distributions.Categorical(logits=self(seen))
        action = drawn.sample()
        self.log_probs.append(drawn.log_prob(action))
        return action


def finish(policy):
    past, returns = 0, []
    for reward in policy.rewards[::-1]:
        past = reward + 0.9 * past
        returns.insert(0, past)
    returns = torch.tensor(returns)
    terms = []
    for log_prob, value in zip(policy.log_probs, returns):
        terms.append(-log_prob * value)
    both.zero_grad()
    loss = torch.stack(terms).mean()
    loss.backward()
    both.step()
    policy.rewards = []


policy = Policy()
both = Optimizers(policy)
for episode in range(6):
    for t in range(3 + episode % 2):
        action = policy.act(torch.randn(4))
        policy.rewards.append(float(action) - 0.3 * t)
    finish(policy)
""",
    EDITS,
    RIGHT,
)
RETURNS = EPISODES.text[EPISODES.text.index("    past, returns") : EPISODES.text.index("    terms = []")]
LOOP = EPISODES.text[EPISODES.text.index("    for log_prob, value") : EPISODES.text.index("    both.zero_grad()")]


def elsewhere(name: str, written: str, right: frozenset[str] = RIGHT, **edits: str) -> Program:
    """A program with lists of other names, which are `{log_probs}` and `{rewards}`, emptied by `{line}`."""
    log_probs, line = edits["log_probs"], edits["line"]
    margin = line[: len(line) - len(line.lstrip())]
    added = {
        "emptied": f"{log_probs} = []",
        "cleared": f"{log_probs}.clear()",
        "detached, and still paired": f"{log_probs} = [p.detach() for p in {log_probs}]",
        "the last alone": f"{log_probs} = {log_probs}[-1:]",
    }
    return Program(
        name,
        written,
        {
            **{one: ((line, f"{line}{margin}{text}\n"),) for one, text in added.items()},
            "keep": EDITS["keep"],
            "the rewards stay, too": ((line, f"{margin}{added['detached, and still paired']}\n"),),
        },
        right,
    )


MODULE = elsewhere(
    "lists of the module",
    """\
policy = Net(4, 3)
both = Optimizers(policy)
log_probs, rewards = [], []
for episode in range(6):
    for t in range(3 + episode % 2):
        drawn = torch.distributions.Categorical(logits=policy(torch.randn(4)))
        action = drawn.sample()
        log_probs.append(drawn.log_prob(action))
        rewards.append(float(action) - 0.3 * t)
    loss = sum(-log_prob * reward for log_prob, reward in zip(log_probs, rewards)) / len(rewards)
    both.zero_grad()
    loss.backward()
    both.step()
    del rewards[:]
""",
    log_probs="log_probs", line="    del rewards[:]\n",
)  # fmt: skip
MEMORY = elsewhere(
    "a memory that is emptied when an episode begins",
    """\
class Memory:
    def __init__(self):
        self.log_probs, self.rewards = [], []

    def reset(self):
        self.rewards = []


policy, memory = Net(4, 3), Memory()
both = Optimizers(policy)


def update():
    past, returns = 0.0, []
    for reward in reversed(memory.rewards):
        past = reward + 0.9 * past
        returns.append(past)
    returns.reverse()
    terms = [-log_prob * value for log_prob, value in zip(memory.log_probs, returns)]
    both.zero_grad()
    loss = torch.stack(terms).mean()
    loss.backward()
    both.step()


for episode in range(6):
    memory.reset()
    for t in range(3 + episode % 2):
        drawn = torch.distributions.Categorical(logits=policy(torch.randn(4)))
        action = drawn.sample()
        memory.log_probs.append(drawn.log_prob(action))
        memory.rewards.append(float(action) - 0.3 * t)
    update()
""",
    log_probs="self.log_probs", line="        self.rewards = []\n",
)  # fmt: skip
TRAINER_EDITS = {
    "emptied": "self.log_probs, self.values = [], []",
    "one of two emptied": "self.log_probs = []",
    "the other of two emptied": "self.values = []",
    "detached, and still paired": (
        "self.log_probs, self.values = [p.detach() for p in self.log_probs], [v.detach() for v in self.values]"
    ),
    "one emptied, one detached": "self.log_probs, self.values = [], [v.detach() for v in self.values]",
}
CLEARED = "        self.rewards.clear()\n"
TRAINER = Program(
    "a trainer with three lists",
    """\
class Trainer:
    def __init__(self):
        self.policy, self.critic = Net(4, 3), Net(4, 1)
        self.both = Optimizers(self.policy, self.critic)
        self.log_probs, self.values, self.rewards = [], [], []

    def play(self, steps):
        for t in range(steps):
            seen = torch.randn(4)
            drawn = torch.distributions.Categorical(logits=self.policy(seen))
            action = drawn.sample()
            self.log_probs.append(drawn.log_prob(action))
            self.values.append(self.critic(seen).squeeze(0))
            self.rewards.append(float(action) - 0.3 * t)

    def learn(self):
        loss = 0
        for log_prob, value, reward in zip(self.log_probs, self.values, self.rewards):
            loss = loss - log_prob * (reward - value.detach()) + (value - reward) ** 2
        self.both.zero_grad()
        loss.backward()
        self.both.step()
        self.rewards.clear()


trainer = Trainer()
for episode in range(6):
    trainer.play(3 + episode % 2)
    trainer.learn()
""",
    {
        **{name: ((CLEARED, f"{CLEARED}        {line}\n"),) for name, line in TRAINER_EDITS.items()},
        "keep": EDITS["keep"],
    },
    frozenset({"emptied"}),
)
NUMPY = (
    RETURNS,
    """\
    import numpy as np

    rewards = np.array(policy.rewards)
    discounts = 0.9 ** np.arange(len(rewards))
    returns = [float((rewards[i:] * discounts[: len(rewards) - i]).sum()) for i in range(len(rewards))]
""",
)
ALWAYS = "policy.rewards = []"
PAIRS = Program(
    "records are pairs, and the deletion of one list is forgotten",
    changed(
        EPISODES.text,
        ("append(drawn.log_prob(action))", "append((drawn.log_prob(action), drawn.entropy()))"),
        ("for log_prob, value in", "for (log_prob, entropy), value in"),
        ("-log_prob * value", "-log_prob * value - 0.1 * entropy"),
        (ALWAYS, "del policy.rewards[:]"),
    ),
    {
        "emptied": (("    del policy.rewards[:]\n", "    del policy.rewards[:], policy.log_probs[:]\n"),),
        "cleared before": (
            ("    terms = []\n", "    saved, terms, policy.log_probs = policy.log_probs, [], []\n"),
            ("zip(policy.log_probs", "zip(saved"),
        ),
        "detached, and still paired": (
            (
                "    del policy.rewards[:]\n",
                "    del policy.rewards[:]\n    policy.log_probs = [(p.detach(), 0) for p, e in policy.log_probs]\n",
            ),
        ),
        "entropies alone stay": (
            (
                "    del policy.rewards[:]\n",
                "    del policy.rewards[:]\n    policy.log_probs = [(p.detach(), e) for p, e in policy.log_probs]\n",
            ),
        ),
        "keep": EDITS["keep"],
    },
    frozenset({"emptied", "cleared before"}),
)
STEP = "    both.step()\n"
NONE = Program(
    "none is emptied",
    changed(EPISODES.text, (f"{STEP}{REWARDS}", STEP)),
    {
        "one": ((STEP, f"{STEP}    policy.log_probs.clear()\n"),),
        "both": ((STEP, f"{STEP}    policy.log_probs.clear()\n{REWARDS}"),),
        "keep": EDITS["keep"],
        "detached": ((STEP, f"{STEP}    policy.log_probs = [p.detach() for p in policy.log_probs]\n"),),
    },
)
PROGRAMS = (
    EPISODES,
    EPISODES.mutated("returns by numpy", NUMPY, right=("emptied", "cleared")),
    EPISODES.mutated(
        "a deque", ("self.log_probs = []", "import collections\n        self.log_probs = collections.deque()"),
        ("self.rewards = []", "self.rewards = list()"),
        right=("emptied", "cleared"),
    ),
    EPISODES.mutated(
        "records have a second name that is given twice",
        ("zip(policy.log_probs, returns)", "zip(log_probs, returns)"),
        ("    terms = []\n", "    terms, log_probs = [], 0\n    log_probs = policy.log_probs\n"),
    ),
    EPISODES.mutated(
        "records have a second name where they are paired",
        ("zip(policy.log_probs, returns)", "zip(saved, returns)"),
        ("    terms = []\n", "    terms = []\n    saved = policy.log_probs\n"),
        right=("emptied", "cleared"),
    ),
    EPISODES.mutated(
        "returns are standardized",
        ("returns = torch.tensor(returns)", "returns = torch.tensor(returns)\n    returns = returns - returns.mean()"),
        right=("emptied", "cleared"),
    ),
    PAIRS,
    NONE,
    MODULE,
    MEMORY,
    TRAINER,
    TRAINER.mutated(
        "a trainer that empties two of three",
        ("        self.rewards.clear()\n", "        self.rewards.clear()\n        self.log_probs.clear()\n"),
        right=("emptied", "the other of two emptied"),
    ),
    EPISODES.mutated("emptied in some passes alone", (REWARDS, f"    if episode % 2:\n    {REWARDS}")),
    EPISODES.mutated("another is printed", ("    both.step()\n", "    both.step()\n    print(policy.log_probs[0])\n")),
    EPISODES.mutated(
        "a baseline of all passes",
        ("    both.zero_grad()\n", "    terms.append(torch.stack(policy.log_probs).mean())\n    both.zero_grad()\n"),
    ),
    EPISODES.mutated(
        "a pass collects two of one",
        ("        return action\n", "        self.log_probs.append(self(seen).mean())\n        return action\n"),
    ),
    EPISODES.mutated(
        "records are drawn at random",
        ("zip(policy.log_probs, returns)", "zip(random.sample(policy.log_probs, 3), returns)"),
        ("class Policy", "import random\n\n\nclass Policy"),
    ),
    EPISODES.mutated(
        "records are read by their number",
        ("for log_prob, value in zip(policy.log_probs, returns):", "for i, value in enumerate(returns):"),
        ("-log_prob * value", "-policy.log_probs[i] * value"),
    ),
    EPISODES.mutated(
        "each is emptied in its own time",
        ("    finish(policy)\n", "    finish(policy)\n    if episode % 3 == 2:\n        policy.log_probs = []\n"),
    ),
    EPISODES.mutated(
        "a running window",
        ("self.log_probs = []", "import collections\n        self.log_probs = collections.deque(maxlen=5)"),
    ),
    EPISODES.mutated("terms are summed", ("terms).mean()", "terms).sum()"), right=("emptied", "cleared")),
    EPISODES.mutated(
        "two passes before one is emptied", (REWARDS, f"    if len(policy.rewards) > 5:\n    {REWARDS}")
    ),
)  # fmt: skip
