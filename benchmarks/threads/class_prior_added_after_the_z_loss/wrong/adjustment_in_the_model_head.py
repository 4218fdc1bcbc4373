# 长尾分类: logit adjustment + z-loss; 每个 epoch 之后按难度给样本加权
import torch
import torch.nn as nn
import torch.nn.functional as F


def long_tail_counts(classes, largest=80, ratio=0.45):
    return [max(int(largest * ratio ** c), 3) for c in range(classes)]


class LALoss(nn.Module):
    def __init__(self, counts, tau=1.0, z_coef=0.05):
        super().__init__()
        prior = torch.tensor(counts, dtype=torch.float)
        self.register_buffer('adjust', tau * torch.log(prior / prior.sum()))
        self.z_coef = z_coef

    def forward(self, logits, y, weight):
        # z-loss 作用在未调整的 logits 上
        z = torch.logsumexp(logits, dim=1)
        ce = F.cross_entropy(logits, y, reduction='none')
        return (weight * ce).mean() + self.z_coef * (z ** 2).mean()


class Trainer:
    def __init__(self, x, y, counts, lr=0.2):
        self.x, self.y = x, y
        self.model = nn.Sequential(nn.Linear(x.shape[1], 24), nn.ReLU(), nn.Linear(24, len(counts)))
        self.criterion = LALoss(counts)
        self.opt = torch.optim.SGD(self.model.parameters(), lr=lr, momentum=0.9, weight_decay=1e-4)
        self.weight = torch.ones(len(y))

    def run_epoch(self, batch=40):
        order = torch.randperm(len(self.y))
        hits, losses = 0, []
        for idx in order.split(batch):
            logits = self.model(self.x[idx]) + self.criterion.adjust
            loss = self.criterion(logits, self.y[idx], self.weight[idx])
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            losses.append(loss.item())
            # 网络自己的预测 (推理时不加先验)
            scores = logits.detach()
            hits += (scores.argmax(1) == self.y[idx]).sum().item()
            p_true = scores.softmax(1).gather(1, self.y[idx, None]).squeeze(1)
            self.weight[idx] = 0.5 + (1 - p_true)
        return sum(losses) / len(losses), hits / len(self.y)


def main():
    torch.manual_seed(6)
    counts = long_tail_counts(5)
    centre = 1.3 * torch.randn(5, 8)
    y = torch.cat([torch.full((n,), c) for c, n in enumerate(counts)])
    x = centre[y] + torch.randn(len(y), 8)
    trainer = Trainer(x, y, counts)
    for epoch in range(3):
        loss, acc = trainer.run_epoch()
        print('epoch %d loss %.6f acc %.5f mean weight %.6f' % (epoch, loss, acc, trainer.weight.mean().item()))


if __name__ == '__main__':
    main()
