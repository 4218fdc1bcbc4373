import itertools
import random

import torch
import torch.nn as nn


class ImagePool:
    def __init__(self, pool_size):
        self.pool_size, self.images = pool_size, []

    def query(self, images):
        return_images = []
        for image in images:
            image = image.unsqueeze(0)
            if len(self.images) < self.pool_size:
                self.images.append(image.detach())
                return_images.append(image)
            elif random.random() > 0.5:
                k = random.randrange(self.pool_size)
                tmp = self.images[k]
                self.images[k] = image
                return_images.append(tmp)
            else:
                return_images.append(image)
        return torch.cat(return_images, 0)


class CycleGAN:
    def __init__(self, d=4, lambda_cycle=5.0):
        G = lambda: nn.Sequential(nn.Linear(d, 10), nn.ReLU(), nn.Linear(10, d))
        D = lambda: nn.Sequential(nn.Linear(d, 10), nn.LeakyReLU(0.2), nn.Linear(10, 1))
        self.G_A, self.G_B, self.D_A, self.D_B = G(), G(), D(), D()
        self.pool_A, self.pool_B = ImagePool(5), ImagePool(5)
        self.mse, self.l1, self.lam = nn.MSELoss(), nn.L1Loss(), lambda_cycle
        self.opt_G = torch.optim.Adam(itertools.chain(self.G_A.parameters(), self.G_B.parameters()), lr=2e-3)
        self.opt_D = torch.optim.Adam(itertools.chain(self.D_A.parameters(), self.D_B.parameters()), lr=2e-3)

    def adversarial(self, net, x, real):
        out = net(x)
        return self.mse(out, torch.full_like(out, float(real)))

    def optimize(self, real_A, real_B):
        fake_B, fake_A = self.G_A(real_A), self.G_B(real_B)
        cycle = self.l1(self.G_B(fake_B), real_A) + self.l1(self.G_A(fake_A), real_B)
        loss_G = self.adversarial(self.D_A, fake_B, 1) + self.adversarial(self.D_B, fake_A, 1) + self.lam * cycle
        self.opt_G.zero_grad()
        loss_G.backward()
        self.opt_G.step()

        old_B, old_A = self.pool_B.query(fake_B), self.pool_A.query(fake_A)
        loss_D = sum(0.5 * (self.adversarial(net, real, 1) + self.adversarial(net, old, 0))
                     for net, real, old in ((self.D_A, real_B, old_B), (self.D_B, real_A, old_A)))
        self.opt_D.zero_grad()
        loss_D.backward()
        self.opt_D.step()
        return loss_G.item(), loss_D.item()


random.seed(388)
torch.manual_seed(388)
model = CycleGAN()
for _ in range(5):
    a = torch.randn(4, 4)
    out = model.optimize(a, torch.randn(4, 4).flip(1) * 0.5 + 1)
print("G %.6f D %.6f" % out)
