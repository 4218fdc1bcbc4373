# 手写 skip-gram + 负采样，在菜谱步骤上训练词向量（不用 torch.optim，只更新用到的行）
import argparse
import os
import random
import tempfile
from collections import Counter

import numpy as np
import torch
import torch.nn.functional as F

RECIPES = """
wash the rice and soak it
chop the onion and garlic
heat the oil in the wok
fry the garlic in the oil
add the onion and fry
add the rice and water
boil the water with salt
stir the rice and egg
beat the egg with salt
add soy sauce and sugar
simmer the sauce with sugar
steam the fish with ginger
slice the ginger and onion
pour the sauce on the fish
serve the rice with the fish
""".strip().splitlines()


class Vocab:
    def __init__(self, lines):
        self.counter = Counter(w for l in lines for w in l.split())
        self.itos = [w for w, _ in self.counter.most_common()]
        self.stoi = {w: i for i, w in enumerate(self.itos)}

    def __len__(self):
        return len(self.itos)

    def noise(self):
        freq = torch.tensor([self.counter[w] for w in self.itos], dtype=torch.float)
        return freq.pow(0.75) / freq.pow(0.75).sum()


def make_pairs(lines, vocab, window):
    pairs = []
    for line in lines:
        ids = [vocab.stoi[w] for w in line.split()]
        for i, c in enumerate(ids):
            for j in range(max(0, i - window), min(len(ids), i + window + 1)):
                if j != i:
                    pairs.append((c, ids[j]))
    return pairs


class SkipGram:
    def __init__(self, n_words, dim):
        self.w_in = torch.empty(n_words, dim).uniform_(-0.5 / dim, 0.5 / dim).requires_grad_()
        self.w_out = torch.zeros(n_words, dim, requires_grad=True)

    def loss(self, center, context, negative):
        v = self.w_in[center]                                   # B x D
        pos = (v * self.w_out[context]).sum(-1)
        neg = torch.einsum("bd,bkd->bk", v, self.w_out[negative])
        return -(F.logsigmoid(pos).sum() + F.logsigmoid(-neg).sum())

    def update(self, lr, center, context, negative):
        """只有出现过的行有梯度，其余的行不动"""
        outside = torch.cat([context, negative.flatten()])
        with torch.no_grad():
            self.w_in[center] -= lr * self.w_in.grad[center]
            self.w_out[outside] -= lr * self.w_out.grad[outside]
        self.w_in.grad.zero_()
        self.w_out.grad.zero_()

    def nearest(self, word, vocab, k=3):
        table = F.normalize(self.w_in.detach(), dim=1)
        sims = table @ table[vocab.stoi[word]]
        best = sims.topk(k + 1).indices.tolist()[1:]
        return [(vocab.itos[i], float(sims[i])) for i in best]


def batches(pairs, size):
    random.shuffle(pairs)
    for i in range(0, len(pairs) - size + 1, size):
        chunk = torch.tensor(pairs[i:i + size])
        yield chunk[:, 0], chunk[:, 1]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--dim", type=int, default=16)
    ap.add_argument("--window", type=int, default=2)
    ap.add_argument("--negatives", type=int, default=4)
    ap.add_argument("--batch", type=int, default=32)
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--lr", type=float, default=0.1)
    ap.add_argument("--seed", type=int, default=2024)
    args = ap.parse_args()
    random.seed(args.seed)
    torch.manual_seed(args.seed)

    vocab = Vocab(RECIPES)
    pairs = make_pairs(RECIPES, vocab, args.window)
    noise = vocab.noise()
    model = SkipGram(len(vocab), args.dim)
    n_steps = args.epochs * (len(pairs) // args.batch)
    print(f"词表 {len(vocab)}  样本 {len(pairs)}  步数 {n_steps}")

    step = 0
    for epoch in range(args.epochs):
        history = []
        for center, context in batches(pairs, args.batch):
            lr = args.lr * max(0.05, 1 - step / n_steps)         # 学习率线性下降
            negative = torch.multinomial(noise, args.batch * args.negatives, replacement=True)
            negative = negative.view(args.batch, args.negatives)
            loss = model.loss(center, context, negative)
            loss.backward()
            model.update(lr, center, context, negative)
            history.append(loss.item() / args.batch)
            step += 1
        norm_in, norm_out = model.w_in.norm().item(), model.w_out.norm().item()
        print(f"epoch {epoch}  loss {np.mean(history):.6f}  |in| {norm_in:.6f}  |out| {norm_out:.6f}")

    for word in ("rice", "fry"):
        print(word, " ".join(f"{w}:{s:.4f}" for w, s in model.nearest(word, vocab)))
    path = os.path.join(tempfile.mkdtemp(), "vectors.npy")
    np.save(path, model.w_in.detach().numpy())


if __name__ == "__main__":
    main()
