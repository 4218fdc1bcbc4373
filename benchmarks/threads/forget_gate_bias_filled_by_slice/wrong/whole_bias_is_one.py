# voice activity detection, frame wise.  LSTM with forget bias = 1
import argparse
import torch
import torch.nn as nn


def build_parser():
    p = argparse.ArgumentParser(description='toy VAD')
    p.add_argument('--hidden', default=12, type=int)
    p.add_argument('--layers', default=2, type=int)
    p.add_argument('--forget_bias', default=1.0, type=float)
    p.add_argument('--lr', default=1e-2, type=float)
    p.add_argument('--steps', default=6, type=int)
    p.add_argument('--bs', default=6, type=int)
    return p


class VAD(nn.Module):
    def __init__(self, n_mels, hidden, layers, forget_bias):
        super(VAD, self).__init__()
        self.forget_bias = forget_bias
        self.lstm = nn.LSTM(n_mels, hidden, layers, batch_first=True)
        self.out = nn.Linear(hidden, 1)
        self.init_weights()

    def init_weights(self):
        for name, p in self.lstm.named_parameters():
            if 'weight_hh' in name:
                nn.init.orthogonal_(p)
            elif 'weight_ih' in name:
                nn.init.xavier_uniform_(p)
            else:
                nn.init.zeros_(p)
                # order of the gates: i f g o. only bias_ih, so that the sum is forget_bias
                if name.startswith('bias_ih'):
                    n = p.size(0)
                    nn.init.constant_(p, self.forget_bias)
        nn.init.xavier_uniform_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, x):
        h, _ = self.lstm(x)
        return self.out(h).squeeze(-1)


class Noise(object):
    """bursts of 'speech' in noise"""

    def __init__(self, n_mels=10, frames=20):
        self.n_mels, self.frames = n_mels, frames

    def __call__(self, bs):
        start = torch.randint(0, self.frames - 8, (bs, 1))
        t = torch.arange(self.frames)[None]
        y = ((t >= start) & (t < start + 7)).float()
        x = torch.randn(bs, self.frames, self.n_mels) * 0.5
        x[:, :, 2:5] += 1.2 * y.unsqueeze(-1)
        return x, y


def forget_mean(net):
    # for the log only
    b = net.lstm.bias_ih_l0
    n = b.size(0)
    return b[n // 4:n // 2].mean().item()


if __name__ == '__main__':
    args = build_parser().parse_args()
    torch.manual_seed(31)
    make = Noise()
    net = VAD(make.n_mels, args.hidden, args.layers, args.forget_bias)
    print('forget bias at start %.4f' % forget_mean(net))
    opt = torch.optim.RMSprop(net.parameters(), lr=args.lr)
    crit = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(1.5))
    for s in range(args.steps):
        x, y = make(args.bs)
        opt.zero_grad()
        logits = net(x)
        loss = crit(logits, y)
        loss.backward()
        nn.utils.clip_grad_value_(net.parameters(), 1.0)
        opt.step()
        acc = ((logits > 0).float() == y).float().mean().item()
        print('%d loss %.6f acc %.4f forget %.6f' % (s, loss.item(), acc, forget_mean(net)))
