# Skip-GANomaly on toy spectrograms of a pump: reconstruct normal sound, score what the discriminator's features say.
import torch
from torch import nn, optim

OPT = dict(isize=16, nz=4, ndf=12, batch=8, niter=3, lr=2e-3, w_adv=1.0, w_con=20.0, w_lat=1.0, seed=11)


class NetG(nn.Module):
    def __init__(self, opt):
        super().__init__()
        self.down = nn.Linear(opt["isize"], opt["ndf"])
        self.mid = nn.Linear(opt["ndf"], opt["nz"])
        self.up = nn.Linear(opt["nz"], opt["ndf"])
        self.out = nn.Linear(2 * opt["ndf"], opt["isize"])

    def forward(self, x):
        d = torch.relu(self.down(x))
        u = torch.relu(self.up(torch.relu(self.mid(d))))
        return torch.tanh(self.out(torch.cat([u, d], 1)))


class NetD(nn.Module):
    def __init__(self, opt):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(opt["isize"], opt["ndf"]), nn.LeakyReLU(0.2),
                                      nn.Linear(opt["ndf"], opt["ndf"]), nn.LeakyReLU(0.2))
        self.classifier = nn.Linear(opt["ndf"], 1)

    def forward(self, x):
        feat = self.features(x)
        return torch.sigmoid(self.classifier(feat)).view(-1), feat


class Skipganomaly:
    def __init__(self, opt):
        self.opt = opt
        self.netg, self.netd = NetG(opt), NetD(opt)
        self.real_label = torch.ones(opt["batch"])
        self.fake_label = torch.zeros(opt["batch"])
        self.l_adv, self.l_con, self.l_lat = nn.BCELoss(), nn.L1Loss(), nn.MSELoss()
        self.optimizer_d = optim.Adam(self.netd.parameters(), lr=opt["lr"], betas=(0.5, 0.999))
        self.optimizer_g = optim.Adam(self.netg.parameters(), lr=opt["lr"], betas=(0.5, 0.999))

    def forward(self):
        self.fake = self.netg(self.input)
        self.pred_real, self.feat_real = self.netd(self.input)
        self.pred_fake, self.feat_fake = self.netd(self.fake)

    def backward_g(self):
        self.err_g_adv = self.opt["w_adv"] * self.l_adv(self.pred_fake, self.real_label)
        self.err_g_con = self.opt["w_con"] * self.l_con(self.fake, self.input)
        self.err_g_lat = self.opt["w_lat"] * self.l_lat(self.feat_fake, self.feat_real)
        self.err_g = self.err_g_adv + self.err_g_con + self.err_g_lat
        self.err_g.backward(retain_graph=True)

    def backward_d(self):
        # fake: the generator is not to learn from this
        pred_fake, feat_fake = self.netd(self.fake.detach())
        self.err_d_fake = self.l_adv(pred_fake, self.fake_label)
        self.err_d_real = self.l_adv(self.pred_real, self.real_label)
        self.err_d_lat = self.opt["w_lat"] * self.l_lat(self.feat_fake, self.feat_real)
        self.err_d = self.err_d_fake + self.err_d_real + self.err_d_lat
        self.err_d.backward()

    def optimize_params(self):
        self.forward()
        # netg
        self.optimizer_g.zero_grad()
        self.backward_g()
        self.optimizer_g.step()
        # netd
        self.optimizer_d.zero_grad()
        self.backward_d()
        self.optimizer_d.step()

    def train(self, data):
        for epoch in range(self.opt["niter"]):
            for i in range(0, len(data), self.opt["batch"]):
                self.input = data[i:i + self.opt["batch"]]
                self.optimize_params()
            print("epoch %d  err_g %.6f  err_d %.6f" % (epoch, self.err_g.item(), self.err_d.item()))


def pump_sounds(n, size):
    t = torch.linspace(0, 6.28, size)
    return torch.tanh(torch.sin(t[None] * torch.randint(1, 4, (n, 1))) + 0.1 * torch.randn(n, size))


if __name__ == "__main__":
    torch.manual_seed(OPT["seed"])
    Skipganomaly(OPT).train(pump_sounds(24, OPT["isize"]))
