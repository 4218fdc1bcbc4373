import argparse
from collections import OrderedDict

import torch
import torch.nn as nn
import torch.nn.functional as F

# Context optimisation (CoOp) + a residual visual adapter. CLIP itself is frozen (here: two small random nets).


class FrozenTextEncoder(nn.Module):
    def __init__(self, tok_dim=16, out=24, length=7):
        super().__init__()
        self.net = nn.Sequential(OrderedDict([("proj", nn.Linear(tok_dim * length, 48)), ("act", nn.Tanh()), ("out", nn.Linear(48, out))]))
        for p in self.parameters():
            p.requires_grad = False

    def forward(self, tokens):
        return self.net(tokens.flatten(1))


class PromptLearner(nn.Module):
    """[V]_1 ... [V]_M [CLASS]"""

    def __init__(self, n_cls, n_ctx=4, tok_dim=16):
        super().__init__()
        self.n_cls = n_cls
        self.ctx = nn.Parameter(torch.empty(n_ctx, tok_dim))
        nn.init.normal_(self.ctx, std=0.02)
        self.register_buffer("name_tokens", torch.randn(n_cls, 3, tok_dim))

    def forward(self):
        ctx = self.ctx.unsqueeze(0).expand(self.n_cls, -1, -1)
        return torch.cat([ctx, self.name_tokens], dim=1)


class Adapter(nn.Module):
    def __init__(self, dim=24, r=6, alpha=0.2):
        super().__init__()
        self.down, self.up, self.alpha = nn.Linear(dim, r), nn.Linear(r, dim), alpha

    def forward(self, f):
        return (1 - self.alpha) * f + self.alpha * self.up(F.relu(self.down(f)))


class CustomCLIP(nn.Module):
    def __init__(self, n_cls):
        super().__init__()
        self.prompt_learner = PromptLearner(n_cls)
        self.text_encoder = FrozenTextEncoder()
        self.adapter = Adapter()
        self.logit_scale = 10.0

    def encode_classes(self):
        return F.normalize(self.text_encoder(self.prompt_learner()), dim=-1)

    def forward(self, image_features, text_features):
        f = F.normalize(self.adapter(image_features), dim=-1)
        return self.logit_scale * f @ text_features.t()


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = CustomCLIP(cfg.classes)
        params = list(self.model.prompt_learner.parameters()) + list(self.model.adapter.parameters())
        self.optim = torch.optim.SGD(params, lr=cfg.lr, momentum=0.9)

    def run_epoch(self, loader):
        # the class names are the same for every batch, no need to encode them again and again
        total = 0.0
        for i, (feats, label) in enumerate(loader):
            if i % self.cfg.accum == 0:
                text_features = self.model.encode_classes()
            logits = self.model(feats, text_features)
            loss = F.cross_entropy(logits, label) / self.cfg.accum
            loss.backward(retain_graph=(i + 1) % self.cfg.accum != 0)
            total += loss.item() * self.cfg.accum
            if (i + 1) % self.cfg.accum == 0:
                self.optim.step()
                self.optim.zero_grad()
        return total / len(loader)

    @torch.no_grad()
    def test(self, loader):
        txt = self.model.encode_classes()
        hit = [(self.model(f, txt).argmax(-1) == y).float().mean() for f, y in loader]
        return torch.stack(hit).mean().item()


def fewshot(cfg):
    """frozen image features, one cluster per class"""
    centers = torch.randn(cfg.classes, 24)
    batches = []
    for _ in range(cfg.batches):
        y = torch.randint(cfg.classes, (cfg.bs,))
        batches.append((centers[y] + 0.6 * torch.randn(cfg.bs, 24), y))
    return batches


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--classes", type=int, default=6)
    ap.add_argument("--bs", type=int, default=8)
    ap.add_argument("--batches", type=int, default=8)
    ap.add_argument("--accum", type=int, default=2, help="micro batches per update")
    ap.add_argument("--lr", type=float, default=0.2)
    ap.add_argument("--epochs", type=int, default=2)
    cfg = ap.parse_args()
    torch.manual_seed(1)
    trainer, loader = Trainer(cfg), None
    loader = fewshot(cfg)
    for e in range(cfg.epochs):
        print("epoch %d loss %.6f" % (e, trainer.run_epoch(loader)))
    print("acc %.4f  |ctx| %.6f" % (trainer.test(loader), trainer.model.prompt_learner.ctx.norm().item()))
