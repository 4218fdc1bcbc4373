import torch
from torch import nn
import torch.nn.functional as F


class SoftDecoder(nn.Module):
    """Generates soft one-hot tokens; each one is embedded as the next input."""

    def __init__(self, vocab=7, emb=5, hid=10):
        super().__init__()
        self.vocab = vocab
        self.emb = nn.Linear(vocab, emb, bias=False)
        self.rnn = nn.GRUCell(emb, hid)
        self.out = nn.Linear(hid, vocab)

    def forward(self, h, steps, tau=0.7):
        soft = torch.zeros(steps + 1, h.shape[0], self.vocab)
        soft[0, :, 0] = 1.
        for t in range(steps):
            h = self.rnn(self.emb(soft[t]), h)
            soft[t + 1] = F.softmax(self.out(h) / tau, dim=-1)
        return soft[1:]


class Controlled(nn.Module):
    def __init__(self, hid=10):
        super().__init__()
        self.init, self.dec = nn.Linear(2, hid), SoftDecoder(hid=hid)

    def forward(self, code):
        return self.dec(torch.tanh(self.init(code)), steps=4)


if __name__ == "__main__":
    torch.manual_seed(27)
    gen = Controlled()
    opt = torch.optim.Adam(gen.parameters(), lr=1e-2)
    judge = nn.Linear(7, 2).requires_grad_(False)
    for it in range(6):
        c = torch.randint(0, 2, (12,))
        soft = gen(F.one_hot(c, 2).float())
        loss = F.cross_entropy(3 * judge(soft.mean(0)), c)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"{loss.item():.6f}")
