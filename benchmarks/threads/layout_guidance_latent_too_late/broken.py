"""Layout guidance: latents are moved until the attention of a word lies in its box; an adapter is tuned on the result."""
import math
import torch
import torch.nn as nn
import torch.nn.functional as F
from typing import List, Tuple

SIZE = 8


class AttentionStore:
    def __init__(self):
        self.maps: List[torch.Tensor] = []

    def __call__(self, attn):
        self.maps.append(attn)

    def aggregate(self):
        out = torch.stack(self.maps).mean(0)
        self.maps = []
        return out.view(out.shape[0], SIZE, SIZE, -1)


class CrossAttention(nn.Module):
    def __init__(self, dim, ctx, store):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(dim, dim), nn.Linear(ctx, dim), nn.Linear(ctx, dim)
        self.store = [store]

    def forward(self, x, context):
        attn = (self.q(x) @ self.k(context).transpose(1, 2) / math.sqrt(x.shape[-1])).softmax(-1)
        self.store[0](attn)
        return x + attn @ self.v(context)


class UNet(nn.Module):
    def __init__(self, store, dim=12, ctx=6):
        super().__init__()
        self.inp, self.out = nn.Conv2d(2, dim, 3, padding=1), nn.Conv2d(dim, 2, 3, padding=1)
        self.time = nn.Linear(2, dim)
        self.attn = nn.ModuleList(CrossAttention(dim, ctx, store) for _ in range(2))
        self.adapter = nn.Conv2d(dim, dim, 1)
        nn.init.zeros_(self.adapter.weight)

    def forward(self, latents, t, context):
        e = self.time(torch.tensor([[math.sin(t), math.cos(t)]]))
        x = F.silu(self.inp(latents) + e[..., None, None])
        b, c, h, w = x.shape
        y = x.flatten(2).transpose(1, 2)
        for a in self.attn:
            y = a(y, context)
        x = y.transpose(1, 2).view(b, c, h, w)
        return self.out(x + self.adapter(x))


class GuidancePipeline:
    def __init__(self, unet, store, boxes, scale_factor=20., max_iter=2):
        self.unet, self.store, self.boxes = unet, store, boxes
        self.scale_factor, self.max_iter = scale_factor, max_iter

    def _compute_loss(self, attention):
        loss = 0.
        for token, (x0, y0, x1, y1) in self.boxes:
            m = attention[..., token]
            mask = torch.zeros(SIZE, SIZE)
            mask[y0:y1, x0:x1] = 1
            inner = (m * mask).flatten(1).topk(8, 1)[0].mean(1)
            outer = (m * (1 - mask)).flatten(1).topk(8, 1)[0].mean(1)
            loss = loss + (F.relu(1 - inner) + outer).mean()
        return loss

    @staticmethod
    def _update_latent(latents, loss, step_size):
        """ Update the latent according to the computed loss. """
        grad_cond = torch.autograd.grad(loss, [latents])[0]
        return latents - step_size * grad_cond

    def refine(self, latents, t, context):
        with torch.enable_grad():
            for it in range(self.max_iter):
                self.unet(latents, t, context)
                latents = latents.clone().detach().requires_grad_(True)
                loss = self._compute_loss(self.store.aggregate())
                latents = self._update_latent(latents, loss, self.scale_factor)
        return latents.detach(), loss.item()


def main(steps=6):
    torch.manual_seed(20)
    store = AttentionStore()
    unet = UNet(store)
    for n, p in unet.named_parameters():
        p.requires_grad_('adapter' in n or 'attn' in n)
    optimizer = torch.optim.AdamW([p for p in unet.parameters() if p.requires_grad], lr=5e-3)
    boxes: List[Tuple[int, Tuple[int, int, int, int]]] = [(1, (0, 0, 4, 4)), (3, (4, 2, 8, 7))]
    pipe = GuidancePipeline(unet, store, boxes)
    clean = torch.randn(3, 2, SIZE, SIZE)
    context = torch.randn(3, 5, 6)
    for i in range(steps):
        t = 1 - i / steps
        noise = torch.randn_like(clean)
        noisy = math.cos(t) * clean + math.sin(t) * noise
        guided, layout = pipe.refine(noisy, t, context)
        target = (guided - math.cos(t) * clean) / max(math.sin(t), 0.1)
        loss = F.mse_loss(unet(guided, t, context), target)
        store.aggregate()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print('t %.3f layout %.6f loss %.6f moved %.6f' % (t, layout, loss.item(), (guided - noisy).norm().item()))


if __name__ == '__main__':
    main()
