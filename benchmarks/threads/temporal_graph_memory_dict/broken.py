from typing import Dict, List, Tuple

import torch
import torch.nn as nn
import torch.nn.functional as F


class Memory:
    def __init__(self, dim: int):
        self.dim = dim
        self.memory_container: Dict[int, torch.Tensor] = {}
        self.last_update: Dict[int, float] = {}

    def get(self, node: int) -> torch.Tensor:
        return self.memory_container.setdefault(node, torch.zeros(self.dim))

    def set(self, node: int, value: torch.Tensor, time: float) -> None:
        self.memory_container[node] = value
        self.last_update[node] = time


class TGN(nn.Module):
    def __init__(self, dim: int = 8):
        super().__init__()
        self.memory = Memory(dim)
        self.message = nn.Sequential(nn.Linear(2 * dim + 1, dim), nn.ReLU())
        self.updater = nn.GRUCell(dim, dim)
        self.link = nn.Bilinear(dim, dim, 1)

    def update(self, events: List[Tuple[int, int, float]]) -> None:
        for src, dst, time in events:
            s, d = self.memory.get(src), self.memory.get(dst)
            gap = torch.tensor([time - self.memory.last_update.get(src, 0.0)])
            m = self.message(torch.cat([s, d, gap]))
            self.memory.set(src, self.updater(m[None], s[None])[0], time)

    def score(self, pairs):
        a = torch.stack([self.memory.get(i) for i, _ in pairs])
        b = torch.stack([self.memory.get(j) for _, j in pairs])
        return self.link(a, b).squeeze(1)


def stream(batches: int, size: int = 5, nodes: int = 6):
    g = torch.Generator().manual_seed(121)
    clock = 0.0
    for _ in range(batches):
        events = []
        for _ in range(size):
            clock += torch.rand(1, generator=g).item()
            i, j = torch.randperm(nodes, generator=g)[:2].tolist()
            events.append((i, j, clock))
        yield events, [tuple(torch.randperm(nodes, generator=g)[:2].tolist()) for _ in range(size)]


def main() -> None:
    torch.manual_seed(0)
    model = TGN()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for events, negatives in stream(6):
        optimizer.zero_grad()
        model.update(events)
        pos = model.score([(i, j) for i, j, _ in events])
        neg = model.score(negatives)
        loss = F.softplus(-pos).mean() + F.softplus(neg).mean()
        loss.backward()
        optimizer.step()
    print(f"{loss.item():.6f} {sum(v.abs().sum().item() for v in model.memory.memory_container.values()):.6f}")


if __name__ == "__main__":
    main()
