# -*- coding: utf-8 -*-
# CenterNet 风格的小检测器：两级 hourglass，第一级的热图送回第二级
import torch

from opts import opts
from dataset import ToyBoxes
from networks import StackedHourglass
from trains import CtdetTrainer


def main(opt):
    torch.manual_seed(opt.seed)
    model = StackedHourglass(opt.num_classes, opt.head_conv, opt.num_stacks)
    optimizer = torch.optim.Adam(model.parameters(), opt.lr)
    loader = torch.utils.data.DataLoader(ToyBoxes(opt.num_images, opt.num_classes, opt.seed), batch_size=opt.batch_size)
    trainer = CtdetTrainer(opt, model, optimizer)
    for epoch in range(1, opt.num_epochs + 1):
        log = trainer.run_epoch(loader)
        print('epoch: {} | '.format(epoch) + ' | '.join('{} {:.6f}'.format(k, v) for k, v in log.items()))


if __name__ == '__main__':
    main(opts().parse())
