"""1-D full waveform inversion, L-BFGS, from low to high frequency."""
import json
import numpy as np
import torch

CONFIG = json.loads("""{
  "nx": 36, "nt": 70, "dx": 10.0, "dt": 0.002, "vmin": 1400.0, "vmax": 3200.0,
  "bands": [8.0, 14.0, 20.0], "steps_per_band": 2, "max_iter": 4, "tv": 0.02, "seed": 2}""")


def ricker(f, nt, dt):
    t = torch.arange(nt) * dt - 1.2 / f
    a = (np.pi * f * t) ** 2
    return (1 - 2 * a) * torch.exp(-a)


def propagate(vel, wavelet, dx, dt):
    """Second order finite differences; source at cell 1, receivers at all even cells."""
    c = (vel * dt / dx) ** 2
    prev = torch.zeros_like(vel)
    cur = torch.zeros_like(vel)
    src = torch.zeros_like(vel)
    src[1] = 1.0
    traces = []
    for amp in wavelet:
        lap = torch.roll(cur, 1) - 2 * cur + torch.roll(cur, -1)
        nxt = 2 * cur - 0.995 * prev + c * lap + src * amp
        prev, cur = cur, nxt
        traces.append(cur[::2])
    return torch.stack(traces)


class EarthModel(torch.nn.Module):
    """Velocity inside [vmin, vmax] by a sigmoid of an unconstrained field."""

    def __init__(self, nx, vmin, vmax):
        super().__init__()
        self.vmin, self.vmax = vmin, vmax
        self.raw = torch.nn.Parameter(torch.linspace(-1.5, 1.0, nx))

    def velocity(self):
        return self.vmin + (self.vmax - self.vmin) * torch.sigmoid(self.raw)


def true_velocity(nx):
    v = torch.full((nx,), 1800.0)
    v[nx // 3:] = 2300.0
    v[nx // 2: nx // 2 + 5] = 2000.0
    v[2 * nx // 3:] = 2700.0
    return v


def roughness(vel):
    """total variation, relative to 1 km/s"""
    return (vel[1:] - vel[:-1]).abs().mean() / 1000.0


def invert(cfg):
    model = EarthModel(cfg["nx"], cfg["vmin"], cfg["vmax"])
    truth = true_velocity(cfg["nx"])
    history = []
    for f in cfg["bands"]:
        wavelet = ricker(f, cfg["nt"], cfg["dt"])
        with torch.no_grad():
            observed = propagate(truth, wavelet, cfg["dx"], cfg["dt"])
        scale = observed.pow(2).mean()
        optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=cfg["max_iter"], history_size=6)

        for it in range(cfg["steps_per_band"]):
            vel = model.velocity()
            tv = roughness(vel)

            def closure():
                optimizer.zero_grad()
                predicted = propagate(vel, wavelet, cfg["dx"], cfg["dt"])
                misfit = (predicted - observed).pow(2).mean() / scale
                loss = misfit + cfg["tv"] * tv
                loss.backward(retain_graph=True)
                return loss

            loss = optimizer.step(closure)
            history.append(loss.item())
            print("band %4.1f Hz  it %d  loss %.6f" % (f, it, loss.item()))
    return model, truth, history


def main():
    torch.manual_seed(CONFIG["seed"])
    model, truth, history = invert(CONFIG)
    err = (model.velocity().detach() - truth).abs().mean().item()
    print("mean error %.4f m/s, best loss %.6f" % (err, min(history)))


if __name__ == "__main__":
    main()
