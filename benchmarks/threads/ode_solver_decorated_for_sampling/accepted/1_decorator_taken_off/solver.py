import torch


def euler_step(f, t, dt, y):
    return y + dt * f(t, y)


def midpoint_step(f, t, dt, y):
    half = y + 0.5 * dt * f(t, y)
    return y + dt * f(t + 0.5 * dt, half)


def rk4_step(f, t, dt, y):
    k1 = f(t, y)
    k2 = f(t + dt / 3, y + dt * k1 / 3)
    k3 = f(t + dt * 2 / 3, y + dt * (k2 - k1 / 3))
    k4 = f(t + dt, y + dt * (k1 - k2 + k3))
    return y + dt * (k1 + 3 * (k2 + k3) + k4) / 8


STEPS = {"euler": euler_step, "midpoint": midpoint_step, "rk4": rk4_step}


def odeint(f, y0, ts, method="rk4"):
    """Solution at all times in ts (the first one is y0's), shape (len(ts), *y0.shape)."""
    step = STEPS[method]
    ys = [y0]
    y = y0
    for t0, t1 in zip(ts[:-1], ts[1:]):
        y = step(f, t0, t1 - t0, y)
        ys.append(y)
    return torch.stack(ys)
