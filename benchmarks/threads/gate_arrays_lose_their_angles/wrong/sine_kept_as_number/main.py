import torch
import torch.nn.functional as F

from circuit import SentenceModel

DATA = [(("chef", "cooks"), 1.0), (("coder", "codes"), 0.0), (("chef", "bakes"), 1.0), (("coder", "debugs"), 0.0)]


def main():
    torch.manual_seed(2)
    words = sorted({w for s, _ in DATA for w in s})
    model = SentenceModel(words)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    for epoch in range(6):
        optimizer.zero_grad()
        out = torch.stack([model(s) for s, _ in DATA]).clamp(1e-4, 1 - 1e-4)
        loss = F.binary_cross_entropy(out, torch.tensor([y for _, y in DATA]))
        loss.backward()
        optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.6f}")


if __name__ == "__main__":
    main()
