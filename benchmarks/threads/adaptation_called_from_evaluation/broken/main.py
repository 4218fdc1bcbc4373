import torch

from evaluate import evaluate
from tent import Tent, make_model

if __name__ == "__main__":
    torch.manual_seed(77)
    model = make_model()
    source = torch.randn(60, 6)
    y = (source[:, 0] > 0).long()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        opt.zero_grad()
        torch.nn.functional.cross_entropy(model(source), y).backward()
        opt.step()
    shifted = [1.5 * torch.randn(20, 6) + 0.5 for _ in range(5)]
    print("accuracy %.6f, entropy %.6f" % evaluate(Tent(model), shifted))
