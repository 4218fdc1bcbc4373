import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

from .networks import Discriminator, InpaintGenerator


class InpaintingModel(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config, self.iteration = config, 0
        self.generator, self.discriminator = InpaintGenerator(), Discriminator()
        self.l1_loss = nn.L1Loss()
        self.gen_optimizer = optim.Adam(self.generator.parameters(), lr=config.LR, betas=(0.0, 0.9))
        self.dis_optimizer = optim.Adam(self.discriminator.parameters(), lr=config.LR * config.D2G_LR, betas=(0.0, 0.9))

    def adversarial_loss(self, p, real):
        return F.binary_cross_entropy(p, torch.full_like(p, float(real)))

    def process(self, images, masks):
        self.iteration += 1

        # zero optimizers
        self.gen_optimizer.zero_grad()
        self.dis_optimizer.zero_grad()

        # process outputs
        outputs = self(images, masks)

        # discriminator loss
        dis_real, dis_real_feat = self.discriminator(images)
        dis_fake, _ = self.discriminator(outputs.detach())
        dis_loss = (self.adversarial_loss(dis_real, True) + self.adversarial_loss(dis_fake, False)) / 2

        # generator adversarial loss
        gen_fake, gen_fake_feat = self.discriminator(outputs)
        gen_gan_loss = self.adversarial_loss(gen_fake, True) * self.config.INPAINT_ADV_LOSS_WEIGHT

        # generator feature matching loss
        gen_fm_loss = 0
        for fake, real in zip(gen_fake_feat, dis_real_feat):
            gen_fm_loss += self.l1_loss(fake, real.detach())
        gen_fm_loss = gen_fm_loss * self.config.FM_LOSS_WEIGHT

        gen_l1_loss = self.l1_loss(outputs, images) * self.config.L1_LOSS_WEIGHT / torch.mean(masks)
        gen_loss = gen_gan_loss + gen_fm_loss + gen_l1_loss

        logs = [('l_d', dis_loss.item()), ('l_g', gen_gan_loss.item()), ('l_fm', gen_fm_loss.item()), ('l_l1', gen_l1_loss.item())]
        return outputs, gen_loss, dis_loss, logs

    def forward(self, images, masks):
        return self.generator(torch.cat((images * (1 - masks) + masks, masks), dim=1))

    def backward(self, gen_loss=None, dis_loss=None):
        dis_loss.backward()
        self.dis_optimizer.step()

        gen_loss.backward()
        self.gen_optimizer.step()
