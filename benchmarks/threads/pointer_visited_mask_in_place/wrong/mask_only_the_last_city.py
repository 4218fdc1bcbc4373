import torch
import torch.nn as nn
import torch.nn.functional as F

# Pointer network + REINFORCE for tiny TSP, decoder adapted from the neural combinatorial RL code
# TODO(me): glimpses, beam search


class Pointer(nn.Module):
    def __init__(self, dim, clip=5.0):
        super().__init__()
        self.w_ref = nn.Linear(dim, dim)
        self.w_q = nn.Linear(dim, dim)
        self.v = nn.Parameter(torch.randn(dim) * 0.3)
        self.clip = clip

    def forward(self, query, ref):
        u = torch.tanh(self.w_ref(ref) + self.w_q(query).unsqueeze(1)) @ self.v
        return self.clip * torch.tanh(u)


class Decoder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.embed = nn.Linear(2, dim)
        self.enc = nn.GRU(dim, dim, batch_first=True)
        self.cell = nn.GRUCell(dim, dim)
        self.pointer = Pointer(dim)
        self.start = nn.Parameter(torch.zeros(dim))

    def apply_mask(self, logits, visited):
        return logits.masked_fill(visited, -1e9)

    def forward(self, cities, greedy=False):
        B, N, _ = cities.shape
        emb = self.embed(cities)
        ref, h = self.enc(emb)
        h = h[0]
        inp = self.start.expand(B, -1)
        visited = torch.zeros(B, N, dtype=torch.bool)
        logps, tour, ents = [], [], []
        for _ in range(N):
            h = self.cell(inp, h)
            logits = self.apply_mask(self.pointer(h, ref), visited)
            logp = F.log_softmax(logits, dim=1)
            p = logp.exp()
            idx = p.argmax(1) if greedy else torch.multinomial(p, 1).squeeze(1)
            visited = torch.zeros_like(visited).scatter(1, idx.unsqueeze(1), True)  # never go back
            logps.append(logp.gather(1, idx.unsqueeze(1)).squeeze(1))
            ents.append(-(p * logp.clamp(min=-50)).sum(1))
            tour.append(idx)
            inp = emb[torch.arange(B), idx]
        return torch.stack(tour, 1), torch.stack(logps, 1).sum(1), torch.stack(ents, 1).mean()


def tour_length(cities, tour):
    c = cities.gather(1, tour.unsqueeze(2).expand(-1, -1, 2))
    return (c - c.roll(1, dims=1)).norm(dim=2).sum(1)


def main():
    torch.manual_seed(8)
    net = Decoder()
    opt = torch.optim.Adam(net.parameters(), lr=4e-3)
    baseline = None
    for it in range(7):
        cities = torch.rand(16, 6, 2)
        tour, logp, ent = net(cities)
        length = tour_length(cities, tour)
        baseline = length.mean() if baseline is None else 0.8 * baseline + 0.2 * length.mean()
        loss = ((length - baseline) * logp).mean() - 0.02 * ent
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 2.0)
        opt.step()
        print('it %d length %.6f entropy %.6f' % (it, length.mean().item(), ent.item()))
    with torch.no_grad():
        cities = torch.rand(8, 6, 2)
        print('greedy %.6f' % tour_length(cities, net(cities, greedy=True)[0]).mean().item())


if __name__ == '__main__':
    main()
