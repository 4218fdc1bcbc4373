import numpy as np
import torch


def split_tasks(n_tasks, per_task, n=40, dim=8):
    centres = np.random.randn(n_tasks * per_task, dim) * 2
    for t in range(n_tasks):
        classes = list(range(t * per_task, (t + 1) * per_task))
        y = np.random.choice(classes, n)
        x = centres[y] + np.random.randn(n, dim)
        yield classes, torch.from_numpy(x.astype(np.float32)), torch.from_numpy(y)
