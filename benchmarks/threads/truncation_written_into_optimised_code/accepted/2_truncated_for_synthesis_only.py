"""GAN inversion: optimise a W+ code of a (frozen) generator so that it draws the target.
The fine layers are always fed with the truncated code, as at synthesis."""
import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F


class Mapping(nn.Module):
    def __init__(self, dz=8, dw=8):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dz, 16), nn.LeakyReLU(0.2), nn.Linear(16, dw))

    def forward(self, z):
        return self.net(F.normalize(z, dim=1))


class Layer(nn.Module):
    def __init__(self, cin, cout, dw, up):
        super().__init__()
        self.conv = nn.Conv2d(cin, cout, 3, padding=1)
        self.style = nn.Linear(dw, cin)
        self.up = up

    def forward(self, x, w):
        if self.up:
            x = F.interpolate(x, scale_factor=2, mode='nearest')
        s = 1 + self.style(w)[:, :, None, None]
        return F.leaky_relu(self.conv(x * s), 0.2)


class Generator(nn.Module):
    def __init__(self, dw=8, ch=8):
        super().__init__()
        self.mapping = Mapping(dw=dw)
        self.const = nn.Parameter(torch.randn(1, ch, 4, 4))
        self.layers = nn.ModuleList([Layer(ch, ch, dw, False), Layer(ch, ch, dw, True), Layer(ch, ch, dw, False), Layer(ch, ch, dw, True)])
        self.rgb = nn.Conv2d(ch, 3, 1)

    @property
    def num_ws(self):
        return len(self.layers)

    def synthesis(self, ws):
        x = self.const.expand(ws.size(0), -1, -1, -1)
        for i, l in enumerate(self.layers):
            x = l(x, ws[:, i])
        return torch.tanh(self.rgb(x))


class Inverter:
    def __init__(self, G, psi=0.7, coarse=2, lr=0.05):
        self.G, self.psi, self.coarse = G.eval().requires_grad_(False), psi, coarse
        with torch.no_grad():
            w = G.mapping(torch.randn(200, 8))
        self.w_avg, self.w_std = w.mean(0), w.std()
        self.lr = lr

    def loss(self, img, target, ws):
        pix = F.mse_loss(img, target)
        pool = F.mse_loss(F.avg_pool2d(img, 4), F.avg_pool2d(target, 4))
        reg = ((ws - self.w_avg) ** 2).mean() / self.w_std ** 2
        return pix + pool + 1e-3 * reg

    def run(self, target, steps):
        ws = self.w_avg.repeat(1, self.G.num_ws, 1) + 0.3 * torch.randn(1, self.G.num_ws, 8) * self.w_std
        ws.requires_grad_(True)
        opt = torch.optim.Adam([ws], lr=self.lr, betas=(0.9, 0.999))
        for it in range(steps):
            # truncation trick on the fine layers only
            w_in = torch.cat([ws[:, :self.coarse], self.w_avg + self.psi * (ws[:, self.coarse:] - self.w_avg)], dim=1)
            img = self.G.synthesis(w_in)
            loss = self.loss(img, target, ws)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            print(f'{it:02d} loss {loss.item():.6f}')
        return ws.detach()


if __name__ == '__main__':
    ap = argparse.ArgumentParser()
    ap.add_argument('--steps', type=int, default=8)
    ap.add_argument('--psi', type=float, default=0.7)
    ap.add_argument('--seed', type=int, default=4)
    a = ap.parse_args()
    torch.manual_seed(a.seed)
    G = Generator()
    with torch.no_grad():
        target = G.synthesis(G.mapping(torch.randn(1, 8) * 1.5).unsqueeze(1).repeat(1, G.num_ws, 1))
    code = Inverter(G, a.psi).run(target, a.steps)
    print('norm of the code %.6f' % code.norm().item())
