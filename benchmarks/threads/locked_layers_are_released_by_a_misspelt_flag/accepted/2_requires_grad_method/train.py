import torch
import torch.nn.functional as F


def train_layers(model, layer, loader, epochs):
    """
    逐层贪婪预训练: 只训练第 layer 层, 已经训练好的层保持不变
    """
    params = filter(lambda p: p.requires_grad, model.parameters())
    optimizer = torch.optim.Adam(params, lr=0.01)
    for epoch in range(epochs):
        total = 0.0
        for (x,) in loader:
            out = model(x, depth=layer + 1)
            loss = F.mse_loss(out, x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print('layer %d, epoch %d, loss %.6f' % (layer, epoch, total / len(loader)))
    model.layers[layer].lock_grad()


def test_loss(model, loader):
    with torch.no_grad():
        return sum(F.mse_loss(model(x), x).item() for (x,) in loader) / len(loader)


def train_whole(model, train_loader, test_loader, epochs):
    print('>> start training whole model')
    # 解锁所有层
    for layer in model.layers:
        layer.acquire_grad()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    for epoch in range(epochs):
        total = 0.0
        for (x,) in train_loader:
            out = model(x)
            loss = F.mse_loss(out, x)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print('whole, epoch %d, loss %.6f, test loss %.6f' % (epoch, total / len(train_loader), test_loss(model, test_loader)))
