"""A step uses gradient that another loss left behind.

## What it finds
Finds an optimizer that steps with gradient which a backward of an earlier part of the pass left in its parameters: it
did not step then, and nothing cleared it. A generator's loss also leaves gradient in the discriminator; if only the
generator's are cleared, the discriminator's next step descends it.

## Why it matters
The step follows the sum of its own loss and of one that was meant for another network, often with the opposite aim.

## What it cannot tell
Gradients that are gathered on purpose over several backward calls and used by one step are one part, and are left
alone.
"""

from autofix.audit.fault import Fault, examples


class GradientLeftOver(Fault):
    code, name = "AG522", "gradient-left-over"
    law = "a loss trains what steps on it"
    broken = (
        ("gradient-left-over", "this leaves gradient in {} that a step of another loss uses: nothing clears it before"),
    )
    finds, passes = examples("""\
g, d = nn.Linear(4, 2), nn.Linear(2, 1)
opt_g, opt_d = optim.SGD(g.parameters(), lr=0.1), optim.SGD(d.parameters(), lr=0.1)
!
for _ in range(6):
    z = torch.randn(8, 4)
    opt_g.zero_grad()
+    opt_d.zero_grad()
    (d(torch.randn(8, 2)).mean() - d(g(z).detach()).mean()).backward()
    opt_d.step()
    d(g(z)).mean().backward()  # found
    opt_g.step()
!
for _ in range(6):
    z = torch.randn(8, 4)
    train[opt_d]: (d(torch.randn(8, 2)).mean() - d(g(z).detach()).mean())
    train[opt_g]: d(g(z)).mean()
""")
