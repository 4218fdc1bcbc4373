"""A vanilla RNN written by hand: does the running sum of a +1/-1 sequence end above zero?"""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class MyRNN(nn.Module):
    def __init__(self, input_size, hidden_size):
        super().__init__()
        self.hidden_size = hidden_size
        self.W = nn.Parameter(torch.randn(input_size, hidden_size) * 0.4)
        self.U = nn.Parameter(torch.randn(hidden_size, hidden_size) * 0.4)
        self.b = nn.Parameter(torch.zeros(hidden_size))

    def forward(self, x):
        batch, steps, _ = x.shape
        # H[:, t] is the state before step t
        H = torch.zeros(batch, steps + 1, self.hidden_size)
        for t in range(steps):
            H.data[:, t + 1] = torch.tanh(x[:, t] @ self.W + H[:, t] @ self.U + self.b)
        return H[:, 1:]


class SignClassifier(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.rnn = MyRNN(1, hidden_size)
        self.out = nn.Linear(hidden_size, 2)

    def forward(self, x):
        states = self.rnn(x)
        last, mean = states[:, -1], states.mean(dim=1)
        return self.out(last + mean)


def get_batch(batch_size, steps):
    x = torch.randint(0, 2, (batch_size, steps, 1)).float() * 2 - 1
    y = (x.sum(dim=(1, 2)) > 0).long()
    return x, y


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--iters", type=int, default=10)
    parser.add_argument("--hidden", type=int, default=8)
    parser.add_argument("--steps", type=int, default=7)
    args = parser.parse_args()

    torch.manual_seed(0)
    model = SignClassifier(args.hidden)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9)
    for i in range(args.iters):
        x, y = get_batch(32, args.steps)
        logits = model(x)
        loss = F.cross_entropy(logits, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        acc = (logits.argmax(1) == y).float().mean().item()
        print(f"iter {i} loss {loss.item():.5f} acc {acc:.3f}")


if __name__ == "__main__":
    main()
