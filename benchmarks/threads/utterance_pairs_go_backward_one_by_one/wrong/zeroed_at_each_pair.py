"""Speaker verification: a small encoder on (fake) mel frames, trained with a margin on pairs.

Every batch holds a few utterances of a few speakers. All utterances are encoded once, then all
pairs of the batch are compared.
"""
import argparse
import itertools

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--speakers", type=int, default=6)
    parser.add_argument("--utts", type=int, default=4)
    parser.add_argument("--frames", type=int, default=20)
    parser.add_argument("--mels", type=int, default=12)
    parser.add_argument("--dim", type=int, default=16)
    parser.add_argument("--margin", type=float, default=0.6)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--epochs", type=int, default=2)
    return parser.parse_args()


class Utterances(Dataset):
    """item i -> all utterances of speaker i, [utts, frames, mels]"""

    def __init__(self, args):
        g = torch.Generator().manual_seed(11)
        voice = torch.randn(args.speakers, 1, 1, args.mels, generator=g)
        noise = torch.randn(args.speakers, args.utts, args.frames, args.mels, generator=g)
        self.mels = voice + 0.7 * noise

    def __len__(self):
        return len(self.mels)

    def __getitem__(self, i):
        return self.mels[i], i


class SpeakerEncoder(nn.Module):
    def __init__(self, mels, dim):
        super().__init__()
        self.lstm = nn.LSTM(mels, 32, batch_first=True)
        self.proj = nn.Linear(32, dim)

    def forward(self, mel):
        out, _ = self.lstm(mel)
        return F.normalize(self.proj(out.mean(dim=1)), dim=-1)


class PairLoss(nn.Module):
    def __init__(self, margin):
        super().__init__()
        self.margin = margin

    def forward(self, a, b, same):
        dist = (a - b).pow(2).sum().add(1e-8).sqrt()
        if same:
            return dist ** 2
        return F.relu(self.margin - dist) ** 2


class Trainer:
    def __init__(self, args):
        self.args = args
        self.net = SpeakerEncoder(args.mels, args.dim)
        self.crit = PairLoss(args.margin)
        self.optim = torch.optim.Adam(self.net.parameters(), lr=args.lr)

    def train_batch(self, mels, who):
        n, u = mels.shape[:2]
        emb = self.net(mels.flatten(0, 1))
        labels = who.repeat_interleave(u)

        self.optim.zero_grad()
        pairs = list(itertools.combinations(range(n * u), 2))
        batch_loss = 0.0
        for i, j in pairs:
            loss = self.crit(emb[i], emb[j], bool(labels[i] == labels[j])) / len(pairs)
            # one pair at a time, the gradients add up until the step
            self.optim.zero_grad()
            loss.backward(retain_graph=True)
            batch_loss += loss.item()
        nn.utils.clip_grad_norm_(self.net.parameters(), 3.0)
        self.optim.step()
        return batch_loss

    def fit(self, loader):
        for epoch in range(self.args.epochs):
            total = 0.0
            for mels, who in loader:
                total += self.train_batch(mels, who)
            print("epoch %d  pair loss %.5f" % (epoch, total / len(loader)))


def eer_like(net, data):
    net.eval()
    with torch.no_grad():
        emb = torch.stack([net(data[i][0]) for i in range(len(data))])
        cent = F.normalize(emb.mean(1), dim=-1)
        score = torch.einsum("sud,cd->suc", emb, cent).argmax(-1)
    return (score == torch.arange(len(data))[:, None]).float().mean().item()


if __name__ == "__main__":
    args = get_args()
    torch.manual_seed(0)
    data = Utterances(args)
    loader = DataLoader(data, batch_size=3, shuffle=False)
    trainer = Trainer(args)
    trainer.fit(loader)
    print("closest centroid is right: %.3f" % eer_like(trainer.net, data))
