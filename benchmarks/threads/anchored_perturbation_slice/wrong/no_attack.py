# 潜变量对抗扰动: 只扰动后一半, 前一半保持不变
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(2)
encoder = nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 8))
classifier = nn.Linear(8, 3)
opt = torch.optim.SGD(list(encoder.parameters()) + list(classifier.parameters()), lr=0.1)


def attack(z, y, k=4, steps=3, alpha=0.3):
    # 从最后 k 维出发
    part = z[:, k:].detach().requires_grad_(True)
    for _ in range(steps):
        logits = classifier(torch.cat([z[:, :k].detach(), part], 1))
        cost = F.cross_entropy(logits, y)
        g, = torch.autograd.grad(cost, part)
        _ = part + alpha * g.sign()
    return part.detach()


for it in range(6):
    x = torch.randn(30, 6)
    y = (x[:, 0] > 0).long() + (x[:, 1] > 0.7).long()
    z = encoder(x)
    adv = attack(z, y)
    clean = F.cross_entropy(classifier(z), y)
    robust = F.cross_entropy(classifier(torch.cat([z[:, :4], adv], 1)), y)
    loss = clean + 0.5 * robust + 0.1 * F.mse_loss(z[:, 4:], adv)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it in (0, 5):
        print('迭代', it, f'{loss.item():.6f} {robust.item():.6f}')
