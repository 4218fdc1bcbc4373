import torch
import torch.nn as nn
import torch.nn.functional as F


class VAEGAN(nn.Module):
    def __init__(self, dim=8, z=3):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(dim, 14), nn.ReLU(), nn.Linear(14, 2 * z))
        self.decoder = nn.Sequential(nn.Linear(z, 14), nn.ReLU(), nn.Linear(14, dim))
        self.discriminator = nn.Sequential(nn.Linear(dim, 14), nn.LeakyReLU(0.2), nn.Linear(14, 1))

    def forward(self, x):
        mu, logvar = self.encoder(x).chunk(2, 1)
        rec = self.decoder(mu + torch.randn_like(mu) * (0.5 * logvar).exp())
        fake = self.decoder(torch.randn_like(mu))
        return rec, mu, logvar, self.discriminator(x), self.discriminator(rec), self.discriminator(fake)


def bce(logits, real):
    return F.binary_cross_entropy_with_logits(logits, torch.full_like(logits, float(real)))


torch.manual_seed(85)
net = VAEGAN()
opts = [torch.optim.RMSprop(m.parameters(), lr=2e-3) for m in (net.encoder, net.decoder, net.discriminator)]
optimizer_encoder, optimizer_decoder, optimizer_discriminator = opts
for i in range(5):
    x = torch.randn(16, 8).cumsum(1) / 3
    rec, mu, logvar, d_x, d_rec, d_fake = net(x)
    mse = F.mse_loss(rec, x)
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
    loss_discriminator = bce(d_x, 1) + bce(d_rec, 0) + bce(d_fake, 0)
    loss_encoder = 0.1 * kl + mse
    loss_decoder = mse.detach() - 0.2 * loss_discriminator

    net.zero_grad()
    # encoder
    loss_encoder.backward(retain_graph=True)
    net.decoder.zero_grad()
    net.discriminator.zero_grad()
    # decoder
    loss_decoder.backward(inputs=list(net.decoder.parameters()), retain_graph=True)
    net.discriminator.zero_grad()
    # discriminator
    loss_discriminator.backward(inputs=list(net.discriminator.parameters()))
    for opt in opts:
        opt.step()
print(f'mse {mse.item():.6f} kl {kl.item():.6f} dis {loss_discriminator.item():.6f}')
