# Podado + fine-tuning: se poda toda la red, se congelan las capas convolucionales y se reentrena la cabeza
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils import prune

torch.manual_seed(8)


class SmallNet(nn.Module):
    """clasificador de señales ECG (juguete)"""

    def __init__(self, n_classes=3):
        super().__init__()
        self.conv1 = nn.Conv1d(1, 6, 5, padding=2)
        self.conv2 = nn.Conv1d(6, 8, 5, padding=2)
        self.fc1 = nn.Linear(8 * 8, 16)
        self.fc2 = nn.Linear(16, n_classes)

    def forward(self, x):
        x = F.max_pool1d(torch.tanh(self.conv1(x)), 2)
        x = F.max_pool1d(torch.tanh(self.conv2(x)), 2)
        return self.fc2(torch.tanh(self.fc1(x.flatten(1))))


def latidos(n):
    y = torch.randint(0, 3, (n,))
    t = torch.linspace(-1, 1, 32)
    ancho = torch.tensor([0.05, 0.15, 0.3])[y][:, None]
    x = torch.exp(-(t + 0.2 * torch.randn(n, 1)) ** 2 / ancho ** 2) + 0.1 * torch.randn(n, 32)
    return x[:, None], y


def entrenar(model, optimizer, x, y, pasos, nombre):
    for i in range(pasos):
        idx = torch.randint(0, len(x), (16,))
        loss = F.cross_entropy(model(x[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        acc = (model(x).argmax(1) == y).float().mean().item()
    print("%s  loss %.5f  acc %.4f" % (nombre, loss.item(), acc))


def podar(model, amount):
    for name, module in model.named_modules():
        if isinstance(module, (nn.Conv1d, nn.Linear)):
            prune.l1_unstructured(module, name="weight", amount=amount)


def congelar(*layers):
    for layer in layers:
        layer.bias.requires_grad = False


def esparsidad(model):
    ceros, total = 0, 0
    for m in model.modules():
        if hasattr(m, "weight_mask"):
            ceros += int((m.weight == 0).sum())
            total += m.weight.numel()
    return ceros / total


x, y = latidos(96)
model = SmallNet()

# 1) entrenamiento denso
entrenar(model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), x, y, 12, "denso")

# 2) podado
podar(model, amount=0.4)
print("esparsidad %.4f" % esparsidad(model))

# 3) congelar el extractor y reentrenar lo demás
congelar(model.conv1, model.conv2)
antes = model.conv2.weight_orig.detach().clone()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for ronda in range(3):
    entrenar(model, optimizer, x, y, 4, "ronda %d" % ronda)
print("cambio en conv2: %.6f" % (model.conv2.weight_orig - antes).norm().item())
