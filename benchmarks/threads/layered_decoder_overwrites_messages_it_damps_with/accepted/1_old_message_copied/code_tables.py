import torch


def parity_checks():
    """(15, 10) toy code, H = [P | I]"""
    P = torch.tensor([[1, 1, 0, 1, 0, 0, 1, 0, 0, 1],
                      [0, 1, 1, 0, 1, 0, 0, 1, 0, 0],
                      [1, 0, 1, 0, 0, 1, 0, 0, 1, 0],
                      [0, 0, 0, 1, 1, 1, 0, 0, 0, 1],
                      [1, 0, 0, 0, 1, 0, 1, 1, 1, 0]])
    return torch.cat([P, torch.eye(5, dtype=torch.long)], dim=1)
