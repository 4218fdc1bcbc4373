import itertools
import torch
import torch.nn as nn
import torch.nn.functional as F

n_z, n_cat, n_x = 4, 3, 6


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_z + n_cat, 24), nn.LeakyReLU(0.2), nn.Linear(24, n_x))

    def forward(self, z, c):
        return self.net(torch.cat((z, c), -1))


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_x, 24), nn.LeakyReLU(0.2))
        self.adv_layer = nn.Linear(24, 1)
        self.aux_layer = nn.Linear(24, n_cat)

    def forward(self, x):
        h = self.body(x)
        return self.adv_layer(h), self.aux_layer(h)


torch.manual_seed(61)
generator, discriminator = Generator(), Discriminator()
optimizer_G = torch.optim.Adam(generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
optimizer_D = torch.optim.Adam(discriminator.parameters(), lr=2e-3, betas=(0.5, 0.999))
optimizer_info = torch.optim.Adam(itertools.chain(generator.parameters(), discriminator.parameters()), lr=2e-3, betas=(0.5, 0.999))
adversarial_loss, categorical_loss = nn.MSELoss(), nn.CrossEntropyLoss()
modes = torch.randn(n_cat, n_x)

for i in range(6):
    real = modes[torch.randint(n_cat, (10,))] + 0.1 * torch.randn(10, n_x)
    valid, fake = torch.ones(10, 1), torch.zeros(10, 1)

    # -----------------  Train Generator
    optimizer_G.zero_grad()
    z = torch.randn(10, n_z)
    label = torch.randint(n_cat, (10,))
    gen = generator(z, F.one_hot(label, n_cat).float())
    validity, pred_label = discriminator(gen)
    g_loss = adversarial_loss(validity, valid)
    g_loss.backward()
    optimizer_G.step()

    # -----------------  Train Discriminator
    optimizer_D.zero_grad()
    real_pred, _ = discriminator(real)
    fake_pred, _ = discriminator(gen.detach())
    d_loss = (adversarial_loss(real_pred, valid) + adversarial_loss(fake_pred, fake)) / 2
    d_loss.backward()
    optimizer_D.step()

    # -----------------  Information Loss
    optimizer_info.zero_grad()
    _, pred_label = discriminator(gen.detach())
    info_loss = categorical_loss(pred_label, label)
    info_loss.backward()
    optimizer_info.step()
    print("[Batch %d] [D loss: %.6f] [G loss: %.6f] [info loss: %.6f]" % (i, d_loss.item(), g_loss.item(), info_loss.item()))
