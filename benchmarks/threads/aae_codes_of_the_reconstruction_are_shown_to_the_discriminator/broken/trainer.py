import torch
import torch.nn.functional as F
from models import Q_net, P_net, D_net_gauss

TINY = 1e-8


class AAETrainer:
    """Adversarial autoencoder: reconstruction phase, then the regularisation phase (D, then G)."""

    def __init__(self, args, x_dim, N=32):
        self.z_dim = args.z_dim
        self.Q = Q_net(x_dim, N, args.z_dim)
        self.P = P_net(x_dim, N, args.z_dim)
        self.D = D_net_gauss(N, args.z_dim)
        # encoder/decoder
        self.opt_rec = torch.optim.Adam(list(self.Q.parameters()) + list(self.P.parameters()), lr=args.lr_rec)
        # regularising optimizers
        self.opt_D = torch.optim.Adam(self.D.parameters(), lr=args.lr_reg)
        self.opt_G = torch.optim.Adam(self.Q.parameters(), lr=args.lr_reg)

    def reconstruct(self, x):
        self.opt_rec.zero_grad()
        z = self.Q(x)
        loss = F.binary_cross_entropy(self.P(z) + TINY, x.clamp(0, 1))
        loss.backward()
        self.opt_rec.step()
        return loss, z

    def discriminate(self, z_fake):
        self.opt_D.zero_grad()
        z_real = torch.randn(z_fake.size(0), self.z_dim) * 2.
        D_real = self.D(z_real)
        D_fake = self.D(z_fake)
        loss = -torch.mean(torch.log(D_real + TINY) + torch.log(1 - D_fake + TINY))
        loss.backward()
        self.opt_D.step()
        return loss

    def fool(self, x):
        self.opt_G.zero_grad()
        loss = -torch.mean(torch.log(self.D(self.Q(x)) + TINY))
        loss.backward()
        self.opt_G.step()
        return loss

    def train_epoch(self, loader):
        totals = torch.zeros(3)
        for x, _ in loader:
            recon_loss, z = self.reconstruct(x)
            D_loss = self.discriminate(z)
            G_loss = self.fool(x)
            totals += torch.stack([recon_loss, D_loss, G_loss]).detach()
        return (totals / len(loader)).tolist()
