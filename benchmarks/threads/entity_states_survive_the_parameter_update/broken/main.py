import torch

from loop import SLCWATrainingLoop, mean_reciprocal_rank
from model import RGCN
from triples import TriplesFactory


def pipeline(num_epochs=4, lr=0.02):
    torch.manual_seed(11)
    factory = TriplesFactory()
    model = RGCN(factory)
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    loop = SLCWATrainingLoop(model, factory, optimizer)
    for epoch in range(1, num_epochs + 1):
        loss = loop.train_epoch()
        mrr = mean_reciprocal_rank(model, factory.testing)
        print(f"[{epoch:02d}] loss={loss:.5f} mrr={mrr:.4f}")


if __name__ == "__main__":
    pipeline()
