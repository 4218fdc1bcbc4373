# -*- coding:utf-8 -*-
# FlexMatch / FixMatch 半监督训练, 带分布对齐 (distribution alignment)
import argparse
import logging

import torch
import torch.nn as nn
import torch.nn.functional as F

logger = logging.getLogger('ssl')


class Classifier(nn.Module):
    def __init__(self, dim, num_classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(dim, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
        self.fc = nn.Linear(32, num_classes)

    def forward(self, x):
        return self.fc(self.body(x))


class FlexMatch:
    def __init__(self, net, num_classes, args):
        self.model = net
        self.args = args
        self.num_classes = num_classes
        self.p_model = None                                       # 模型预测分布的滑动平均
        self.p_target = torch.full((num_classes,), 1.0 / num_classes)
        self.optimizer = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9, nesterov=True)

    # 分布对齐: 弱增强样本的预测 -> 伪标签
    def align(self, logits_w):
        pseudo_label = torch.softmax(logits_w / self.args.T, dim=-1)
        if self.p_model is None:
            self.p_model = torch.mean(pseudo_label, dim=0)
        else:
            self.p_model = self.p_model * self.args.da_len + torch.mean(pseudo_label, dim=0) * (1 - self.args.da_len)
        pseudo_label = pseudo_label * self.p_target / self.p_model
        pseudo_label = pseudo_label / pseudo_label.sum(dim=-1, keepdim=True)
        self.p_model = self.p_model.detach()
        return pseudo_label

    # 一致性损失: 强增强的预测要接近弱增强给出的伪标签
    def consistency_loss(self, logits_s, logits_w):
        pseudo_label = self.align(logits_w)
        max_probs, max_idx = torch.max(pseudo_label, dim=-1)
        mask = max_probs.ge(self.args.p_cutoff).float()
        loss = torch.sum(-pseudo_label * F.log_softmax(logits_s, dim=-1), dim=-1)
        return (loss * mask).mean(), mask.mean(), max_idx

    def train_step(self, x_lb, y_lb, x_ulb_w, x_ulb_s):
        num_lb, num_ulb = x_lb.size(0), x_ulb_w.size(0)
        inputs = torch.cat((x_lb, x_ulb_w, x_ulb_s))
        logits = self.model(inputs)                               # 一次前向, 速度快
        logits_x_lb = logits[:num_lb]
        logits_x_ulb_w, logits_x_ulb_s = logits[num_lb:].chunk(2)

        sup_loss = F.cross_entropy(logits_x_lb, y_lb)
        unsup_loss, mask, _ = self.consistency_loss(logits_x_ulb_s, logits_x_ulb_w)
        total_loss = sup_loss + self.args.ulb_loss_ratio * unsup_loss

        self.optimizer.zero_grad()
        total_loss.backward()
        self.optimizer.step()
        return {'sup': sup_loss.item(), 'unsup': unsup_loss.item(), 'mask': mask.item()}


def two_moons_like(n, num_classes=3, dim=6, gen=None):
    y = torch.randint(0, num_classes, (n,), generator=gen)
    angle = y.float() * 2.1 + 0.35 * torch.randn(n, generator=gen)
    x = torch.stack([angle.cos(), angle.sin()], 1) * 2
    return torch.cat([x, 0.3 * torch.randn(n, dim - 2, generator=gen)], 1), y


def weak(x):
    return x + 0.05 * torch.randn_like(x)


def strong(x):
    keep = (torch.rand_like(x) > 0.2).float()
    return (x + 0.3 * torch.randn_like(x)) * keep


def main():
    parser = argparse.ArgumentParser(description='Semi-Supervised Learning')
    parser.add_argument('--num_train_iter', type=int, default=20)
    parser.add_argument('--num_labels', type=int, default=12)
    parser.add_argument('--batch_size', type=int, default=12)
    parser.add_argument('--uratio', type=int, default=4)
    parser.add_argument('--T', type=float, default=0.5)
    parser.add_argument('--p_cutoff', type=float, default=0.6)
    parser.add_argument('--da_len', type=float, default=0.9)
    parser.add_argument('--ulb_loss_ratio', type=float, default=1.0)
    parser.add_argument('--lr', type=float, default=0.05)
    args = parser.parse_args()
    torch.manual_seed(0)
    x_lb, y_lb = two_moons_like(args.num_labels)
    x_ulb, y_ulb = two_moons_like(200)
    trainer = FlexMatch(Classifier(6, 3), 3, args)
    for it in range(args.num_train_iter):
        idx = torch.randint(0, len(x_ulb), (args.batch_size * args.uratio,))
        tb = trainer.train_step(weak(x_lb), y_lb, weak(x_ulb[idx]), strong(x_ulb[idx]))
        if it % 5 == 4:
            print(it, ' '.join('%s %.5f' % kv for kv in tb.items()), 'p_model', ' '.join('%.5f' % p for p in trainer.p_model.tolist()))
    with torch.no_grad():
        acc = (trainer.model(x_ulb).argmax(1) == y_ulb).float().mean().item()
    print('acc %.4f' % acc)


if __name__ == '__main__':
    main()
