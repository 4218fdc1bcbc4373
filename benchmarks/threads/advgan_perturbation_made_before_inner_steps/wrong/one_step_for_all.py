import argparse
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

# AdvGAN-style attack on a small frozen classifier (2 generator updates per discriminator update)


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument('--epochs', type=int, default=2)
    p.add_argument('--batch', type=int, default=16)
    p.add_argument('--n_steps_D', type=int, default=1)
    p.add_argument('--n_steps_G', type=int, default=2)
    p.add_argument('--l_inf_bound', type=float, default=0.3)
    p.add_argument('--kappa', type=float, default=0.0)
    p.add_argument('--alpha', type=float, default=1.0)
    p.add_argument('--beta', type=float, default=0.5)
    return p.parse_args([])


class Target(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.fc = nn.Linear(4 * 16, 3)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv(x)), 2)
        return self.fc(x.flatten(1))


class Generator(nn.Module):
    def __init__(self, ch=6):
        super().__init__()
        self.enc = nn.Sequential(nn.Conv2d(1, ch, 3, padding=1), nn.InstanceNorm2d(ch), nn.LeakyReLU(0.2))
        self.dec = nn.Sequential(nn.Conv2d(ch, ch, 3, padding=1), nn.LeakyReLU(0.2), nn.Conv2d(ch, 1, 3, padding=1), nn.Tanh())

    def forward(self, x):
        return self.dec(self.enc(x))


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 6, 3, stride=2, padding=1), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(6 * 16, 1))

    def forward(self, x):
        return torch.sigmoid(self.body(x)).squeeze(1)


class AdvGAN_Attack:
    def __init__(self, target, args):
        self.target, self.args = target, args
        self.G, self.D = Generator(), Discriminator()
        self.optimizer_G = torch.optim.Adam(self.G.parameters(), lr=2e-3)
        self.optimizer_D = torch.optim.Adam(self.D.parameters(), lr=1e-3)
        self.log = {'D': [], 'adv': [], 'hinge': []}

    def adversarial_loss(self, logits, labels):
        # Carlini-Wagner, untargeted
        onehot = F.one_hot(labels, logits.size(1)).float()
        real = (onehot * logits).sum(1)
        other = ((1 - onehot) * logits - onehot * 1e4).max(1)[0]
        return torch.clamp(real - other, min=-self.args.kappa).sum()

    def perturb(self, x):
        perturbation = self.G(x)
        adv_images = torch.clamp(perturbation, -self.args.l_inf_bound, self.args.l_inf_bound) + x
        return perturbation, torch.clamp(adv_images, 0, 1)

    def train_batch(self, x, labels):
        perturbation, adv_images = self.perturb(x)

        # ---- D
        for _ in range(self.args.n_steps_D):
            self.optimizer_D.zero_grad()
            pred_real, pred_fake = self.D(x), self.D(adv_images.detach())
            loss_D = F.mse_loss(pred_real, torch.ones_like(pred_real)) + F.mse_loss(pred_fake, torch.zeros_like(pred_fake))
            loss_D.backward()
            self.optimizer_D.step()

        # ---- G
        for _ in range(self.args.n_steps_G):
            self.optimizer_G.zero_grad()
            loss_hinge = torch.mean(torch.norm(perturbation.reshape(perturbation.size(0), -1), 2, dim=1))
            loss_adv = self.adversarial_loss(self.target(adv_images), labels)
            pred = self.D(adv_images)
            loss_G_gan = F.mse_loss(pred, torch.ones_like(pred))
            loss_G = loss_G_gan + self.args.alpha * loss_adv + self.args.beta * loss_hinge
            loss_G.backward(retain_graph=True)
        self.optimizer_G.step()

        self.log['D'].append(loss_D.item())
        self.log['adv'].append(loss_adv.item())
        self.log['hinge'].append(loss_hinge.item())

    def train(self, X, Y):
        for epoch in range(self.args.epochs):
            for i in range(0, len(X), self.args.batch):
                self.train_batch(X[i:i + self.args.batch], Y[i:i + self.args.batch])
            print('epoch %d: D %.6f adv %.6f pert %.6f' % (epoch, *[np.mean(v[-3:]) for v in self.log.values()]))


if __name__ == '__main__':
    torch.manual_seed(31)
    args = get_args()
    X = torch.rand(48, 1, 8, 8)
    Y = (X.mean((1, 2, 3)) * 60).long() % 3
    target = Target()
    pre = torch.optim.SGD(target.parameters(), lr=0.05)
    for _ in range(5):
        pre.zero_grad()
        F.cross_entropy(target(X), Y).backward()
        pre.step()
    for p in target.parameters():
        p.requires_grad_(False)
    AdvGAN_Attack(target, args).train(X, Y)
