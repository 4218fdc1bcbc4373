import torch
import torch.nn.functional as F


def init_scene(n=12):
    raw = {
        "means": torch.rand(n, 2),
        "scales": torch.full((n, 2), -1.5),
        "opacities": torch.logit(torch.full((n,), 0.6)),
        "colors": torch.rand(n),
    }
    return {k: v.requires_grad_(True) for k, v in raw.items()}


def render(g, size=8):
    ys, xs = torch.meshgrid(torch.linspace(0, 1, size), torch.linspace(0, 1, size), indexing="ij")
    pix = torch.stack([xs, ys], -1).view(-1, 1, 2)
    d = ((pix - g["means"]) / g["scales"].exp()).pow(2).sum(-1)
    w = torch.sigmoid(g["opacities"]) * torch.exp(-0.5 * d)
    return (w * g["colors"]).sum(1) / (w.sum(1) + 0.1)


class Strategy:
    def __init__(self, reset_every=2, cap=0.4):
        self.reset_every, self.cap = reset_every, cap

    @torch.no_grad()
    def post_step(self, g, it):
        g["means"].clamp_(0, 1)
        if it % self.reset_every == 0:
            g["opacities"].clamp_(max=torch.logit(torch.tensor(self.cap)).item())


torch.manual_seed(710)
target = torch.rand(64)
gaussians = init_scene()
optimizers = {k: torch.optim.Adam([p], lr=0.05) for k, p in gaussians.items()}
strategy = Strategy()
for it in range(1, 7):
    loss = F.l1_loss(render(gaussians), target) + 0.01 * torch.sigmoid(gaussians["opacities"]).mean()
    for o in optimizers.values(): o.zero_grad(set_to_none=True)
    loss.backward()
    for o in optimizers.values(): o.step()
    strategy.post_step(gaussians, it)
print("%.6f %.6f" % (loss.item(), torch.sigmoid(gaussians["opacities"]).mean().item()))
