import numpy as np
import torch


def make_sessions(n, n_items):
    out = []
    for _ in range(n):
        start, length = np.random.randint(n_items), np.random.randint(3, 7)
        out.append([(start + k * (1 + start % 3)) % n_items for k in range(length)])
    return out


class SessionDataLoader(object):
    """session-parallel mini-batches; mask: which rows begin a new session"""

    def __init__(self, sessions, batch_size):
        self.sessions, self.batch_size = sessions, batch_size

    def __iter__(self):
        rows = list(range(self.batch_size))
        pos = [0] * self.batch_size
        nxt = self.batch_size
        mask = []
        while True:
            cur = [self.sessions[r] for r in rows]
            yield (torch.LongTensor([s[p] for s, p in zip(cur, pos)]),
                   torch.LongTensor([s[p + 1] for s, p in zip(cur, pos)]), mask)
            mask = []
            for b in range(self.batch_size):
                pos[b] += 1
                if pos[b] + 1 >= len(self.sessions[rows[b]]):
                    if nxt >= len(self.sessions):
                        return
                    rows[b], pos[b] = nxt, 0
                    nxt += 1
                    mask.append(b)
