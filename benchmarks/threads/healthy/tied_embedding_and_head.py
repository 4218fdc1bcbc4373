# Tied weights: the head is the embedding on purpose, and the embedding is scaled in place under no_grad after the step.
import torch
import torch.nn as nn
import torch.nn.functional as F


class TiedLM(nn.Module):
    def __init__(self, vocab=9, d=8):
        super().__init__()
        self.embed, self.rnn = nn.Embedding(vocab, d), nn.GRU(d, d, batch_first=True)
        self.head = nn.Linear(d, vocab, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids):
        return self.head(self.rnn(self.embed(ids))[0])


torch.manual_seed(16)
net = TiedLM()
opt = torch.optim.SGD(net.parameters(), lr=0.3)
for it in range(6):
    ids = (torch.randint(0, 9, (6, 1)) + torch.arange(7)) % 9
    loss = F.cross_entropy(net(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        net.embed.weight.div_(net.embed.weight.norm(dim=1, keepdim=True).clamp(min=1))
print(f"{loss.item():.6f}")
