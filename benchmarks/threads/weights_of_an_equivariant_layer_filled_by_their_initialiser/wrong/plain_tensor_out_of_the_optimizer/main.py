import torch
import torch.nn.functional as F

from layers import SteerableCNN
from shapes import PATTERNS, dataset

torch.manual_seed(31)
g = torch.Generator().manual_seed(31)
train_x, train_y = dataset(128, g)
test_x, test_y = dataset(64, g)

model = SteerableCNN(classes=len(PATTERNS))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-2)


def test():
    model.eval()
    with torch.no_grad():
        plain = model(test_x).argmax(1)
        turned = model(test_x.rot90(1, (2, 3))).argmax(1)
    return (plain == test_y).float().mean().item(), (plain == turned).float().mean().item()


for epoch in range(4):
    model.train()
    total = 0.0
    for index in torch.randperm(len(train_x), generator=g).split(32):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(train_x[index]), train_y[index])
        loss.backward()
        optimizer.step()
        total += loss.item() / 4
    accuracy, agreement = test()
    print("epoch %d | loss %.5f | accuracy %.3f | agreement %.3f" % (epoch, total, accuracy, agreement))
