"""Adversarial training, one L2 step in the normalised space (the one that the model sees)."""
import torch
import torch.nn as nn
import torch.nn.functional as F

MEAN = torch.tensor([0.48, 0.45, 0.40]).view(1, 3, 1, 1)
STD = torch.tensor([0.10, 0.25, 0.60]).view(1, 3, 1, 1)


def normalize(x):
    return (x - MEAN) / STD


class SmallResNet(nn.Module):
    def __init__(self, n_classes=4, width=8):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, padding=1)
        self.conv1 = nn.Conv2d(width, width, 3, padding=1)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1)
        self.fc = nn.Linear(width, n_classes)

    def forward(self, x):
        x = F.relu(self.stem(x))
        x = x + self.conv2(F.relu(self.conv1(x)))
        return self.fc(F.relu(x).mean((2, 3)))


class AdversarialTrainer:
    def __init__(self, model, lr, eps, trade_off):
        self.model, self.eps, self.trade_off = model, eps, trade_off
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9, weight_decay=5e-4)

    def train_batch(self, images, labels):
        inputs = normalize(images).requires_grad_()
        clean_loss = F.cross_entropy(self.model(inputs), labels)
        self.optimizer.zero_grad()
        clean_loss.backward()

        # an ascent step of length eps, along the gradient of what the model was given
        g = inputs.grad
        g = g / (g.flatten(1).norm(dim=1).view(-1, 1, 1, 1) + 1e-12)
        adv = (inputs + self.eps * g).detach()

        # the clean gradients stay, the robust ones are added
        robust_loss = F.cross_entropy(self.model(adv), labels)
        (self.trade_off * robust_loss).backward()
        self.optimizer.step()
        return clean_loss.item(), robust_loss.item()


def batches(n_batches, n=16):
    for _ in range(n_batches):
        y = torch.randint(0, 4, (n,))
        x = MEAN + 0.3 * STD * torch.randn(n, 3, 6, 6)
        for i, c in enumerate(y.tolist()):
            x[i, c % 3] += 0.6 * STD[0, c % 3, 0, 0] * (1 if c < 3 else -1)
        yield x, y


if __name__ == '__main__':
    torch.manual_seed(85)
    trainer = AdversarialTrainer(SmallResNet(), lr=0.08, eps=2.0, trade_off=0.7)
    for i, (x, y) in enumerate(batches(8)):
        c, r = trainer.train_batch(x, y)
        print(f'{i} clean {c:.5f} robust {r:.5f} gap {r - c:.5f}')
