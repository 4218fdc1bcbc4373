import copy

import torch
import torch.nn as nn


class UnrolledTrainer:
    """GAN in which G plays against D as D will be some steps from now."""

    def __init__(self, G, D, dset, config):
        self.G, self.D, self.dset, self.cfg = G, D, dset, config
        self.g_opt = torch.optim.Adam(G.parameters(), lr=config['g_lr'], betas=(0.5, 0.999))
        self.d_opt = torch.optim.Adam(D.parameters(), lr=config['d_lr'], betas=(0.5, 0.999))
        self.criterion = nn.BCEWithLogitsLoss()

    def noise(self):
        return torch.randn(self.cfg['batch_size'], self.cfg['z_dim'])

    def d_loop(self):
        real = self.dset.batch(self.cfg['batch_size'])
        with torch.no_grad():
            fake = self.G(self.noise())
        self.d_opt.zero_grad()
        real_out = self.D(real)
        fake_out = self.D(fake)
        loss = self.criterion(real_out, torch.ones_like(real_out)) \
            + self.criterion(fake_out, torch.zeros_like(fake_out))
        loss.backward()
        self.d_opt.step()
        return loss.item()

    def g_loop(self):
        # look ahead: let D take some steps, G is judged by that D
        if self.cfg['unrolled_steps'] > 0:
            backup = copy.deepcopy(self.D.state_dict())
            for _ in range(self.cfg['unrolled_steps']):
                self.d_loop()

        self.g_opt.zero_grad()
        fake = self.G(self.noise())
        verdict = self.D(fake)
        loss = self.criterion(verdict, torch.ones_like(verdict))

        loss.backward()
        self.g_opt.step()

        if self.cfg['unrolled_steps'] > 0:
            # back to the present
            self.D.load_state_dict(backup)
            del backup

        return loss.item()

    def fit(self):
        for it in range(self.cfg['iterations']):
            for _ in range(self.cfg['d_steps']):
                d_loss = self.d_loop()
            for _ in range(self.cfg['g_steps']):
                g_loss = self.g_loop()
            if (it + 1) % self.cfg['log_every'] == 0:
                print('it %3d  d_loss %.6f  g_loss %.6f' % (it + 1, d_loss, g_loss))
