"""LoRA by hand on a pretrained-like encoder with gradient checkpointing (ran out of memory without).
Only parameters that require grad go to the optimizer."""
import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, r: int, alpha: float):
        super().__init__()
        self.base = base
        self.A = nn.Parameter(torch.empty(r, base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))
        self.scaling = alpha / r

    def forward(self, x):
        return self.base(x) + self.scaling * (x @ self.A.t() @ self.B.t())


class Layer(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.q_proj, self.v_proj = nn.Linear(d, d), nn.Linear(d, d)
        self.mlp = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))

    def forward(self, x):
        h = self.norm(x)
        att = (self.q_proj(h) @ h.transpose(1, 2) / h.size(-1) ** 0.5).softmax(-1)
        x = x + att @ self.v_proj(h)
        return x + self.mlp(x)


class Model(nn.Module):
    def __init__(self, vocab=16, d=12, n_layers=3):
        super().__init__()
        self.embed_tokens = nn.Embedding(vocab, d)
        self.layers = nn.ModuleList(Layer(d) for _ in range(n_layers))
        self.lm_head = nn.Linear(d, vocab, bias=False)
        self.gradient_checkpointing = False

    def forward(self, ids):
        x = self.embed_tokens(ids)
        for layer in self.layers:
            if self.gradient_checkpointing and self.training:
                x = checkpoint(layer, x, use_reentrant=True)
            else:
                x = layer(x)
        return self.lm_head(x)


def add_lora(model, r=2, alpha=4.0, targets=("q_proj", "v_proj")):
    for p in model.parameters():
        p.requires_grad = False
    for layer in model.layers:
        for name in targets:
            setattr(layer, name, LoRALinear(getattr(layer, name), r, alpha))
    return model


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=7)
    ap.add_argument("--lr", type=float, default=3e-2)
    ap.add_argument("--no_gc", action="store_true")
    args = ap.parse_args([])
    torch.manual_seed(6)
    model = add_lora(Model())
    model.gradient_checkpointing = not args.no_gc
    model.train()
    params = [p for p in model.parameters() if p.requires_grad]
    print("trainable: %.1f%%" % (100 * sum(p.numel() for p in params) / sum(p.numel() for p in model.parameters())))
    opt = torch.optim.AdamW(params, lr=args.lr)
    for step in range(args.steps):
        ids = (torch.randint(0, 16, (6, 1)) + 3 * torch.arange(8)) % 16
        loss = F.cross_entropy(model(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
        loss.backward()
        opt.step()
        opt.zero_grad()
        print("step %d loss %.6f" % (step, loss.item()))


if __name__ == "__main__":
    main()
