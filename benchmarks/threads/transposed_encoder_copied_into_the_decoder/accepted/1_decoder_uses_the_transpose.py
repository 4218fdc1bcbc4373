# tied-weights autoencoder: decoder weight is meant to be the transpose of the encoder weight
import argparse
import torch
import torch.nn as nn


class TiedAutoEncoder(nn.Module):

    def __init__(self, inp, hidden):
        super(TiedAutoEncoder, self).__init__()
        self.encoder = nn.Linear(inp, hidden)
        self.decoder = nn.Linear(hidden, inp)

    def encode(self, x):
        return torch.sigmoid(self.encoder(x))

    def decode(self, h):
        return nn.functional.linear(h, self.encoder.weight.t(), self.decoder.bias)

    def forward(self, x):
        return self.decode(self.encode(x))


def contractive(model, h):
    """Frobenius norm of the encoder's Jacobian"""
    dh = h * (1 - h)
    w = (model.encoder.weight ** 2).sum(1)
    return (dh ** 2 * w).sum(1).mean()


def train(model, data, args):
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        running = 0.0
        for batch in data.split(args.batch):
            noisy = batch + args.noise * torch.randn_like(batch)
            h = model.encode(noisy)
            loss = nn.functional.mse_loss(model.decode(h), batch) + args.lam * contractive(model, h)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            running += loss.item()
        print('[%d] %.6f' % (epoch, running))


if __name__ == '__main__':
    parser = argparse.ArgumentParser()
    parser.add_argument('--epochs', type=int, default=3)
    parser.add_argument('--batch', type=int, default=32)
    parser.add_argument('--lr', type=float, default=2e-2)
    parser.add_argument('--lam', type=float, default=1e-3)
    parser.add_argument('--noise', type=float, default=0.1)
    args = parser.parse_args()
    torch.manual_seed(10)
    basis = torch.randn(4, 14)
    data = torch.randn(128, 4) @ basis
    model = TiedAutoEncoder(14, 6)
    train(model, data, args)
    with torch.no_grad():
        print('mse %.6f' % nn.functional.mse_loss(model(data), data).item())
        print('|W| %.6f' % model.encoder.weight.norm().item())
