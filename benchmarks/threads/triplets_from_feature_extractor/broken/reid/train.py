import torch
import torch.nn.functional as F

from .evaluate import recall_at_1
from .features import extract


def hardest(anchors, gallery, labels, gallery_labels):
    """indices of the farthest positive and the nearest negative of every anchor"""
    d = torch.cdist(anchors, gallery)
    same = labels[:, None] == gallery_labels[None]
    pos = d.masked_fill(~same, -1.).argmax(1)
    neg = d.masked_fill(same, float('inf')).argmin(1)
    return pos, neg


class TripletTrainer:
    def __init__(self, model, cfg):
        self.model = model
        self.cfg = cfg
        self.optimizer = torch.optim.SGD(model.parameters(), lr=cfg.lr, momentum=0.5)

    def mine(self, x, y):
        emb = extract(self.model, x)
        return hardest(emb, emb, y, y)

    def step(self, x, y):
        pos, neg = self.mine(x, y)
        a = extract(self.model, x)
        p = extract(self.model, x[pos])
        n = extract(self.model, x[neg])
        loss = F.triplet_margin_loss(a, p, n, margin=self.cfg.margin)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    def fit(self, data, query):
        for epoch in range(self.cfg.epochs):
            self.model.train()
            total = 0.
            for x, y in data:
                total += self.step(x, y)
            print('epoch %d  triplet %.6f  R@1 %.3f' % (epoch, total / len(data), recall_at_1(self.model, *query)))
