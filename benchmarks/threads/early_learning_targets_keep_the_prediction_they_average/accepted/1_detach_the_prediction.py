"""Early-learning regularisation (ELR) against noisy labels, on Gaussian blobs."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(21)
N, DIM, CLASSES, NOISE = 192, 8, 4, 0.4


def blobs():
    centres = 1.6 * torch.randn(CLASSES, DIM)
    true = torch.arange(N) % CLASSES
    x = centres[true] + torch.randn(N, DIM)
    noisy = true.clone()
    flip = torch.rand(N) < NOISE
    noisy[flip] = torch.randint(0, CLASSES, (int(flip.sum()),))
    return x, noisy, true


class ELRLoss(nn.Module):
    """Cross entropy plus lambda * log(1 - <target, prediction>), targets by temporal ensembling."""

    def __init__(self, num_examples, num_classes, beta=0.7, lam=3.0):
        super().__init__()
        self.target = torch.zeros(num_examples, num_classes)
        self.beta, self.lam = beta, lam

    def forward(self, index, output, label):
        pred = F.softmax(output, dim=1).clamp(1e-4, 1.0 - 1e-4)
        norm = pred.detach()
        norm = norm / norm.sum(dim=1, keepdim=True)
        self.target[index] = self.beta * self.target[index] + (1 - self.beta) * norm
        ce = F.cross_entropy(output, label)
        reg = (1 - (self.target[index] * pred).sum(dim=1)).log().mean()
        return ce + self.lam * reg, ce, reg


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(DIM, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, CLASSES))

    def forward(self, x):
        return self.f(x)


class Trainer:
    def __init__(self, model, criterion, data):
        self.model, self.criterion = model, criterion
        self.x, self.noisy, self.true = data
        self.opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-3)
        self.sched = torch.optim.lr_scheduler.MultiStepLR(self.opt, [3], gamma=0.1)

    def train_epoch(self):
        totals = torch.zeros(2)
        for index in torch.randperm(N).split(48):
            output = self.model(self.x[index])
            loss, ce, reg = self.criterion(index, output, self.noisy[index])
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            totals += torch.tensor([ce.item(), reg.item()]) * len(index) / N
        self.sched.step()
        return totals

    @torch.no_grad()
    def report(self, epoch, totals):
        acc = (self.model(self.x).argmax(1) == self.true).float().mean()
        kept = (self.criterion.target.argmax(1) == self.true).float().mean()
        print(f"epoch {epoch} ce {totals[0]:.4f} reg {totals[1]:.4f} true accuracy {acc:.3f} targets {kept:.3f}")


def main():
    data = blobs()
    trainer = Trainer(Net(), ELRLoss(N, CLASSES), data)
    for epoch in range(4):
        totals = trainer.train_epoch()
        trainer.report(epoch, totals)


if __name__ == "__main__":
    main()
