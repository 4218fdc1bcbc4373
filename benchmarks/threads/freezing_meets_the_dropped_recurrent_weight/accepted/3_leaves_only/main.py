import torch
from learner import Learner
from models import TextClassifier


def make_data(n, g, vocab=15, length=6):
    x = torch.randint(0, vocab, (n, length), generator=g)
    return x, (x[:, :3].sum(1) > x[:, 3:].sum(1)).long()


if __name__ == '__main__':
    torch.manual_seed(4)
    g = torch.Generator().manual_seed(40)
    learn = Learner(TextClassifier(vocab=15, dim=8, hidden=12), lr=0.1)
    learn.fit('whole', [make_data(16, g) for _ in range(3)])
    learn.freeze_to(-1)                  # 只训练分类头
    learn.fit('head', [make_data(16, g) for _ in range(4)])
    learn.unfreeze()                     # 全部放开
    learn.fit('whole again', [make_data(16, g) for _ in range(4)])
    print('recurrent weight %.6f' % learn.model.rnn.weight_hh_raw.norm().item())
