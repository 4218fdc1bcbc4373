# -*- coding: utf-8 -*-
# 自我知识蒸馏: 上一个 epoch 的预测作为软标签 (progressive self-knowledge distillation)
import argparse
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import Dataset, DataLoader

parser = argparse.ArgumentParser()
parser.add_argument('--end_epoch', default=4, type=int)
parser.add_argument('--alpha_T', default=0.8, type=float)
parser.add_argument('--lr', default=0.08, type=float)
parser.add_argument('--batch_size', default=16, type=int)
parser.add_argument('--classnum', default=4, type=int)


class Custom_CrossEntropy_PSKD(nn.Module):
    def __init__(self):
        super(Custom_CrossEntropy_PSKD, self).__init__()
        self.logsoftmax = nn.LogSoftmax(dim=1)

    def forward(self, output, targets):
        """output: logits,  targets: 软标签 (概率)"""
        log_probs = self.logsoftmax(output)
        return (-targets * log_probs).mean(0).sum()


class Toy(Dataset):
    def __init__(self, n, classnum):
        self.y = torch.randint(0, classnum, (n,))
        self.x = torch.randn(n, 10) + 1.2 * F.one_hot(self.y, 10)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i], i      # 样本编号也要返回


def train(all_predictions, criterion, optimizer, net, epoch, alpha_t, loader, args):
    train_losses, correct, total = 0., 0, 0
    net.train()
    for batch_idx, (inputs, targets, input_indices) in enumerate(loader):
        targets_one_hot = torch.eye(args.classnum)[targets]
        if epoch == 0:
            all_predictions[input_indices] = targets_one_hot
        # 当前标签 = (1-alpha)*one_hot + alpha*上一轮预测
        soft_targets = ((1 - alpha_t) * targets_one_hot) + (alpha_t * all_predictions[input_indices])
        outputs = net(inputs)
        softmax_output = F.softmax(outputs.detach(), dim=1)
        loss = criterion(outputs, soft_targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        all_predictions[input_indices] = softmax_output
        train_losses += loss.item() * targets.size(0)
        correct += outputs.argmax(1).eq(targets).sum().item()
        total += targets.size(0)
    return train_losses / total, correct / total


def main():
    args = parser.parse_args()
    torch.manual_seed(33)
    dataset = Toy(64, args.classnum)
    loader = DataLoader(dataset, batch_size=args.batch_size, shuffle=True)
    net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, args.classnum))
    criterion = Custom_CrossEntropy_PSKD()
    optimizer = torch.optim.SGD(net.parameters(), lr=args.lr, momentum=0.9, nesterov=True)
    all_predictions = torch.zeros(len(dataset), args.classnum)
    for epoch in range(args.end_epoch):
        alpha_t = args.alpha_T * (epoch + 1) / args.end_epoch
        alpha_t = max(0, alpha_t)
        loss, acc = train(all_predictions, criterion, optimizer, net, epoch, alpha_t, loader, args)
        print('Epoch %d alpha_t %.2f loss %.5f acc %.3f' % (epoch, alpha_t, loss, acc))


if __name__ == '__main__':
    main()
