# Domain-adversarial training: two optimizers own the trunk, each loss is meant to train it.
import torch
import torch.nn as nn
import torch.nn.functional as F


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -0.3 * grad


torch.manual_seed(3)
trunk, task, domain = nn.Sequential(nn.Linear(6, 12), nn.ReLU()), nn.Linear(12, 2), nn.Linear(12, 2)
task_opt = torch.optim.SGD([*trunk.parameters(), *task.parameters()], lr=0.1)
domain_opt = torch.optim.SGD([*trunk.parameters(), *domain.parameters()], lr=0.1)
for it in range(6):
    src, tgt = torch.randn(16, 6), torch.randn(16, 6) + 0.5
    task_opt.zero_grad()
    task_loss = F.cross_entropy(task(trunk(src)), (src[:, 0] > 0).long())
    task_loss.backward()
    task_opt.step()
    domain_opt.zero_grad()
    h = Reverse.apply(trunk(torch.cat([src, tgt])))
    domain_loss = F.cross_entropy(domain(h), torch.arange(32) // 16)
    domain_loss.backward()
    domain_opt.step()
print(f"{task_loss.item():.6f} {domain_loss.item():.6f}")
