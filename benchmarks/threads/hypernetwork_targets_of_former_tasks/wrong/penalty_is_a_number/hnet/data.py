import torch


def task_stream(num_tasks, n_iter, size=10):
    for t in range(num_tasks):
        w = torch.randn(3, 1)
        batches = []
        for _ in range(n_iter):
            x = torch.randn(size, 3)
            batches.append((x, torch.tanh(x @ w) + 0.2 * t))
        yield batches
