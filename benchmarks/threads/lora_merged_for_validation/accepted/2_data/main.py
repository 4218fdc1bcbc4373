import argparse

import torch
import torch.nn.functional as F

from lora.layers import mark_only_lora_as_trainable, merge_all, unmerge_all
from lora.model import TinyLM
from lora.text import batches

if __name__ == '__main__':
    ap = argparse.ArgumentParser()
    ap.add_argument('--rank', type=int, default=2)
    ap.add_argument('--alpha', type=float, default=8.)
    ap.add_argument('--lr', type=float, default=1e-2)
    ap.add_argument('--eval-every', type=int, default=3)
    a = ap.parse_args()
    torch.manual_seed(375)
    model = TinyLM(vocab=11, dim=16, rank=a.rank, alpha=a.alpha)
    mark_only_lora_as_trainable(model)
    opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=a.lr)
    for it, (x, y) in enumerate(batches(12, vocab=11)):
        model.train()
        loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        if (it + 1) % a.eval_every == 0:
            model.eval()
            merge_all(model)
            with torch.no_grad():
                val = F.cross_entropy(model(x.flip(0)).flatten(0, 1), y.flip(0).flatten()).item()
            unmerge_all(model)
            print(f'{it + 1:2d} train {loss.item():.5f} val {val:.5f}')
