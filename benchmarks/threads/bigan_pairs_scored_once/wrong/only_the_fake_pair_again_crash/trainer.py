import itertools

import torch
import torch.nn as nn
import torch.optim as optim

from models import Discriminator, Encoder, Generator


class TrainerBiGAN:
    def __init__(self, args, data):
        self.args = args
        self.data = data
        self.G = Generator(args.latent_dim, args.x_dim, args.hidden)
        self.E = Encoder(args.latent_dim, args.x_dim, args.hidden)
        self.D = Discriminator(args.latent_dim, args.x_dim, args.hidden, args.wasserstein)
        self.optimizer_ge = optim.Adam(itertools.chain(self.G.parameters(), self.E.parameters()), lr=args.lr_adam)
        self.optimizer_d = optim.Adam(self.D.parameters(), lr=args.lr_adam)
        self.criterion = nn.BCELoss()

    def losses(self, out_true, out_fake):
        y_true, y_fake = torch.ones_like(out_true), torch.zeros_like(out_fake)
        if self.args.wasserstein:
            loss_d = -out_true.mean() + out_fake.mean()
            loss_ge = -out_fake.mean() + out_true.mean()
        else:
            loss_d = self.criterion(out_true, y_true) + self.criterion(out_fake, y_fake)
            loss_ge = self.criterion(out_fake, y_true) + self.criterion(out_true, y_fake)
        return loss_d, loss_ge

    def train_batch(self, x_true):
        #Generator:
        z_fake = torch.randn(x_true.size(0), self.args.latent_dim)
        x_fake = self.G(z_fake)
        #Encoder:
        z_true = self.E(x_true)
        #Discriminator
        out_true = self.D(x_true, z_true)
        out_fake = self.D(x_fake, z_fake)
        loss_d, loss_ge = self.losses(out_true, out_fake)

        #Computing gradients and backpropagate.
        self.optimizer_d.zero_grad()
        loss_d.backward(retain_graph=True)
        self.optimizer_d.step()

        _, loss_ge = self.losses(out_true, self.D(x_fake, z_fake))
        self.optimizer_ge.zero_grad()
        loss_ge.backward()
        self.optimizer_ge.step()
        return loss_d.item(), loss_ge.item()

    def train(self):
        for epoch in range(self.args.num_epochs):
            ge_losses, d_losses = 0.0, 0.0
            for x in self.data.split(self.args.batch_size):
                ld, lg = self.train_batch(x)
                d_losses += ld
                ge_losses += lg
            n = len(self.data) // self.args.batch_size
            print("Training... Epoch: {}, Discrimiantor Loss: {:.5f}, Generator Loss: {:.5f}".format(epoch, d_losses / n, ge_losses / n))

    @torch.no_grad()
    def reconstruction_error(self):
        return (self.G(self.E(self.data)) - self.data).pow(2).mean().item()
