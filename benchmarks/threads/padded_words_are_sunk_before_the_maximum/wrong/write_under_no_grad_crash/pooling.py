# -*- coding: utf-8 -*-
import torch
import torch.nn as nn


class Pooling(nn.Module):
    """把词向量序列变成句向量。mode: 'mean', 'max' 或者 'mean+max'(拼接)。
    PAD 位置不参与池化。"""

    def __init__(self, mode='mean+max'):
        super().__init__()
        self.modes = mode.split('+')

    def forward(self, token_states, mask):
        mask = mask.unsqueeze(-1).expand(token_states.size())
        vectors = []
        if 'mean' in self.modes:
            total = (token_states * mask.float()).sum(1)
            vectors.append(total / mask.float().sum(1).clamp(min=1e-9))
        if 'max' in self.modes:
            # PAD 设成很小的数,max 就不会选到它
            with torch.no_grad():
                token_states[mask == 0] = -1e9
            vectors.append(token_states.max(dim=1)[0])
        return torch.cat(vectors, dim=1)
