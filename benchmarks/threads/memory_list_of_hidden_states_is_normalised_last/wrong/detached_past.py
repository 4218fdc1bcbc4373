import torch
from torch import nn


class Decoder(nn.Module):
    def __init__(self, d=6):
        super().__init__()
        self.cell = nn.RNNCell(3, d)
        self.query = nn.Linear(d, d)
        self.out = nn.Linear(2 * d, 3)

    def forward(self, xs):
        h = torch.zeros(xs.shape[1], 6)
        past, outs = [], []
        for x in xs:
            h = self.cell(x, h)
            past.append(h.detach())
            scores = torch.stack([(self.query(h) * p).sum(-1) for p in past], -1).softmax(-1)
            context = (torch.stack(past, -1) * scores.unsqueeze(1)).sum(-1)
            # unit length, as the cosine output layer wants it
            h = h / (h.norm(dim=-1, keepdim=True) + 1e-6)
            outs.append(self.out(torch.cat([h, context], -1)))
        return torch.stack(outs), torch.stack(past)


torch.manual_seed(5)
net = Decoder()
opt = torch.optim.Adam(net.parameters(), lr=4e-3)
for step in range(8):
    xs = torch.randn(4, 5, 3)
    outs, states = net(xs)
    loss = (outs - xs.cumsum(0)).square().mean() + 0.05 * states.square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, round(loss.item(), 4))
