import torch

from diffusion import GaussianDiffusion, Net


def cycle(n, dim=6):
    for _ in range(n):
        yield torch.tanh(torch.randn(16, 1) + 0.2 * torch.randn(16, dim))


if __name__ == "__main__":
    torch.manual_seed(286)
    diffusion = GaussianDiffusion(Net(6))
    opt = torch.optim.Adam(diffusion.parameters(), lr=3e-3)
    for x in cycle(6):
        loss = diffusion(x)
        loss.backward()
        opt.step()
        opt.zero_grad()
    print(f"{loss.item():.6f}")
