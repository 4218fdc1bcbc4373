import torch


def ard_rbf(a, b, log_ls, log_os):
    """outputscale * exp(-|a-b|^2 / 2), one lengthscale per input"""
    a, b = a / log_ls.exp(), b / log_ls.exp()
    sq = (a.unsqueeze(1) - b.unsqueeze(0)).pow(2).sum(-1)
    return log_os.exp() * torch.exp(-0.5 * sq)
