"""TimeGAN, after Yoon, Jarrett, van der Schaar (NeurIPS 2019)."""
import numpy as np
import torch
import torch.nn as nn

from data import batch_generator, random_generator
from modules import Encoder, Recovery, Generator, Discriminator, Supervisor


class TimeGAN:
    def __init__(self, opt, ori_data):
        self.opt = opt
        self.ori_data = ori_data
        self.rng = np.random.default_rng(opt.seed)
        self.nete, self.netr = Encoder(opt), Recovery(opt)
        self.netg, self.nets, self.netd = Generator(opt), Supervisor(opt), Discriminator(opt)

        self.l_mse = nn.MSELoss()
        self.l_bce = nn.BCEWithLogitsLoss()

        self.optimizer_er = torch.optim.Adam(list(self.nete.parameters()) + list(self.netr.parameters()), lr=opt.lr)
        self.optimizer_gs = torch.optim.Adam(list(self.netg.parameters()) + list(self.nets.parameters()), lr=opt.lr)
        self.optimizer_d = torch.optim.Adam(self.netd.parameters(), lr=opt.lr)

    def next_batch(self):
        o = self.opt
        self.X = batch_generator(self.ori_data, o.batch_size, self.rng)
        self.Z = random_generator(o.batch_size, o.seq_len, o.z_dim, self.rng)

    # ------------------------------------------------------------ forward
    def forward_er(self):
        self.H = self.nete(self.X)
        self.X_tilde = self.netr(self.H)

    def forward_s(self):
        self.H_supervise = self.nets(self.H)

    def forward_g(self):
        self.E_hat = self.netg(self.Z)
        self.H_hat = self.nets(self.E_hat)
        self.X_hat = self.netr(self.H_hat)

    # ------------------------------------------------------------ losses
    def loss_g(self):
        y_fake, y_fake_e = self.netd(self.H_hat), self.netd(self.E_hat)
        self.err_g_U = self.l_bce(y_fake, torch.ones_like(y_fake))
        self.err_g_U_e = self.l_bce(y_fake_e, torch.ones_like(y_fake_e))
        self.err_g_V1 = torch.mean(torch.abs(torch.sqrt(self.X_hat.var(0) + 1e-6) - torch.sqrt(self.X.var(0) + 1e-6)))
        self.err_g_V2 = torch.mean(torch.abs(self.X_hat.mean(0) - self.X.mean(0)))
        self.err_s = self.l_mse(self.H[:, 1:, :], self.H_supervise[:, :-1, :])
        return (self.err_g_U + self.opt.w_gamma * self.err_g_U_e
                + self.opt.w_s * torch.sqrt(self.err_s) + self.opt.w_g * (self.err_g_V1 + self.err_g_V2))

    def loss_er(self):
        self.err_er = self.l_mse(self.X_tilde, self.X)
        return 10 * torch.sqrt(self.err_er) + 0.1 * self.err_s

    # ------------------------------------------------------------ the three phases
    def train_one_iter_er(self):
        self.next_batch()
        self.forward_er()
        loss = 10 * torch.sqrt(self.l_mse(self.X_tilde, self.X))
        self.optimizer_er.zero_grad()
        loss.backward()
        self.optimizer_er.step()
        return loss.item()

    def train_one_iter_s(self):
        self.next_batch()
        self.forward_er()
        self.forward_s()
        loss = self.l_mse(self.H[:, 1:, :], self.H_supervise[:, :-1, :])
        self.optimizer_gs.zero_grad()
        loss.backward()
        self.optimizer_gs.step()
        return loss.item()

    def train_one_iter_joint(self):
        self.next_batch()
        self.forward_er()
        self.forward_s()
        self.forward_g()

        # generator and supervisor
        loss_g = self.loss_g()
        # embedder and recovery: reconstruction, and a latent space in which the next step can be told
        loss_er = self.loss_er()
        self.optimizer_gs.zero_grad()
        self.optimizer_er.zero_grad()
        (loss_g + loss_er).backward()
        self.optimizer_gs.step()
        self.optimizer_er.step()
        return loss_g.item(), loss_er.item()

    def train_one_iter_d(self):
        self.next_batch()
        with torch.no_grad():
            self.forward_er()
            self.forward_g()
        y_real, y_fake, y_fake_e = self.netd(self.H), self.netd(self.H_hat), self.netd(self.E_hat)
        loss = (self.l_bce(y_real, torch.ones_like(y_real)) + self.l_bce(y_fake, torch.zeros_like(y_fake))
                + self.opt.w_gamma * self.l_bce(y_fake_e, torch.zeros_like(y_fake_e)))
        if loss.item() > 0.15:
            self.optimizer_d.zero_grad()
            loss.backward()
            self.optimizer_d.step()
        return loss.item()

    def train(self):
        for it in range(self.opt.iteration_pre):
            er = self.train_one_iter_er()
        for it in range(self.opt.iteration_pre):
            s = self.train_one_iter_s()
        print('pretrained: er %.5f  s %.5f' % (er, s))
        for it in range(self.opt.iteration):
            for _ in range(2):
                g, er = self.train_one_iter_joint()
            d = self.train_one_iter_d()
            print('[%d] g %.5f  er %.5f  d %.5f' % (it, g, er, d))

    def generate(self, n):
        with torch.no_grad():
            z = random_generator(n, self.opt.seq_len, self.opt.z_dim, self.rng)
            return self.netr(self.nets(self.netg(z)))
