import torch
import torch.nn as nn
import torch.nn.functional as F


class Guidance(nn.Module):
    """A frozen noise predictor in the place of a diffusion model."""

    def __init__(self, dim=12):
        super().__init__()
        self.encode = nn.Linear(dim, 6)
        self.unet = nn.Sequential(nn.Linear(7, 16), nn.SiLU(), nn.Linear(16, 6))
        self.alphas = torch.linspace(0.98, 0.2, 20)
        for p in self.parameters():
            p.requires_grad_(False)

    def train_step(self, pred_rgb):
        latents = self.encode(pred_rgb)
        t = torch.randint(2, 18, (1,))
        with torch.no_grad():
            noise = torch.randn_like(latents)
            a = self.alphas[t]
            noisy = a.sqrt() * latents + (1 - a).sqrt() * noise
            noise_pred = self.unet(torch.cat([noisy, (t / 20.).expand(len(noisy), 1)], 1))
        w = 1 - self.alphas[t]
        grad = w * (noise_pred - noise)

        # manually backward, since we omitted an item in grad and cannot simply autodiff.
        latents.backward(gradient=grad, retain_graph=True)
        return 0


class Renderer(nn.Module):
    def __init__(self):
        super().__init__()
        self.field = nn.Sequential(nn.Linear(3, 16), nn.Softplus(), nn.Linear(16, 13))

    def render(self, rays):
        out = self.field(rays)
        alpha = torch.sigmoid(out[..., :1])
        return {"image": torch.sigmoid(out[..., 1:]) * alpha, "weights_sum": alpha}


def train_step(renderer, guidance, rays, lambda_opacity=0.1, lambda_entropy=0.05):
    outputs = renderer.render(rays)
    loss = guidance.train_step(outputs["image"])
    alphas = outputs["weights_sum"].clamp(1e-5, 1 - 1e-5)
    loss = loss + lambda_opacity * (alphas ** 2).mean()
    loss_entropy = (-alphas * torch.log2(alphas) - (1 - alphas) * torch.log2(1 - alphas)).mean()
    return loss + lambda_entropy * loss_entropy


torch.manual_seed(113)
guidance, renderer = Guidance(), Renderer()
optimizer = torch.optim.AdamW(renderer.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda it: 0.1 ** (it / 10))
for step in range(6):
    optimizer.zero_grad()
    loss = train_step(renderer, guidance, torch.randn(8, 3))
    loss.backward()
    optimizer.step()
    scheduler.step()
    print("step", step, "loss %.6f" % loss.item())
