import torch
from torch import optim

from coupling import Flow

config = {"dim": 4, "layers": 4, "hidden_features": 16, "num_bins": 5, "lr": 5e-3, "steps": 12, "batch": 64, "seed": 2}


def jets(n, generator):
    """four observables of a toy jet: two correlated masses, an angle, a ratio"""
    m = torch.randn(n, 2, generator=generator)
    angle = torch.sin(2 * m[:, :1]) + 0.2 * torch.randn(n, 1, generator=generator)
    ratio = (m[:, 1:] ** 2 - 1) * 0.5 + 0.3 * torch.randn(n, 1, generator=generator)
    return torch.cat([m, angle, ratio], 1)


def main(cfg):
    torch.manual_seed(cfg["seed"])
    generator = torch.Generator().manual_seed(cfg["seed"])
    flow = Flow(cfg["dim"], cfg["layers"], hidden_features=cfg["hidden_features"], num_bins=cfg["num_bins"])
    optimizer = optim.Adam(flow.parameters(), lr=cfg["lr"])
    valid = jets(256, generator)
    for step in range(cfg["steps"]):
        x = jets(cfg["batch"], generator)
        loss = -flow.log_prob(x).mean()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(flow.parameters(), 5.0)
        optimizer.step()
        if step % 4 == 3:
            with torch.no_grad():
                nll = -flow.log_prob(valid).mean().item()
            print(f"step {step + 1:3d}  train {loss.item():.5f}  valid {nll:.5f}")
    samples = flow.sample(128, cfg["dim"], generator)
    print("sample std", " ".join(f"{v:.4f}" for v in samples.std(0).tolist()))


if __name__ == "__main__":
    main(config)
