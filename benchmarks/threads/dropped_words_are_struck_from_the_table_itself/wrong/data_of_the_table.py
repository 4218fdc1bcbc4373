"""Clasificador de reseñas con BiLSTM y dropout de palabras completas (Gal & Ghahramani)."""
import argparse
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

POS = "bueno excelente rico amable rapido limpio recomiendo fresco barato genial".split()
NEG = "malo pesimo frio grosero lento sucio evitar caro duro horrible".split()
NEU = "el la comida servicio mesa local pedido camarero muy y pero con plato llego estaba".split()


def toy_reviews(n, seed):
    g = torch.Generator().manual_seed(seed)
    vocab = ["<pad>", "<unk>"] + POS + NEG + NEU
    stoi = {w: i for i, w in enumerate(vocab)}

    def pick(words):
        return words[int(torch.randint(len(words), (1,), generator=g))]

    data = []
    for i in range(n):
        label = i % 2
        length = int(torch.randint(6, 15, (1,), generator=g))
        words = [pick(NEU) for _ in range(length)]
        for _ in range(3):
            words[int(torch.randint(length, (1,), generator=g))] = pick(POS if label else NEG)
        data.append(([stoi[w] for w in words], label))
    return data, vocab


def collate(samples):
    lengths = torch.tensor([len(s[0]) for s in samples])
    ids = torch.zeros(len(samples), int(lengths.max()), dtype=torch.long)
    for i, (s, _) in enumerate(samples):
        ids[i, :len(s)] = torch.tensor(s)
    return ids, lengths, torch.tensor([s[1] for s in samples])


class WordDropEmbedding(nn.Module):
    """Embedding que apaga palabras enteras del vocabulario en cada pasada de entrenamiento."""

    def __init__(self, n_words, dim, p):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(n_words, dim) * 0.1)
        self.p = p

    def forward(self, ids):
        table = self.weight
        if self.training and self.p > 0:
            keep = torch.empty(table.size(0), 1).bernoulli_(1 - self.p)
            table.data *= keep / (1 - self.p)
        return F.embedding(ids, table, padding_idx=0)


class ReviewNet(nn.Module):
    def __init__(self, n_words, dim, hidden, p_word, p_out):
        super().__init__()
        self.emb = WordDropEmbedding(n_words, dim, p_word)
        self.lstm = nn.LSTM(dim, hidden, batch_first=True, bidirectional=True)
        self.attn = nn.Linear(2 * hidden, 1)
        self.drop = nn.Dropout(p_out)
        self.out = nn.Linear(2 * hidden, 2)

    def forward(self, ids, lengths):
        packed = pack_padded_sequence(self.emb(ids), lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        scores = self.attn(states).squeeze(-1).masked_fill(ids == 0, float("-inf"))
        context = (scores.softmax(1).unsqueeze(-1) * states).sum(1)
        return self.out(self.drop(context))


@torch.no_grad()
def evaluar(net, data, batch):
    net.eval()
    loss, ok = 0.0, 0
    for i in range(0, len(data), batch):
        ids, lengths, y = collate(data[i:i + batch])
        logits = net(ids, lengths)
        loss += F.cross_entropy(logits, y, reduction="sum").item()
        ok += int((logits.argmax(1) == y).sum())
    return loss / len(data), ok / len(data)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epocas", type=int, default=4)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--lr", type=float, default=5e-3)
    parser.add_argument("--p_palabra", type=float, default=0.2)
    parser.add_argument("--semilla", type=int, default=5)
    args = parser.parse_args()

    torch.manual_seed(args.semilla)
    data, vocab = toy_reviews(120, seed=args.semilla)
    train, dev = data[:96], data[96:]
    net = ReviewNet(len(vocab), 20, 16, args.p_palabra, 0.3)
    opt = torch.optim.Adam(net.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.StepLR(opt, step_size=2, gamma=0.7)

    mejor, estado = 1e9, None
    for epoca in range(args.epocas):
        net.train()
        total = 0.0
        for idx in torch.randperm(len(train)).split(args.batch):
            ids, lengths, y = collate([train[i] for i in idx.tolist()])
            loss = F.cross_entropy(net(ids, lengths), y)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
            total += loss.item() * len(idx)
        sched.step()
        dev_loss, acc = evaluar(net, dev, args.batch)
        print(f"época {epoca + 1}: entrenamiento {total / len(train):.6f}  dev {dev_loss:.6f}  acc {acc:.4f}")
        if dev_loss < mejor:
            mejor, estado = dev_loss, copy.deepcopy(net.state_dict())
    net.load_state_dict(estado)
    print(f"mejor dev {mejor:.6f}  norma de la tabla {net.emb.weight.norm().item():.6f}")


if __name__ == "__main__":
    main()
