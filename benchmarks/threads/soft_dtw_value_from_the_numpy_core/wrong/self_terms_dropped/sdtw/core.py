import numpy as np


def compute_softdtw(D, gamma):
    B, N, M = D.shape
    R = np.full((B, N + 2, M + 2), np.inf)
    R[:, 0, 0] = 0
    for j in range(1, M + 1):
        for i in range(1, N + 1):
            r = -np.stack([R[:, i - 1, j - 1], R[:, i - 1, j], R[:, i, j - 1]]) / gamma
            rmax = r.max(axis=0)
            softmin = -gamma * (np.log(np.exp(r - rmax).sum(axis=0)) + rmax)
            R[:, i, j] = D[:, i - 1, j - 1] + softmin
    return R


def compute_softdtw_backward(D_, R, gamma):
    B, N, M = D_.shape
    D = np.zeros((B, N + 2, M + 2))
    D[:, 1:N + 1, 1:M + 1] = D_
    E = np.zeros((B, N + 2, M + 2))
    E[:, -1, -1] = 1
    R = R.copy()
    R[:, :, -1] = -np.inf
    R[:, -1, :] = -np.inf
    R[:, -1, -1] = R[:, -2, -2]
    for j in range(M, 0, -1):
        for i in range(N, 0, -1):
            a = np.exp((R[:, i + 1, j] - R[:, i, j] - D[:, i + 1, j]) / gamma)
            b = np.exp((R[:, i, j + 1] - R[:, i, j] - D[:, i, j + 1]) / gamma)
            c = np.exp((R[:, i + 1, j + 1] - R[:, i, j] - D[:, i + 1, j + 1]) / gamma)
            E[:, i, j] = E[:, i + 1, j] * a + E[:, i, j + 1] * b + E[:, i + 1, j + 1] * c
    return E[:, 1:N + 1, 1:M + 1]
