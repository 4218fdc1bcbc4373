import argparse
import torch
from data import make_loader
from trainer import AAETrainer

parser = argparse.ArgumentParser()
parser.add_argument('--epochs', type=int, default=3)
parser.add_argument('--batch_size', type=int, default=32)
parser.add_argument('--z_dim', type=int, default=4)
parser.add_argument('--lr_rec', type=float, default=2e-3)
parser.add_argument('--lr_reg', type=float, default=1e-3)
parser.add_argument('--seed', type=int, default=10)
args = parser.parse_args([])

torch.manual_seed(args.seed)

if __name__ == '__main__':
    loader = make_loader(args.batch_size)
    trainer = AAETrainer(args, x_dim=36)
    for epoch in range(args.epochs):
        stats = trainer.train_epoch(loader)
        print('Epoch %d | recon %.6f | D %.6f | G %.6f' % (epoch, *stats))
