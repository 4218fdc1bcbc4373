# %% [markdown]
# # Which optimizer takes the shorter way?
# Compare optimizers on Himmelblau's function and on Beale's function and plot their paths.

# %%
import math
import numpy as np
import torch


def himmelblau(p):
    x, y = p[0], p[1]
    return (x ** 2 + y - 11) ** 2 + (x + y ** 2 - 7) ** 2


def beale(p):
    x, y = p[0], p[1]
    return (1.5 - x + x * y) ** 2 + (2.25 - x + x * y ** 2) ** 2 + (2.625 - x + x * y ** 3) ** 2


problems = {
    "himmelblau": (himmelblau, [-0.5, -1.0]),
    "beale": (beale, [1.0, 1.0]),
}

optimizers = {
    "sgd": lambda ps: torch.optim.SGD(ps, lr=0.004),
    "momentum": lambda ps: torch.optim.SGD(ps, lr=0.002, momentum=0.9),
    "rmsprop": lambda ps: torch.optim.RMSprop(ps, lr=0.02),
    "adam": lambda ps: torch.optim.Adam(ps, lr=0.08),
}

# %%
# walk down and remember every point for the contour plot


def descend(f, start, make_optimizer, n_steps=120):
    xy = torch.tensor(start, requires_grad=True)
    optimizer = make_optimizer([xy])
    path, values = [], []
    for _ in range(n_steps):
        path.append(np.array(xy.tolist(), dtype=np.float32))
        loss = f(xy)
        values.append(loss.item())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return np.stack(path), np.array(values)


# %%
def path_length(path):
    return float(np.sqrt((np.diff(path, axis=0) ** 2).sum(axis=1)).sum())


def detour(path):
    direct = math.dist(path[0], path[-1])
    return path_length(path) / direct if direct > 0 else float("inf")


results = {}
for problem, (f, start) in problems.items():
    print(problem, "from", start)
    for name, make in optimizers.items():
        path, values = descend(f, start, make)
        results[problem, name] = path
        print(f"  {name:9s} f: {values[0]:.4f} -> {values[-1]:.4f}   length {path_length(path):.4f}   "
              f"detour {detour(path):.4f}   widest step {np.abs(np.diff(path, axis=0)).max():.4f}")

# %%
# limits of the contour plot
points = np.concatenate(list(results.values()))
print("x from %.4f to %.4f, y from %.4f to %.4f" % (
    points[:, 0].min(), points[:, 0].max(), points[:, 1].min(), points[:, 1].max()))
