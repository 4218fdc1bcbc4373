import torch


def random_codewords(H, n):
    """systematic encoding for H = [P | I]"""
    m, total = H.shape
    k = total - m
    data = torch.randint(0, 2, (n, k)).float()
    parity = (data @ H[:, :k].float().t()) % 2
    return torch.cat([data, parity], dim=1)


def awgn_llrs(bits, snr_db):
    sigma2 = 10 ** (-snr_db / 10)
    y = (1 - 2 * bits) + sigma2 ** 0.5 * torch.randn_like(bits)
    return 2 * y / sigma2
