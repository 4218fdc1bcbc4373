import torch
import torch.nn.functional as F

from networks import Generator, MultiscaleDiscriminator


def gan_loss(preds, real):
    target = 1.0 if real else 0.0
    return sum(F.mse_loss(p[-1], torch.full_like(p[-1], target)) for p in preds) / len(preds)


class Feature2Face:
    def __init__(self, opt):
        self.opt = opt
        self.netG = Generator(opt.ngf)
        self.netD = MultiscaleDiscriminator(opt.ndf, opt.n_layers_D, opt.num_D)
        self.optimizer_G = torch.optim.Adam(self.netG.parameters(), lr=opt.lr, betas=(0.5, 0.999))
        self.optimizer_D = torch.optim.Adam(self.netD.parameters(), lr=opt.lr, betas=(0.5, 0.999))
        self.losses = {}

    def set_input(self, data):
        self.cond, self.real = data["feature_map"], data["image"]

    def forward(self):
        self.fake = self.netG(self.cond)

    def discriminate(self, image):
        return self.netD(torch.cat([self.cond, image], dim=1))

    def feature_matching(self):
        opt, loss = self.opt, 0.0
        feat_weight = 4.0 / (opt.n_layers_D + 1)
        for fake, real in zip(self.pred_fake, self.pred_real):
            for f, r in zip(fake[:-1], real[:-1]):
                loss = loss + feat_weight / opt.num_D * F.l1_loss(f, r)
        return loss * opt.lambda_feat

    def backward_D(self):
        self.pred_real = self.discriminate(self.real)
        pred_fake = self.discriminate(self.fake.detach())
        loss = 0.5 * (gan_loss(self.pred_real, True) + gan_loss(pred_fake, False))
        loss.backward()
        self.losses["D"] = loss.item()

    def backward_G(self):
        self.pred_fake = self.discriminate(self.fake)
        with torch.no_grad():
            self.pred_real = self.discriminate(self.real)
        terms = {
            "G_GAN": gan_loss(self.pred_fake, True),
            "G_FM": self.feature_matching(),
            "G_L1": self.opt.lambda_L1 * F.l1_loss(self.fake, self.real),
        }
        sum(terms.values()).backward()
        self.losses.update({k: v.item() for k, v in terms.items()})

    def optimize_parameters(self):
        self.forward()
        self.optimizer_D.zero_grad()
        self.backward_D()
        self.optimizer_D.step()
        self.optimizer_G.zero_grad()
        self.backward_G()
        self.optimizer_G.step()
