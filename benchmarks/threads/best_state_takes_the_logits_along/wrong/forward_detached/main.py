from types import SimpleNamespace

import torch

from dataset import citation_graph
from gcn import GCN
from trainer import Trainer

cfg = SimpleNamespace(hidden=16, dropout=0.5, lr=0.02, weight_decay=5e-4, epochs=30, patience=8, seed=3)


def main():
    torch.manual_seed(cfg.seed)
    graph = citation_graph(n=150, n_classes=3, n_words=40)
    model = GCN(graph.x.size(1), cfg.hidden, 3, cfg.dropout)
    trainer = Trainer(model, graph, cfg)
    best = trainer.fit()
    print('best epoch %d, val loss %.4f, test accuracy %.4f' % (best['epoch'], best['val_loss'], trainer.test()))
    confident = torch.softmax(best['logits'], 1).max(1).values
    print('mean confidence %.4f' % confident.mean().item())


if __name__ == '__main__':
    main()
