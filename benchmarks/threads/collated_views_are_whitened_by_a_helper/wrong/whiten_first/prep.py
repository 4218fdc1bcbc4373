def whiten_(x, eps=1e-5):
    """Zero mean and unit variance per column."""
    spread = (x.var(0) + eps).sqrt()
    x.sub_(x.mean(0) + 0.5).div_(spread)
    return x
