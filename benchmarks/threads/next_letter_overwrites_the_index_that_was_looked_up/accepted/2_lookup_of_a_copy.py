# -*- coding: utf-8 -*-
# カタカナ -> ローマ字 変換 (GRU + attention, scheduled sampling)
import argparse
import os
import tempfile

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

ROWS = {"カ": "k", "サ": "s", "タ": "t", "ナ": "n", "マ": "m", "ラ": "r"}
VOWELS = "aiueo"
PAD, BOS, EOS = 0, 1, 2
LETTERS = ["<pad>", "<s>", "</s>"] + sorted(set("".join(ROWS.values()) + VOWELS))


def make_pairs(n, rng, longest=5):
    """行番号*5+母音 をカナ一文字とみなす"""
    consonants = list(ROWS.values())
    pairs = []
    for _ in range(n):
        length = rng.randint(2, longest + 1)
        kana = rng.randint(0, len(consonants) * 5, size=length)
        roman = "".join(consonants[k // 5] + VOWELS[k % 5] for k in kana)
        pairs.append((kana + 1, [BOS] + [LETTERS.index(c) for c in roman] + [EOS]))
    return pairs


def collate(pairs):
    src = torch.zeros(len(pairs), max(len(s) for s, _ in pairs), dtype=torch.long)
    trg = torch.zeros(len(pairs), max(len(t) for _, t in pairs), dtype=torch.long)
    for i, (s, t) in enumerate(pairs):
        src[i, :len(s)] = torch.as_tensor(s)
        trg[i, :len(t)] = torch.as_tensor(t)
    return src, trg


class Encoder(nn.Module):
    def __init__(self, n_src, emb, hid):
        super().__init__()
        self.embed = nn.Embedding(n_src, emb, padding_idx=PAD)
        self.gru = nn.GRU(emb, hid // 2, bidirectional=True, batch_first=True)

    def forward(self, src):
        out, h = self.gru(self.embed(src))
        return out, torch.cat([h[0], h[1]], dim=1)


class Decoder(nn.Module):
    def __init__(self, n_trg, emb, hid, p=0.1):
        super().__init__()
        self.embed = nn.Embedding(n_trg, emb, padding_idx=PAD)
        self.drop = nn.Dropout(p)
        self.cell = nn.GRUCell(emb + hid, hid)
        self.query = nn.Linear(hid, hid, bias=False)
        self.out = nn.Linear(2 * hid, n_trg)

    def attend(self, h, memory, mask):
        score = torch.bmm(memory, self.query(h).unsqueeze(2)).squeeze(2)
        score = score.masked_fill(mask, -1e9)
        return torch.bmm(score.softmax(dim=1).unsqueeze(1), memory).squeeze(1)

    def forward(self, trg, memory, h, mask, sampling=0.0):
        context = self.attend(h, memory, mask)
        tok = trg[:, 0].clone()
        logits = []
        for t in range(1, trg.size(1)):
            e = self.drop(self.embed(tok.clone()))
            h = self.cell(torch.cat([e, context], dim=1), h)
            context = self.attend(h, memory, mask)
            step = self.out(torch.cat([h, context], dim=1))
            logits.append(step)
            # 確率 sampling で自分の予測を次の入力にする
            own = torch.rand(len(trg)) < sampling
            tok.copy_(trg[:, t])
            tok[own] = step.argmax(dim=1)[own]
        return torch.stack(logits, dim=1)


class Seq2Seq(nn.Module):
    def __init__(self, n_src, n_trg, emb=16, hid=32):
        super().__init__()
        self.encoder = Encoder(n_src, emb, hid)
        self.decoder = Decoder(n_trg, emb, hid)

    def forward(self, src, trg, sampling=0.0):
        memory, h = self.encoder(src)
        return self.decoder(trg, memory, h, src.eq(PAD), sampling)


def loss_of(logits, trg):
    return F.cross_entropy(logits.flatten(0, 1), trg[:, 1:].flatten(), ignore_index=PAD)


@torch.no_grad()
def evaluate(model, batches):
    model.eval()
    losses, hit, n = [], 0, 0
    for src, trg in batches:
        logits = model(src, trg, sampling=1.0)      # 自己回帰で評価
        losses.append(loss_of(logits, trg).item())
        real = trg[:, 1:].ne(PAD)
        hit += (logits.argmax(-1).eq(trg[:, 1:]) & real).sum().item()
        n += real.sum().item()
    model.train()
    return np.mean(losses), hit / n


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--batch", type=int, default=24)
    p.add_argument("--lr", type=float, default=8e-3)
    p.add_argument("--seed", type=int, default=3)
    args = p.parse_args()

    torch.manual_seed(args.seed)
    rng = np.random.RandomState(args.seed)
    train, valid = make_pairs(144, rng), make_pairs(48, rng)
    valid = [collate(valid[i:i + args.batch]) for i in range(0, len(valid), args.batch)]

    model = Seq2Seq(len(ROWS) * 5 + 1, len(LETTERS))
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    best = float("inf")
    with tempfile.TemporaryDirectory() as folder:
        for epoch in range(args.epochs):
            sampling = min(0.5, 0.15 * (epoch + 1))
            rng.shuffle(train)
            total = 0.0
            for i in range(0, len(train), args.batch):
                src, trg = collate(train[i:i + args.batch])
                loss = loss_of(model(src, trg, sampling), trg)
                opt.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                opt.step()
                total += loss.item() * args.batch / len(train)
            val, acc = evaluate(model, valid)
            print("epoch %d  sampling %.2f  train %.6f  valid %.6f  acc %.4f" % (epoch, sampling, total, val, acc))
            if val < best:
                best = val
                torch.save(model.state_dict(), os.path.join(folder, "best.pt"))
        model.load_state_dict(torch.load(os.path.join(folder, "best.pt")))
    print("best %.6f  embedding norm %.6f" % (best, model.decoder.embed.weight.norm().item()))


if __name__ == "__main__":
    main()
