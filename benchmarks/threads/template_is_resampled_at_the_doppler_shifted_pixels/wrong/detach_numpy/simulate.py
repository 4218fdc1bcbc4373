import numpy as np
import torch

C_KMS = 299792.458


def make_template(n=600, lo=5000.0, hi=5050.0):
    rng = np.random.RandomState(3)
    w = np.linspace(lo - 3, hi + 3, n)
    f = np.ones(n)
    for _ in range(25):
        f -= rng.uniform(0.1, 0.5) * np.exp(-0.5 * ((w - rng.uniform(lo, hi)) / rng.uniform(0.3, 0.6)) ** 2)
    return w, f.clip(0.05)


def make_exposures(n, seed):
    rng = np.random.RandomState(seed)
    grid, template = make_template()
    wave = np.linspace(5000.0, 5050.0, 250)
    v = rng.uniform(-15, 15, n)
    flux = np.empty((n, len(wave)))
    for i in range(n):
        cont = 1 + rng.normal(0, 0.05) + rng.normal(0, 0.05) * np.linspace(-1, 1, len(wave))
        flux[i] = cont * np.interp(wave / (1 + v[i] / C_KMS), grid, template)
    flux += 0.01 * rng.randn(*flux.shape)
    ivar = np.full_like(flux, 1 / 0.01 ** 2)
    t = lambda a: torch.tensor(a, dtype=torch.float64)
    return t(grid), t(template), t(wave), t(flux), t(ivar), t(v)
