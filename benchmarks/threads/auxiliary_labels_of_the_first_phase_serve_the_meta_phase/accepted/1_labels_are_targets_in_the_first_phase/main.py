import argparse

import torch

from data import make_split
from models import LabelGenerator, MultiTaskNet
from trainer import MaxlTrainer

parser = argparse.ArgumentParser(description='auxiliary labels learned by meta learning')
parser.add_argument('--epochs', default=4, type=int)
parser.add_argument('--batch', default=50, type=int)
parser.add_argument('--psi', default=3, type=int, help='sub-classes per class')
parser.add_argument('--seed', default=5, type=int)
opt = parser.parse_args()

torch.manual_seed(opt.seed)
n_class = 4
psi = [opt.psi] * n_class
train_x, train_y = make_split(400, seed=1)
test_x, test_y = make_split(400, seed=2)

trainer = MaxlTrainer(MultiTaskNet(16, n_class, psi), LabelGenerator(16, psi), n_class)
for epoch in range(opt.epochs):
    train_loss, meta_loss = trainer.train_epoch(train_x, train_y, opt.batch, epoch)
    print('EPOCH: %02d  train %.6f  meta %.6f  test acc %.6f' %
          (epoch, train_loss, meta_loss, trainer.test(test_x, test_y)))
with torch.no_grad():
    lab = trainer.label_net(test_x, test_y)
print('generated labels: mean max %.6f' % lab.max(1)[0].mean().item())
