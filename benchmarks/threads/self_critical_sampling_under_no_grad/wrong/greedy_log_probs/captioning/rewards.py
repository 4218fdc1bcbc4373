"""Rewards of captions: n-gram overlap, in plain Python."""
from collections import Counter

import numpy as np
import torch


def words(row):
    out = []
    for w in row:
        if w == 0:
            break
        out.append(int(w))
    return out


def overlap(candidate, reference, n):
    grams = lambda s: Counter(tuple(s[i:i + n]) for i in range(len(s) - n + 1))
    a, b = grams(candidate), grams(reference)
    return sum((a & b).values()) / max(1, sum(b.values()))


def scores(seqs, references):
    return np.array([0.7 * overlap(words(s), words(r), 1) + 0.3 * overlap(words(s), words(r), 2)
                     for s, r in zip(seqs.tolist(), references.tolist())], dtype=np.float32)


def get_self_critical_reward(greedy, gen_result, references):
    reward = scores(gen_result, references) - scores(greedy, references)
    return torch.from_numpy(np.repeat(reward[:, None], gen_result.shape[1], 1))


class RewardCriterion:
    def __call__(self, logprobs, seq, reward):
        mask = (seq > 0).float()
        mask = torch.cat([mask.new_ones(mask.shape[0], 1), mask[:, :-1]], 1)
        return (-logprobs * reward * mask).sum() / mask.sum()
