import numpy as np

SR = 4000


def bell(seconds=0.25, seed=0):
    """A struck bell: five inharmonic partials that die away, a bit of noise."""
    rng = np.random.RandomState(seed)
    t = np.arange(int(SR * seconds)) / SR
    freqs = [221.3, 441.9, 529.4, 664.8, 902.6]
    amps = [0.6, 1.0, 0.55, 0.35, 0.3]
    decays = [3.0, 5.0, 6.5, 8.0, 12.0]
    phases = rng.uniform(-np.pi, np.pi, len(freqs))
    y = sum(a * np.exp(-d * t) * np.sin(2 * np.pi * f * t + p) for f, a, d, p in zip(freqs, amps, decays, phases))
    return (y + 0.005 * rng.randn(len(t))).astype(np.float32)
