"""Classify chirps of two lengths by whether their pitch rises, falls or stays."""
import torch
import torch.nn.functional as F

from net import SequenceNet


def chirps(n, length):
    label = torch.arange(n) % 3
    t = torch.linspace(0, 1, length)
    rate = (label - 1).float()[:, None] * 6.0
    phase = 2 * torch.pi * (4 * t + 0.5 * rate * t**2) + 6.28 * torch.rand(n, 1)
    return (phase.sin() + 0.1 * torch.randn(n, length))[:, None], label


def main():
    torch.manual_seed(4)
    model = SequenceNet()
    opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
    batches = [chirps(24, length) for length in (20, 28, 20, 28)]
    for epoch in range(4):
        total = 0.0
        type(model.blocks[0].conv).kernel.cache_clear()
        for x, y in batches:
            loss = F.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() / len(batches)
        with torch.no_grad():
            energy = sum(b.conv.kernel_net(b.conv.positions(20)).pow(2).sum() for b in model.blocks)
        print(f"epoch {epoch} loss {total:.4f} energy of the kernels {energy.item():.5f}")


if __name__ == "__main__":
    main()
