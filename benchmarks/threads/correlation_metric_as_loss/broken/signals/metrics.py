"""Metrics for the report."""
import numpy as np
import torch


def _np(t):
    return t.data.cpu().numpy()


def concordance(pred, true):
    a, b = _np(pred), _np(true)
    am, bm = a - np.mean(a), b - np.mean(b)
    cov = np.mean(am * bm)
    ccc = 2 * cov / (np.var(a) + np.var(b) + np.square(np.mean(a) - np.mean(b)))
    return torch.as_tensor(ccc)


def nrmse(pred, true):
    a, b = _np(pred), _np(true)
    return torch.as_tensor(np.sqrt(np.mean((a - b) ** 2)) / (np.max(b) - np.min(b)))
