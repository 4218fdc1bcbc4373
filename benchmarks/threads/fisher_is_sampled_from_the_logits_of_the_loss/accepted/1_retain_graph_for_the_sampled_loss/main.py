"""Train MLP with K-FAC (Fisher from the model's own distribution)."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from data import loader, two_spirals
from kfac import KFACOptimizer

torch.manual_seed(0)

net = nn.Sequential(
    nn.Linear(2, 24), nn.Tanh(),
    nn.Linear(24, 24), nn.Tanh(),
    nn.Linear(24, 3),
)
criterion = nn.CrossEntropyLoss()
optimizer = KFACOptimizer(net, lr=0.05)
x_train, y_train = two_spirals()


def train(epoch):
    net.train()
    train_loss, correct, total = 0.0, 0, 0
    for inputs, targets in loader(x_train, y_train, 80):
        optimizer.zero_grad()
        outputs = net(inputs)
        loss = criterion(outputs, targets)
        if optimizer.steps % optimizer.TCov == 0:
            # compute true fisher
            optimizer.acc_stats = True
            with torch.no_grad():
                sampled_y = torch.multinomial(F.softmax(outputs, dim=1), 1).squeeze(1)
            loss_sample = criterion(outputs, sampled_y)
            loss_sample.backward(retain_graph=True)
            optimizer.acc_stats = False
            optimizer.zero_grad()  # clear the gradient for computing true-fisher.
        loss.backward()
        optimizer.step()

        train_loss += loss.item() * len(inputs)
        correct += (outputs.argmax(1) == targets).sum().item()
        total += len(inputs)
    print('Epoch: %d  Loss: %.6f | Acc: %.6f' % (epoch, train_loss / total, correct / total))


for epoch in range(6):
    train(epoch)
