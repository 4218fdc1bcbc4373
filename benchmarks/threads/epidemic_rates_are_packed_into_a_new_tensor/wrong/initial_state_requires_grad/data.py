import numpy as np
import torch


def observed_epidemic(days, beta=0.55, gamma=0.15, i0=0.02, sub=10):
    """Noisy shares of susceptible / infected / recovered, one row a day."""
    y = np.array([1.0 - i0, i0, 0.0])
    rows = [y.copy()]
    h = 1.0 / sub
    for _ in range(days - 1):
        for _ in range(sub):
            new = beta * y[0] * y[1]
            rec = gamma * y[1]
            y = y + h * np.array([-new, new - rec, rec])
        rows.append(y.copy())
    rows = np.stack(rows) + 0.005 * np.random.randn(days, 3)
    return torch.arange(days, dtype=torch.float32), torch.tensor(rows, dtype=torch.float32)
