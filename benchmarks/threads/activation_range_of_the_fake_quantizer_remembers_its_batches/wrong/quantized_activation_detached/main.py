# 量化感知训练 (QAT) 小例子
import torch
import torch.nn as nn
import torch.nn.functional as F

from dataset import get_loader
from qmodel import QNet


def train(model, loader, optimizer, epoch):
    model.train()
    loss_sum, correct, total = 0., 0, 0
    for data, target in loader:
        optimizer.zero_grad()
        output = model(data)
        loss = F.cross_entropy(output, target)
        loss.backward()
        optimizer.step()
        loss_sum += loss.item() * len(data)
        correct += (output.argmax(1) == target).sum().item()
        total += len(data)
    print('Train Epoch: {} loss: {:.6f} acc: {:.6f}'.format(epoch, loss_sum / total, correct / total))


def test(model, loader):
    model.eval()
    correct, total = 0, 0
    with torch.no_grad():
        for data, target in loader:
            correct += (model(data).argmax(1) == target).sum().item()
            total += len(data)
    print('Test acc: {:.6f}'.format(correct / total))


if __name__ == '__main__':
    torch.manual_seed(1)
    train_loader, test_loader = get_loader(batch_size=40)
    model = QNet(num_bits=4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(1, 6):
        train(model, train_loader, optimizer, epoch)
    test(model, test_loader)
    for name, q in model.named_quantizers():
        print(name, 'amax {:.6f}'.format(float(q.amax)))
