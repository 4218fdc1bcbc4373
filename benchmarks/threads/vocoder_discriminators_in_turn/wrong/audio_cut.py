import torch
import torch.nn as nn
import torch.nn.functional as F


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.pre = nn.Conv1d(4, 8, 3, padding=1)
        self.up = nn.ConvTranspose1d(8, 1, 4, 2, 1)

    def forward(self, mel):
        return torch.tanh(self.up(F.leaky_relu(self.pre(mel), 0.1)))


class DiscriminatorP(nn.Module):
    def __init__(self, period):
        super().__init__()
        self.period = period
        self.convs = nn.ModuleList([nn.Conv2d(1, 4, (3, 1), padding=(1, 0)), nn.Conv2d(4, 1, (3, 1), padding=(1, 0))])

    def forward(self, x):
        b, c, t = x.shape
        x = F.pad(x, (0, -t % self.period), "reflect").view(b, c, -1, self.period)
        fmap = []
        for conv in self.convs:
            x = F.leaky_relu(conv(x), 0.1)
            fmap.append(x)
        return x.flatten(1), fmap


class Trainer:
    def __init__(self, periods=(2, 3, 5), lambda_fm=2.0, lambda_mel=4.5):
        self.g = Generator()
        self.mpd = nn.ModuleList(DiscriminatorP(p) for p in periods)
        self.lambda_fm, self.lambda_mel = lambda_fm, lambda_mel
        self.optim_g = torch.optim.AdamW(self.g.parameters(), 2e-3, betas=(0.8, 0.99))
        self.optim_d = torch.optim.AdamW(self.mpd.parameters(), 2e-3, betas=(0.8, 0.99))

    def discriminator_step(self, y, y_g_hat):
        self.optim_d.zero_grad()
        loss = 0
        for d in self.mpd:
            real, _ = d(y)
            fake, _ = d(y_g_hat.detach())
            loss = loss + torch.mean((1 - real) ** 2) + torch.mean(fake ** 2)
        loss.backward()
        self.optim_d.step()
        return loss.item()

    def generator_step(self, y, y_g_hat):
        """Discriminator after discriminator, to keep only one of them in memory."""
        self.optim_g.zero_grad()
        total = 0.0
        for d in self.mpd:
            with torch.no_grad():
                _, fmap_r = d(y)
            fake, fmap_g = d(y_g_hat.detach())
            loss = torch.mean((1 - fake) ** 2)
            loss = loss + self.lambda_fm * sum(F.l1_loss(g, r) for g, r in zip(fmap_g, fmap_r))
            loss.backward()
            total += loss.item()
        loss_mel = self.lambda_mel * F.l1_loss(y_g_hat.unfold(2, 4, 4).mean(-1), y.unfold(2, 4, 4).mean(-1))
        loss_mel.backward()
        self.optim_g.step()
        return total + loss_mel.item()

    def step(self, mel, y):
        y_g_hat = self.g(mel)
        return self.discriminator_step(y, y_g_hat), self.generator_step(y, y_g_hat)


if __name__ == "__main__":
    torch.manual_seed(1234)
    trainer = Trainer()
    for steps in range(5):
        y = torch.sin(torch.linspace(0, 12, 24) * (1 + torch.rand(6, 1, 1)))
        mel = y.unfold(2, 2, 2).mean(-1).repeat(1, 4, 1) * torch.tensor([1., .5, -1., .2])[None, :, None]
        d, g = trainer.step(mel, y)
        print("Steps : {:d}, D : {:.5f}, G : {:.5f}".format(steps, d, g))
