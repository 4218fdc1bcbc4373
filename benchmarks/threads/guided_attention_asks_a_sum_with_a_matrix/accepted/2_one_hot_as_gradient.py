# -*- coding: utf-8 -*-
"""引导注意力推理网络 (GAIN) 的小型复现: 分类 + 注意力挖掘损失
   Guided attention inference: classification stream (S_cl) and attention mining stream (S_am)."""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class GAIN(nn.Module):
    def __init__(self, num_classes=3, omega=10.0, sigma=0.5):
        super(GAIN, self).__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(),
            nn.Conv2d(8, 12, 3, padding=1, stride=2), nn.ReLU(),
        )
        self.classifier = nn.Sequential(nn.AdaptiveAvgPool2d(2), nn.Flatten(), nn.Linear(48, 16), nn.Tanh(), nn.Linear(16, num_classes))
        self.omega, self.sigma = omega, sigma
        self.feed_forward_features = None
        self.backward_features = None
        self._register_hooks()

    def _register_hooks(self):
        # 记录最后一层卷积的输出, 以及它的梯度
        def forward_hook(module, inputs, output):
            self.feed_forward_features = output

        def backward_hook(module, grad_input, grad_output):
            self.backward_features = grad_output[0]

        layer = self.features[2]
        layer.register_forward_hook(forward_hook)
        layer.register_full_backward_hook(backward_hook)

    def forward(self, images, labels):
        logits = self.classifier(self.features(images))
        feats = self.feed_forward_features

        labels_ohe = F.one_hot(labels, logits.size(1)).float()
        logits.backward(gradient=labels_ohe, retain_graph=True)

        # Eq. 1 + 2: weights of the channels, then the attention map
        weights = F.adaptive_avg_pool2d(self.backward_features, 1)
        A_c = F.relu((feats * weights).sum(1, keepdim=True))
        A_c = F.interpolate(A_c, size=images.shape[2:], mode="bilinear", align_corners=False)
        A_c = A_c / (A_c.amax(dim=(2, 3), keepdim=True) + 1e-6)

        # 把注意力区域从图像里抹掉, 再分类一次
        mask = torch.sigmoid(self.omega * (A_c - self.sigma))
        masked_images = images - images * mask
        logits_am = self.classifier(self.features(masked_images))
        return logits, logits_am, A_c


def make_images(n, size=12, seed=0):
    rs = np.random.RandomState(seed)
    x = rs.randn(n, 1, size, size).astype("float32") * 0.3
    y = rs.randint(0, 3, n)
    for i, c in enumerate(y):
        r, k = rs.randint(1, size - 5, 2)
        if c == 0:
            x[i, 0, r:r + 4, k:k + 1] += 2
        elif c == 1:
            x[i, 0, r:r + 1, k:k + 4] += 2
        else:
            x[i, 0, r:r + 3, k:k + 3] += 1
    return torch.from_numpy(x), torch.from_numpy(y).long()


class Trainer:
    def __init__(self, model, args):
        self.model, self.args = model, args
        self.optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)

    def am_loss(self, logits_am, labels):
        # 抹掉之后, 原类别的得分应该很低
        return logits_am.softmax(1).gather(1, labels[:, None]).mean()

    def fit(self, loader):
        for epoch in range(self.args.epochs):
            sums = np.zeros(3)
            for images, labels in loader:
                logits, logits_am, A_c = self.model(images, labels)
                loss_cl = F.cross_entropy(logits, labels)
                loss_am = self.am_loss(logits_am, labels)
                loss = loss_cl + self.args.alpha * loss_am
                self.optimizer.zero_grad()   # the attention pass left gradients behind
                loss.backward()
                self.optimizer.step()
                sums += [loss_cl.item(), loss_am.item(), A_c.mean().item()]
            cl, am, att = sums / len(loader)
            print("epoch %d  cls %.5f  am %.5f  attention %.5f" % (epoch, cl, am, att))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", default=2, type=int)
    parser.add_argument("--batch-size", default=16, type=int)
    parser.add_argument("--lr", default=3e-3, type=float)
    parser.add_argument("--alpha", default=1.0, type=float, help="weight of the attention mining loss")
    args = parser.parse_args()
    torch.manual_seed(0)
    x, y = make_images(64)
    loader = list(zip(x.split(args.batch_size), y.split(args.batch_size)))
    Trainer(GAIN(), args).fit(loader)
