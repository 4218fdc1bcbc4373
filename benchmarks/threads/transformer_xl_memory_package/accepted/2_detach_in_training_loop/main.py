"""python main.py trains a small Transformer-XL on a toy corpus."""
import json
import math
from pathlib import Path

import torch

from data_utils import LMOrderedIterator, toy_corpus
from mem_transformer import MemTransformerLM


def evaluate(model, iterator):
    model.eval()
    total, n, mems = 0.0, 0, tuple()
    with torch.no_grad():
        for data, target in iterator:
            ret = model(data, target, *mems)
            loss, mems = ret[0], ret[1:]
            total += loss.item()
            n += 1
    return total / n


def train(cfg):
    torch.manual_seed(cfg["seed"])
    corpus = toy_corpus()
    train_iter = LMOrderedIterator(corpus[:180], cfg["batch_size"], cfg["tgt_len"])
    valid_iter = LMOrderedIterator(corpus[180:], cfg["batch_size"], cfg["tgt_len"])
    model = MemTransformerLM(11, cfg["n_layer"], cfg["d_model"], cfg["n_head"], cfg["mem_len"])
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
    for epoch in range(cfg["epochs"]):
        mems = tuple()
        for data, target in train_iter:
            model.train()
            model.zero_grad()
            ret = model(data, target, *mems)
            loss, mems = ret[0], [m.detach() for m in ret[1:]]
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), cfg["clip"])
            optimizer.step()
            scheduler.step()
        print(f"| epoch {epoch} | loss {loss.item():.5f} | valid {evaluate(model, valid_iter):.5f}")


if __name__ == "__main__":
    train(json.loads((Path(__file__).parent / "config.json").read_text()))
