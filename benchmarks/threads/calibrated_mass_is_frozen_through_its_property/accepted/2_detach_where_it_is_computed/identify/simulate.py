import torch


def simulate(body, x0, v0, inputs, dt, hooked):
    """semi-implicit Euler. inputs (T, B) -> positions (T, B)"""
    x, v, out = x0, v0, []
    for u in inputs:
        v = v + dt * body.acceleration(x, v, u, hooked)
        x = x + dt * v
        out.append(x)
    return torch.stack(out)
