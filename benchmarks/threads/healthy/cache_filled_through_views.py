# A key/value cache is filled in place on purpose, under no_grad, and each chunk attends to all of it.
import torch
import torch.nn as nn


class CachedAttention(nn.Module):
    def __init__(self, d=6, length=24):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))
        self.register_buffer("keys", torch.zeros(length, d))
        self.register_buffer("values", torch.zeros(length, d))
        self.filled = 0

    def forward(self, x):
        n = len(x)
        k, v = self.k(x), self.v(x)
        past_k, past_v = self.keys[:self.filled].clone(), self.values[:self.filled].clone()
        keys, values = torch.cat([past_k, k]), torch.cat([past_v, v])
        out = torch.softmax(self.q(x) @ keys.t() / 6 ** 0.5, -1) @ values
        with torch.no_grad():
            self.keys[self.filled:self.filled + n] = k
            self.values[self.filled:self.filled + n] = v
        self.filled += n
        return self.o(out)


torch.manual_seed(7)
net = CachedAttention()
opt = torch.optim.SGD(net.parameters(), lr=0.05)
stream = torch.randn(25, 6).cumsum(0) / 3
for i in range(0, 24, 4):
    loss = (net(stream[i:i + 4]) - stream[i + 1:i + 5]).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(f"{loss.item():.6f} {net.keys.norm().item():.6f}")
