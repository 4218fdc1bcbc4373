"""Open-vocabulary segmentation with a side adapter; the CLIP text encoder is fine-tuned as well (finetune_text=True)."""
import argparse

import torch
import torch.nn.functional as F
from torch import nn

from text_encoder import ClipTextEncoder

CLASSES = ["wall", "floor", "tree", "person", "car"]
CFG = dict(embed_dims=16, cache_feature=True, finetune_text=True, prompt_len=4)


class SideAdapter(nn.Module):
    def __init__(self, dims):
        super().__init__()
        self.stem = nn.Conv2d(3, 12, 3, padding=1)
        self.body = nn.Conv2d(12, 12, 3, padding=1)
        self.proj = nn.Conv2d(12, dims, 1)

    def forward(self, img):
        x = F.relu(self.stem(img))
        x = x + F.relu(self.body(x))
        return self.proj(x)


class Segmentor(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.text_encoder = ClipTextEncoder(CLASSES, cfg["embed_dims"], cfg["prompt_len"], cfg["cache_feature"])
        if not cfg["finetune_text"]:
            for p in self.text_encoder.parameters():
                p.requires_grad_(False)
        self.decode_head = SideAdapter(cfg["embed_dims"])
        self.logit_scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, img):
        classes = self.text_encoder()
        feats = F.normalize(self.decode_head(img), dim=1)
        return self.logit_scale.exp() * torch.einsum("bchw,kc->bkhw", feats, classes)

    def loss(self, img, gt):
        return {"loss_seg": F.cross_entropy(self(img), gt)}


def fake_loader(n, bs):
    for _ in range(n):
        img = torch.randn(bs, 3, 8, 8)
        gt = ((img.sum(1) > 0).long() + 2 * (img[:, 0] > 0.5).long()).clamp(max=4)
        yield img, gt


def train(args):
    torch.manual_seed(args.seed)
    model = Segmentor(CFG)
    optimizer = torch.optim.AdamW([
        {"params": [p for n, p in model.named_parameters() if "text_encoder" not in n], "lr": args.lr},
        {"params": model.text_encoder.parameters(), "lr": args.lr * 0.1},
    ], weight_decay=1e-4)
    model.train()
    for it, (img, gt) in enumerate(fake_loader(args.iters, args.batch_size)):
        losses = model.loss(img, gt)
        total = sum(v for k, v in losses.items() if "loss" in k)
        optimizer.zero_grad()
        total.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        print(f"Iter [{it + 1}/{args.iters}] loss: {total.item():.6f}")
    model.eval()
    with torch.no_grad():
        img, gt = next(fake_loader(1, 4))
        print("val loss", model.loss(img, gt)["loss_seg"].item())


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--iters", type=int, default=6)
    parser.add_argument("--batch-size", type=int, default=2)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=3)
    train(parser.parse_args())
