# %% [markdown]
# # Exercise 3: how far back does the gradient reach?
#
# Adding problem: two rows, a random number and a marker. Target = sum of the two marked numbers.
# We train a plain tanh cell and a GRU cell by hand-written unrolling and look at the size of
# dL/dh_t for every time step t after some epochs.

# %%
import math
import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 13
T = 24
HIDDEN = 20
N_TRAIN, N_TEST = 160, 64
BATCH = 40
EPOCHS = 4
CLIP = 1.0
PROBE = [0, T // 4, T // 2, T - 2]


# %%
def adding_problem(n, rng):
    values = rng.rand(n, T)
    marks = np.zeros((n, T))
    for i in range(n):
        a = rng.randint(0, T // 2)
        b = rng.randint(T // 2, T)
        marks[i, [a, b]] = 1
    x = np.stack([values, marks], axis=2)
    y = (values * marks).sum(1)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y, dtype=torch.float32)


rng = np.random.RandomState(SEED)
x_train, y_train = adding_problem(N_TRAIN, rng)
x_test, y_test = adding_problem(N_TEST, rng)


# %%
class Unrolled(nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.cell = nn.RNNCell(2, HIDDEN) if kind == "tanh" else nn.GRUCell(2, HIDDEN)
        self.out = nn.Linear(HIDDEN, 1)

    def forward(self, x):
        h = x.new_zeros(len(x), HIDDEN)
        hs = []
        for t in range(x.size(1)):
            h = self.cell(x[:, t], h)
            hs.append(h)
        return self.out(h).squeeze(1), hs


def test_error(model):
    model.eval()
    with torch.no_grad():
        pred, _ = model(x_test)
        err = F.mse_loss(pred, y_test).item()
    model.train()
    return err


# %%
def bar(v, lo=-6.0, hi=0.0, width=20):
    frac = (math.log10(max(v, 1e-12)) - lo) / (hi - lo)
    return "#" * int(round(width * min(max(frac, 0.0), 1.0)))


profiles = {}
for kind in ["tanh", "gru"]:
    torch.manual_seed(SEED)
    model = Unrolled(kind)
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    sched = torch.optim.lr_scheduler.StepLR(opt, step_size=2, gamma=0.7)

    for epoch in range(EPOCHS):
        perm = torch.randperm(N_TRAIN)
        running = 0.0
        reach = np.zeros(T)
        for i in range(0, N_TRAIN, BATCH):
            idx = perm[i:i + BATCH]
            pred, hs = model(x_train[idx])
            loss = F.mse_loss(pred, y_train[idx])
            opt.zero_grad()
            grads = torch.autograd.grad(loss, hs, retain_graph=True)
            loss.backward()
            reach += np.array([g.norm().item() for g in grads])
            nn.utils.clip_grad_norm_(model.parameters(), CLIP)
            opt.step()
            running += loss.item() * len(idx) / N_TRAIN
        sched.step()
        reach /= N_TRAIN / BATCH
        profiles[kind, epoch] = reach
        print(f"{kind:5s} epoch {epoch}  train {running:.5f}  test {test_error(model):.5f}  "
              + "  ".join(f"|dL/dh{t}| {reach[t]:.6f}" for t in PROBE))

# %% [markdown]
# ## The picture (log scale)

# %%
for kind in ["tanh", "gru"]:
    print(kind)
    for t in range(0, T, 4):
        print(f"  t={t:02d} {bar(profiles[kind, EPOCHS - 1][t])}")

with tempfile.TemporaryDirectory() as d:
    np.savez(os.path.join(d, "profiles.npz"), **{f"{k}_{e}": v for (k, e), v in profiles.items()})

for kind in ["tanh", "gru"]:
    first, last = profiles[kind, 0], profiles[kind, EPOCHS - 1]
    print(f"{kind}: ratio first/last state {first[0] / first[-1]:.6f} -> {last[0] / last[-1]:.6f}")
