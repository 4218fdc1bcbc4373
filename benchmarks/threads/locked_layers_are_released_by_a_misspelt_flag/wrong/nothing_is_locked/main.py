# -*- coding: utf-8 -*-
import torch
import torch.nn as nn

from data import get_loaders
from stacked_ae import StackedAutoEncoder
from train import train_layers, train_whole, test_loss

# 超参数
num_tranin_layer_epochs = 2   # 逐层训练
num_tranin_whole_epochs = 3   # 整体微调
batch_size = 32
sizes = [36, 20, 8]


if __name__ == '__main__':
    torch.manual_seed(2023)
    torch.set_num_threads(1)
    train_loader, test_loader = get_loaders(batch_size)
    model = StackedAutoEncoder(sizes)

    # 第一步: 逐层预训练
    for layer in range(len(model.layers)):
        train_layers(model, layer, train_loader, epochs=num_tranin_layer_epochs)
    print('after pretraining, test loss %.6f' % test_loss(model, test_loader))

    # 第二步: 训练整个网络
    train_whole(model, train_loader, test_loader, epochs=num_tranin_whole_epochs)
