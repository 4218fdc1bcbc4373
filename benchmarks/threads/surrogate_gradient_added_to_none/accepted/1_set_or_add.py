import torch
import torch.nn as nn
import torch.nn.functional as F


class Reconstruction:
    """Recovers a batch from the gradients that it left on a model."""

    def __init__(self, model, shared_grads, labels, shape):
        self.model, self.shared, self.labels = model, shared_grads, labels
        self.x = torch.zeros(shape, requires_grad=True)
        self.alpha = torch.tensor([0.4], requires_grad=True)
        self.rec_opti = torch.optim.Adam([self.x], lr=0.1)
        self.alpha_opti = torch.optim.Adam([self.alpha], lr=0.02)

    def objective(self):
        loss = F.cross_entropy(self.model(self.x), self.labels)
        grads = torch.autograd.grad(loss, self.model.parameters(), create_graph=True)
        return sum((self.alpha * g - s).pow(2).sum() for g, s in zip(grads, self.shared))

    def step(self):
        self.rec_opti.zero_grad()
        self.alpha_opti.zero_grad()
        for weight in (1.0, 0.5):
            sim = self.objective()
            gx, ga = torch.autograd.grad(weight * sim, [self.x, self.alpha])
            self.x.grad = gx if self.x.grad is None else self.x.grad + gx
            self.alpha.grad = ga if self.alpha.grad is None else self.alpha.grad + ga
        self.rec_opti.step()
        self.alpha_opti.step()
        return sim.item()


def main():
    torch.manual_seed(84)
    model = nn.Sequential(nn.Linear(4, 8), nn.Sigmoid(), nn.Linear(8, 3))
    x, y = torch.randn(3, 4), torch.arange(3)
    shared = [g.detach() for g in torch.autograd.grad(F.cross_entropy(model(x), y), model.parameters())]
    rec = Reconstruction(model, shared, y, x.shape)
    for _ in range(5):
        value = rec.step()
    print(f"{value:.6e} {rec.alpha.item():.6f}")


main()
