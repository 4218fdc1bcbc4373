import torch
import torch.nn as nn


class CRF(nn.Module):
    """linear chain CRF, batch first. mask: (B,T) bool, the first step is always on"""

    def __init__(self, n):
        super().__init__()
        self.n = n
        self.start = nn.Parameter(torch.randn(n) * .1)
        self.stop = nn.Parameter(torch.randn(n) * .1)
        self.trans = nn.Parameter(torch.randn(n, n) * .1)   # trans[i, j] : i -> j

    def score(self, em, tags, mask):
        B, T = tags.shape
        m = mask.float()
        s = self.start[tags[:, 0]] + em[:, 0].gather(1, tags[:, :1]).squeeze(1)
        for t in range(1, T):
            step = self.trans[tags[:, t - 1], tags[:, t]] + em[:, t].gather(1, tags[:, t:t + 1]).squeeze(1)
            s = s + step * m[:, t]
        last = tags.gather(1, mask.long().sum(1, keepdim=True) - 1).squeeze(1)
        return s + self.stop[last]

    def log_partition(self, em, mask):
        T = em.size(1)
        alpha = self.start + em[:, 0]
        for t in range(1, T):
            cur = alpha.unsqueeze(2) + self.trans.unsqueeze(0) + em[:, t].unsqueeze(1)
            new_alpha = torch.logsumexp(cur, dim=1)
            # 已经结束的句子保持原来的 alpha
            done = ~mask[:, t]
            new_alpha.data[done] = alpha.data[done]
            alpha = new_alpha
        return torch.logsumexp(alpha + self.stop, dim=1)
