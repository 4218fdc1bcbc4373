"""Few-shot regression of sines with model-agnostic meta-learning."""
import math
import torch
import torch.nn.functional as F


class Net:
    """A functional network: parameters are passed in."""

    def __init__(self, hidden=20):
        self.params = [torch.randn(1, hidden) * 0.7, torch.zeros(hidden), torch.randn(hidden, 1) / math.sqrt(hidden), torch.zeros(1)]
        for p in self.params:
            p.requires_grad_()

    @staticmethod
    def apply(params, x):
        w1, b1, w2, b2 = params
        return torch.tanh(x @ w1 + b1) @ w2 + b2


class SineTask:
    def __init__(self):
        self.a, self.phase = 0.5 + 2 * torch.rand(1), math.pi * torch.rand(1)

    def sample(self, n=10):
        x = 10 * torch.rand(n, 1) - 5
        return x, self.a * torch.sin(x + self.phase)


class MAML:
    def __init__(self, net, inner_lr=0.02, inner_steps=2, meta_lr=3e-3):
        self.net, self.inner_lr, self.inner_steps = net, inner_lr, inner_steps
        self.meta_opt = torch.optim.Adam(net.params, lr=meta_lr)

    def adapt(self, x, y):
        fast = [p.clone() for p in self.net.params]
        for _ in range(self.inner_steps):
            loss = F.mse_loss(self.net.apply(fast, x), y)
            for p in fast:
                p.retain_grad()
            loss.backward(retain_graph=True)
            fast = [p - self.inner_lr * p.grad for p in fast]
        return fast

    def step(self, tasks):
        self.meta_opt.zero_grad()
        total = 0.0
        for task in tasks:
            fast = self.adapt(*task.sample())
            x, y = task.sample()
            loss = F.mse_loss(self.net.apply(fast, x), y) / len(tasks)
            loss.backward()
            total += loss.item()
        self.meta_opt.step()
        return total


if __name__ == "__main__":
    torch.manual_seed(1703)
    maml = MAML(Net())
    for it in range(5):
        print("iteration %d loss %.6f" % (it, maml.step([SineTask() for _ in range(3)])))
