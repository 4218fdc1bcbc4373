import torch

from engine import evaluate, train_one_epoch
from model import SharedTrunkNet, UncertaintyWeightedLoss

opts = {
    'epochs': 3,
    'lr': 1e-2,
    'batch': 16,
    'quick_val': 2,      # batches of the validation during training, None = all
    'seed': 5,
}


def synth(n):
    w = torch.Generator().manual_seed(77)
    proj, dvec = torch.randn(10, 4, generator=w), torch.randn(10, generator=w)
    x = torch.randn(n, 10)
    return x, (x @ proj).argmax(1), torch.tanh(x @ dvec)


def loader(tensors, bs):
    return list(zip(*(t.split(bs) for t in tensors)))


def main():
    torch.manual_seed(opts['seed'])
    train_loader = loader(synth(64), opts['batch'])
    val_loader = loader(synth(64), opts['batch'])
    net, crit = SharedTrunkNet(), UncertaintyWeightedLoss()
    optimizer = torch.optim.Adam([{'params': net.parameters()}, {'params': crit.parameters(), 'lr': opts['lr'] * 2}], lr=opts['lr'])
    for epoch in range(opts['epochs']):
        tr = train_one_epoch(net, crit, train_loader, optimizer)
        acc, mae = evaluate(net, crit, val_loader, limit_batches=opts['quick_val'])
        print('Epoch %d - loss %.6f - val acc %.4f - val mae %.5f' % (epoch, tr, acc, mae))
    acc, mae = evaluate(net, crit, val_loader)
    print('final acc %.4f mae %.5f log_vars %.5f %.5f' % (acc, mae, *crit.log_vars.tolist()))


if __name__ == '__main__':
    main()
