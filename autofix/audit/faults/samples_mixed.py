"""The samples of a batch are taken for something else.

## What it finds
Finds a softmax, a `normalize` or a cosine along the dimension of samples: the one that the loss has a target for in
each row. A recurrent layer without `batch_first` whose time has as many steps as the loss has rows, and a `view` that
swaps sizes and moves no value, are told, and are no alarm.

## Why it matters
Each sample's result depends on which others are in its batch. Training finds some use of that, the loss falls, and a
single sample at test time gets an answer that has nothing to do with it.

## What it cannot tell
Where another dimension has as many elements as the batch has samples, nothing is said. A softmax over the first
dimension without a loss function of torch behind it is told: attention over the rows of one bag or graph is meant so.
"""

from autofix.audit.fault import Fault, examples


class SamplesMixed(Fault):
    code, name = "AG549", "samples-mixed"
    broken = (("normalised-along-batch", "this normalises along the {} samples: each depends on the others"),)
    noted = (
        ("normalised-along-first", "this normalises along the first dimension, of {} rows: are they samples?"),
        ("recurrent-along-batch", "this layer reads the {} samples of the batch as steps in time: batch_first?"),
        ("sizes-permuted", "this takes {}: sizes are swapped, and no value is moved"),
    )
    finds, passes = examples("""\
!
att, out = nn.Linear(6, 5), nn.Linear(5, 3)
opt = optim.SGD([*att.parameters(), *out.parameters()], lr=0.1)
for _ in range(5):
    x, y = torch.randn(8, 6), torch.randint(3, (8,))
    opt.zero_grad()
-    gate = torch.softmax(att(x), dim=0)  # found
+    gate = torch.softmax(att(x), dim=1)  # found
    F.cross_entropy(out(gate), y).backward()
    opt.step()
!
read, score, out = nn.GRU(4, 8), nn.Linear(8, 1), nn.Linear(8, 3)
opt = optim.SGD([p for m in (read, score, out) for p in m.parameters()], lr=0.1)
for _ in range(5):
    x, y = torch.randn(6, 9, 4), torch.randint(3, (9,))
    h = read(x)[0]
    train: F.cross_entropy(out((score(h).softmax(0) * h).sum(0)), y)
""")
