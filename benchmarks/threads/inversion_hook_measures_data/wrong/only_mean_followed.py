# DeepInversion / data-free: synthesise inputs whose batch statistics match the running ones of the teacher
# 教师网络固定不动, 只优化输入
import argparse
import random

import torch
import torch.nn as nn
import torch.nn.functional as F


class DeepInversionFeatureHook:
    """
    Forward hook that tracks feature statistics and computes a loss on them.
    Compares mean and variance of the batch with the running ones, using l2 as a loss.
    """

    def __init__(self, module):
        self.hook = module.register_forward_hook(self.hook_fn)
        self.r_feature = None

    def hook_fn(self, module, input, output):
        # .data because we are in a hook and only want to measure
        feature = input[0].data
        nch = feature.shape[1]
        mean = input[0].mean([0, 2, 3])
        var = feature.permute(1, 0, 2, 3).contiguous().view([nch, -1]).var(1, unbiased=False)
        self.r_feature = torch.norm(module.running_var.data - var, 2) + torch.norm(module.running_mean.data - mean, 2)

    def close(self):
        self.hook.remove()


def make_teacher():
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU(), nn.AvgPool2d(2),
        nn.Conv2d(4, 6, 3, padding=1, bias=False), nn.BatchNorm2d(6), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(6, 3))
    with torch.no_grad():
        for _ in range(10):  # stands for the training
            net(0.5 + 0.3 * torch.randn(16, 1, 8, 8))
    for p in net.parameters():
        p.requires_grad_(False)
    return net.eval()


def total_variation(x):
    return (x[..., 1:, :] - x[..., :-1, :]).pow(2).mean() + (x[..., :, 1:] - x[..., :, :-1]).pow(2).mean()


class DeepInversion:
    def __init__(self, net_teacher, args):
        self.net, self.args = net_teacher, args
        self.layers = [DeepInversionFeatureHook(m) for m in net_teacher.modules() if isinstance(m, nn.BatchNorm2d)]
        self.inputs = torch.randn(args.bs, 1, 8, 8).requires_grad_()
        self.targets = torch.arange(args.bs) % 3
        self.optimizer = torch.optim.Adam([self.inputs], lr=args.lr, betas=(0.5, 0.9))

    def loss(self, it):
        outputs = self.net(self.jitter(self.inputs))
        scale = [self.args.first_bn_multiplier] + [1.0] * (len(self.layers) - 1)
        loss_bn = sum(s * layer.r_feature for s, layer in zip(scale, self.layers))
        loss = self.args.bn_scale * loss_bn
        if it >= self.args.warmup:
            # 热身之后再加分类损失和平滑项
            loss = loss + F.cross_entropy(outputs, self.targets) + self.args.tv * total_variation(self.inputs)
        return loss, loss_bn

    def jitter(self, x):
        if self.args.jitter == 0:
            return x
        return torch.roll(x, shifts=(random.randint(-self.args.jitter, self.args.jitter),) * 2, dims=(2, 3))

    def run(self):
        for it in range(self.args.iters):
            self.optimizer.zero_grad()
            loss, loss_bn = self.loss(it)
            loss.backward()
            self.optimizer.step()
            print("it %d loss %.6f bn %.6f" % (it, loss.item(), loss_bn.item()))
        for layer in self.layers:
            layer.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--bs", default=6, type=int)
    parser.add_argument("--iters", default=9, type=int)
    parser.add_argument("--warmup", default=4, type=int, help="iterations with the statistics only")
    parser.add_argument("--lr", default=0.05, type=float)
    parser.add_argument("--bn_scale", default=1.0, type=float)
    parser.add_argument("--first_bn_multiplier", default=2.0, type=float)
    parser.add_argument("--tv", default=0.1, type=float)
    parser.add_argument("--jitter", default=0, type=int)
    parser.add_argument("--fp16", action="store_true")
    parser.add_argument("--cig_scale", default=0.0, type=float, help="competition score, needs a student")
    args = parser.parse_args()
    torch.manual_seed(0)
    DeepInversion(make_teacher(), args).run()
