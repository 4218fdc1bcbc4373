# -*- coding: utf-8 -*-
"""用 LSTM 预测股票第二天的涨跌幅(课程作业)"""
import argparse
import random

import numpy as np
import torch
import torch.nn as nn


def make_stocks(n_stocks, length, seed):
    # 每只股票一条独立的序列: 起点、趋势、周期都不一样
    rng = np.random.RandomState(seed)
    data = []
    for _ in range(n_stocks):
        t = np.arange(length)
        price = rng.uniform(-1, 1) + 0.05 * rng.randn() * t + np.sin(t / rng.uniform(1.5, 4.0))
        seq = torch.tensor(price[:-1], dtype=torch.float32).view(-1, 1, 1)
        target = torch.tensor([price[-1]], dtype=torch.float32).view(1, 1)
        data.append((seq, target))
    return data


class StockLSTM(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.hidden_size = hidden_size
        self.lstm = nn.LSTM(1, hidden_size)
        self.fc = nn.Linear(hidden_size, 1)
        self.hidden = self.init_hidden()

    def init_hidden(self):
        # (层数, batch, 隐藏单元)
        return (torch.zeros(1, 1, self.hidden_size), torch.zeros(1, 1, self.hidden_size))

    def forward(self, seq):
        out, self.hidden = self.lstm(seq, self.hidden)
        return self.fc(out[-1])


def evaluate(model, data):
    model.eval()
    total = 0.0
    with torch.no_grad():
        for seq, target in data:
            model.hidden = model.init_hidden()  # 另一只股票, 从零开始
            total += (model(seq) - target).pow(2).item()
    return total / len(data)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--hidden", type=int, default=6)
    parser.add_argument("--lr", type=float, default=0.02)
    args = parser.parse_args()

    random.seed(3)
    torch.manual_seed(3)
    train_data = make_stocks(8, 10, seed=0)
    test_data = make_stocks(4, 10, seed=1)

    model = StockLSTM(args.hidden)
    loss_function = nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)

    for epoch in range(args.epochs):
        model.train()
        random.shuffle(train_data)
        running = 0.0
        for seq, target in train_data:
            optimizer.zero_grad()
            model.hidden = model.init_hidden()
            pred = model(seq)
            loss = loss_function(pred, target)
            loss.backward()
            optimizer.step()
            running += loss.item()
        print("epoch %d train %.5f test %.5f" % (epoch, running / len(train_data), evaluate(model, test_data)))


if __name__ == "__main__":
    main()
