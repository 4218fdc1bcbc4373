"""Two names stand for one memory.

## What it finds
Tells of two parameters that are one memory, of which an optimizer owns at least one, and of a module that another
holds under several names: `a.data = b.data`, `[layer] * 6`.

## Why it matters
A teacher that shares the student's memory is the student. Two owned parameters of one memory are moved twice by each
step. A list of six layers that are one has a sixth of the weights.

## What it cannot tell
Weights are shared on purpose, too; so it is told, and is no alarm. Tied weights that are one parameter are left
alone.
"""

from autofix.audit.fault import Fault, examples


class SharedByAccident(Fault):
    code, name = "AG548", "shared-by-accident"
    noted = (
        ("one-memory-two-parameters", "{} are one memory: what is written to one is written to the other"),
        ("one-module-many-names", "this holds one module under several names: its weights are shared"),
    )
    finds, passes = examples("""\
!
emb, out = nn.Embedding(6, 4), nn.Linear(4, 6, bias=False)
out.weight = emb.weight
opt = optim.SGD([*emb.parameters()], lr=0.1)
for _ in range(5):
    ids = torch.randint(6, (8,))
    train: F.cross_entropy(out(emb(ids)), ids)
""")
