import math
import torch
from openclip.data import PairStream
from openclip.factory import build
from openclip.train import train_one_epoch


def main():
    torch.manual_seed(256)
    model = build(dict(embed_dim=8, vision=dict(width=20, patches=4), text=dict(vocab=24, width=12, ctx=5)))
    decay = [p for p in model.parameters() if p.ndim >= 2]
    no_decay = [p for p in model.parameters() if p.ndim < 2]
    optimizer = torch.optim.AdamW([{'params': no_decay, 'weight_decay': 0.}, {'params': decay, 'weight_decay': 0.1}], lr=1e-2)
    train_one_epoch(model, PairStream(steps=7, batch=10), optimizer, clamp=math.log(100))


main()
