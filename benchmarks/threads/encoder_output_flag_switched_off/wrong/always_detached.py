import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F

parser = argparse.ArgumentParser(description='audio tagging, encoder frozen for the first epochs')
parser.add_argument('--epochs', type=int, default=4)
parser.add_argument('--freeze-epochs', type=int, default=2)
parser.add_argument('--lr', type=float, default=5e-3)
parser.add_argument('--seed', type=int, default=31)


class Encoder(nn.Module):
    def __init__(self):
        super(Encoder, self).__init__()
        self.conv1 = nn.Conv1d(1, 6, 7, stride=2)
        self.conv2 = nn.Conv1d(6, 10, 5, stride=2)

    def forward(self, wav):
        return F.relu(self.conv2(F.relu(self.conv1(wav)))).mean(-1)


class Tagger(nn.Module):
    def __init__(self, encoder, n_tags):
        super(Tagger, self).__init__()
        self.encoder = encoder
        self.norm = nn.LayerNorm(10)
        self.head = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, n_tags))
        self.freeze_encoder = False

    def forward(self, wav):
        feat = self.encoder(wav).detach()
        return self.head(self.norm(feat))


class Clips(object):
    def __init__(self, n, n_tags):
        t = torch.arange(160).float() / 16
        self.tags = (torch.rand(n, n_tags) < 0.4).float()
        tones = torch.stack([torch.sin((k + 1) * 2.1 * t) for k in range(n_tags)])
        self.wav = (self.tags @ tones + 0.2 * torch.randn(n, 160)).unsqueeze(1)

    def batches(self, bs):
        for i in range(0, len(self.wav), bs):
            yield self.wav[i:i + bs], self.tags[i:i + bs]


def train(model, clips, optimizer, epoch, args):
    model.train()
    model.freeze_encoder = epoch < args.freeze_epochs
    total = 0.0
    for wav, tags in clips.batches(16):
        optimizer.zero_grad()
        loss = F.binary_cross_entropy_with_logits(model(wav), tags)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(wav)
    return total / len(clips.wav)


def main():
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    model = Tagger(Encoder(), 4)
    clips = Clips(48, 4)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        loss = train(model, clips, optimizer, epoch, args)
        print('Epoch %d%s loss %.5f enc %.5f' % (epoch, ' (encoder frozen)' if model.freeze_encoder else '', loss,
                                                 model.encoder.conv1.weight.abs().sum().item()))


if __name__ == '__main__':
    main()
