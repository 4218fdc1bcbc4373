"""Product quantisation retrieval: the codebook is fine-tuned on triplets through
the distance table that is used at search time."""
import torch as T
import torch.nn as nn
import torch.nn.functional as F

N_BOOKS, N_WORDS, L_WORD = 3, 5, 4


def table_of(C, q_x):
    # C: N_WORDS x (N_BOOKS * L_WORD), q_x: one query
    l1, l2 = C.shape
    L = int(l2 / N_BOOKS)
    D_C = T.zeros((l1, N_BOOKS), dtype=T.float32)

    q_x_split = T.split(q_x, L, 0)
    C_split = T.split(C, L, 1)

    for j in range(N_BOOKS):
        for k in range(l1):
            D_C[k, j] = T.norm(q_x_split[j] - C_split[j][k], 2)
    return D_C


def soft_codes(C, x, temperature=2.0):
    """soft assignment of an item to the words of each book"""
    codes = []
    for c, part in zip(T.split(C, L_WORD, 1), T.split(x, L_WORD, 0)):
        codes.append(F.softmax(-temperature * (part - c).pow(2).sum(1), dim=0))
    return T.stack(codes, 1)                    # N_WORDS x N_BOOKS


class Retrieval(nn.Module):
    def __init__(self, n_in=7):
        super().__init__()
        self.F = nn.Sequential(nn.Linear(n_in, 16), nn.ReLU(), nn.Linear(16, N_BOOKS * L_WORD))
        self.C = nn.Parameter(T.randn(N_WORDS, N_BOOKS * L_WORD))

    def distance(self, table, item):
        return (table * soft_codes(self.C.detach(), item)).sum()

    def triplet(self, q, pos, neg, margin=1.0):
        q, pos, neg = self.F(q), self.F(pos), self.F(neg)
        loss = 0
        for a, p, n in zip(q, pos, neg):
            table = table_of(self.C, a)
            loss = loss + F.relu(margin + self.distance(table, p) - self.distance(table, n))
        return loss / len(q)


def triplets(n, g):
    centre = T.randn(4, 7, generator=g)
    a, b = T.randint(0, 4, (n,), generator=g), T.randint(1, 4, (n,), generator=g)
    noise = lambda: 0.2 * T.randn(n, 7, generator=g)
    return centre[a] + noise(), centre[a] + noise(), centre[(a + b) % 4] + noise()


if __name__ == '__main__':
    T.manual_seed(1)
    g = T.Generator().manual_seed(9)
    net = Retrieval()
    opt = T.optim.Adam([{'params': net.F.parameters()}, {'params': [net.C], 'lr': 0.03}], lr=0.01)
    for epoch in range(7):
        loss = net.triplet(*triplets(6, g))
        opt.zero_grad()
        loss.backward()
        opt.step()
        print('epoch', epoch, 'triplet %.6f' % loss.item(), 'codebook %.6f' % net.C.norm().item())
