# deep dream on a small random net, with octaves (the picture grows between them)
import torch
import torch.nn as nn
import torch.nn.functional as F


class Features(nn.Module):
    def __init__(self):
        super().__init__()
        chans = [3, 8, 12, 12]
        self.convs = nn.ModuleList([nn.Conv2d(a, b, 3, padding=1) for a, b in zip(chans, chans[1:])])
        for p in self.parameters():
            p.requires_grad_(False)

    def forward(self, x, upto=2):
        for i, conv in enumerate(self.convs):
            x = torch.tanh(conv(x))
            if i == upto:
                return x
            x = F.avg_pool2d(x, 2)


def total_variation(x):
    return (x[..., 1:, :] - x[..., :-1, :]).abs().mean() + (x[..., :, 1:] - x[..., :, :-1]).abs().mean()


class Dreamer:
    def __init__(self, net, start, channel=3, octaves=3, scale=1.5, steps=5, lr=0.03, tv=0.2):
        self.net, self.channel, self.tv = net, channel, tv
        self.octaves, self.scale, self.steps, self.lr = octaves, scale, steps, lr
        self.img = start.clone().requires_grad_(True)
        self.optimizer = torch.optim.Adam([self.img], lr=lr)
        self.log = []

    def objective(self):
        act = self.net(self.img)[:, self.channel]
        return -(act ** 2).mean() + self.tv * total_variation(self.img)

    def grow(self):
        """next octave: enlarge what we have so far and go on from there"""
        self.img = F.interpolate(self.img, scale_factor=self.scale, mode='bilinear', align_corners=False)

    def octave(self, k):
        for step in range(self.steps):
            self.optimizer.zero_grad()
            loss = self.objective()
            loss.backward()
            gnorm = self.img.grad.norm().item()
            self.img.grad /= gnorm + 1e-8
            self.optimizer.step()
            self.img.data.clamp_(-1.5, 1.5)
            self.log.append(loss.item())
        print('octave %d  size %d  loss %.6f  |g| %.6f' % (k, self.img.shape[-1], self.log[-1], gnorm))

    def run(self):
        for k in range(self.octaves):
            if k > 0:
                self.grow()
            self.octave(k)
        return self.img.detach()


if __name__ == '__main__':
    torch.manual_seed(11)
    dream = Dreamer(Features(), 0.3 * torch.randn(1, 3, 16, 16))
    out = dream.run()
    print('mean %.6f std %.6f' % (out.mean().item(), out.std().item()))
