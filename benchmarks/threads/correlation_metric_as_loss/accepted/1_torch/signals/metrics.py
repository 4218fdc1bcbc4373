"""Metrics for the report."""
import numpy as np
import torch


def _np(t):
    return t


def concordance(pred, true):
    a, b = _np(pred), _np(true)
    am, bm = a - torch.mean(a), b - torch.mean(b)
    cov = torch.mean(am * bm)
    ccc = 2 * cov / (torch.var(a, correction=0) + torch.var(b, correction=0) + torch.square(torch.mean(a) - torch.mean(b)))
    return ccc


def nrmse(pred, true):
    a, b = _np(pred), _np(true)
    return torch.sqrt(torch.mean((a - b) ** 2)) / (torch.max(b) - torch.min(b))
