import torch
import torch.nn.functional as F

torch.manual_seed(66)


def init_params(sizes):
    params = []
    for a, b in zip(sizes, sizes[1:]):
        params += [(torch.randn(a, b) / a ** 0.5).requires_grad_(), torch.zeros(b, requires_grad=True)]
    return params


def forward(params, x):
    n = len(params) // 2
    for i in range(n):
        x = x @ params[2 * i] + params[2 * i + 1]
        if i < n - 1:
            x = torch.tanh(x)
    return x


def sample_task():
    amp, phase = torch.rand(1) * 2 + 0.5, torch.rand(1) * 3
    x = torch.rand(20, 1) * 6 - 3
    y = amp * torch.sin(x + phase)
    return (x[:10], y[:10]), (x[10:], y[10:])


class MetaLearner:
    def __init__(self, inner_lr=0.05, inner_steps=2):
        self.params = init_params([1, 12, 1])
        self.opt = torch.optim.Adam(self.params, lr=5e-3)
        self.inner_lr, self.inner_steps = inner_lr, inner_steps

    def adapt(self, support):
        fast = self.params
        for _ in range(self.inner_steps):
            loss = F.mse_loss(forward(fast, support[0]), support[1])
            grads = torch.autograd.grad(loss, fast, create_graph=True)
            fast = [p - self.inner_lr * g for p, g in zip(fast, grads)]
        return fast

    def meta_step(self, tasks):
        self.opt.zero_grad()
        meta_batch_loss = 0.0
        for support, query in tasks:
            fast = self.adapt(support)
            meta_batch_loss += F.mse_loss(forward(fast, query[0]), query[1])
            meta_batch_loss.backward()
        self.opt.step()
        return meta_batch_loss.item() / len(tasks)


learner = MetaLearner()
for it in range(5):
    value = learner.meta_step([sample_task() for _ in range(3)])
print(f"{value:.6f}")
