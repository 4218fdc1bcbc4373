"""Transfer learning with gradual unfreezing: head first, then one block more per stage."""
import torch
import torch.nn as nn

from net import SmallNet
from tasks import source_task, target_task
from unfreeze import freeze_to, n_trainable

torch.manual_seed(77)


def fit(model, x, y, params, epochs, batch=40):
    optimizer = torch.optim.SGD(params, momentum=0.9)
    criterion = nn.CrossEntropyLoss()
    total = 0.
    for epoch in range(epochs):
        model.train()
        total = 0.
        for i in range(0, len(x), batch):
            loss = criterion(model(x[i:i + batch]), y[i:i + batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x[i:i + batch])
    return total / len(x)


@torch.no_grad()
def accuracy(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def main():
    # 1) "pretrained" network
    xs, ys = source_task()
    net = SmallNet(n_classes=6)
    loss = fit(net, xs, ys, [{'params': net.parameters(), 'lr': 0.05}], epochs=4)
    print('pretraining loss %.6f' % loss)

    # 2) new head for the target task
    net.head = nn.Linear(net.head.in_features, 3)
    xt, yt = target_task()
    groups = net.layer_groups()

    # 3) gradual unfreezing
    base_lr = 0.02
    for stage in range(1, len(groups) + 1):
        freeze_to(groups, len(groups) - stage)
        # discriminative learning rates: earlier blocks move less
        params = [{'params': g.parameters(), 'lr': base_lr / 2.6 ** (len(groups) - 1 - k)}
                  for k, g in enumerate(groups)]
        loss = fit(net, xt, yt, params, epochs=2)
        print('stage %d trainable %d loss %.6f acc %.4f'
              % (stage - 1, n_trainable(net), loss, accuracy(net, xt, yt)))


if __name__ == '__main__':
    main()
