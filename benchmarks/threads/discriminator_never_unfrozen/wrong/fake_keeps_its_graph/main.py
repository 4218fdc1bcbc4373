# Супер-разрешение сигналов с состязательной функцией потерь
from options import parse
from data import SignalDataset
from models import create_model
import torch


def main():
    opt = parse()
    torch.manual_seed(opt.seed)
    dataset = SignalDataset(opt)
    model = create_model(opt)
    for epoch in range(opt.n_epochs):
        for i, data in enumerate(dataset):
            model.set_input(data)
            model.optimize_parameters()
            losses = model.get_current_losses()
            print('(epoch: %d, iter: %d) ' % (epoch, i) + ' '.join('%s: %.6f' % kv for kv in losses.items()))


if __name__ == '__main__':
    main()
