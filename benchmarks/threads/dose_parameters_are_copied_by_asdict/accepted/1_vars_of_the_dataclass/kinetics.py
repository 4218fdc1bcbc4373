from dataclasses import dataclass

import torch


@dataclass
class Rates:
    ka: torch.Tensor       # absorption 1/h
    ke: torch.Tensor       # elimination 1/h
    volume: torch.Tensor   # litres
    lag: torch.Tensor      # h

    @classmethod
    def guess(cls):
        def leaf(v):
            return torch.tensor(v, requires_grad=True)
        return cls(ka=leaf(0.7), ke=leaf(0.4), volume=leaf(25.0), lag=leaf(0.2))

    def __str__(self):
        return "ka %.4f ke %.4f V %.3f lag %.4f" % (self.ka.item(), self.ke.item(), self.volume.item(), self.lag.item())


def simulate(times, doses, ka, ke, volume, lag):
    """explicit midpoint rule, gut -> blood; the absorption sets in smoothly after the lag"""
    dt = times[1] - times[0]
    gut, blood = doses, torch.zeros_like(doses)
    out = [blood / volume]

    def rate(t, g, b):
        on = torch.sigmoid((t - lag) * 8)
        return -ka * on * g, ka * on * g - ke * b

    for t in times[:-1]:
        dg, db = rate(t, gut, blood)
        dg, db = rate(t + dt / 2, gut + dt / 2 * dg, blood + dt / 2 * db)
        gut, blood = gut + dt * dg, blood + dt * db
        out.append(blood / volume)
    return torch.stack(out, 1)
