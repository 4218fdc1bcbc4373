"""A loss over log-probabilities gets something else.

## What it finds
Finds `nll_loss` whose input does not sum to one over the classes after `exp`, and `kl_div` whose input is positive
throughout: scores, or probabilities without their logarithm. Finds a cross-entropy whose first argument is one-hot and
whose second is trained.

## Why it matters
`nll_loss` of raw scores has no minimum: the scores grow without bound. `kl_div` of probabilities compares the wrong
distributions.

## What it cannot tell
It looks at values, so mixtures and other normalised log-probabilities are right however they were made.
"""

from autofix.audit.fault import Fault, examples


class NoLogProbabilities(Fault):
    code, name = "AG530", "no-log-probabilities"
    broken = (
        ("no-log-probabilities", "{} expects log-probabilities, and gets something else"),
        ("normalised-elsewhere", "{} is given log-probabilities that are normalised along another dimension"),
        ("arguments-swapped", "{} is given the target where it expects the scores"),
    )
    finds, passes = examples("""\
!
net = nn.Linear(4, 3)
opt = optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    x, y = torch.randn(8, 4), torch.randint(3, (8,))
    opt.zero_grad()
-    loss = F.nll_loss(net(x), y)  # found
+    loss = F.cross_entropy(net(x), y)  # found
    loss.backward()
    opt.step()
!
net = nn.Linear(4, 6)
opt = optim.SGD(net.parameters(), lr=0.1)
for _ in range(5):
    x, y = torch.randn(8, 4), torch.randint(3, (8,))
    mixture = net(x).view(8, 2, 3).softmax(2).mean(1)
    train: F.nll_loss(mixture.log(), y)
""")
