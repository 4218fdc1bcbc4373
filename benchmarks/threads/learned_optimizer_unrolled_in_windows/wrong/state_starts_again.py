"""Learning to learn by gradient descent: an LSTM proposes the updates of an optimizee."""
import torch
import torch.nn as nn


class Quadratic:
    """Random least squares problems."""

    def __init__(self, n=5):
        self.W, self.y = torch.randn(n, n), torch.randn(n)
        self.theta = torch.randn(n)

    def loss(self, theta):
        return (self.W @ theta - self.y).pow(2).sum()


class LSTMOptimizer(nn.Module):
    def __init__(self, hidden=10, scale=0.1):
        super().__init__()
        self.hidden, self.scale = hidden, scale
        self.cell1, self.cell2 = nn.LSTMCell(1, hidden), nn.LSTMCell(hidden, hidden)
        self.out = nn.Linear(hidden, 1)

    def initial(self, n):
        return [tuple(torch.zeros(n, self.hidden) for _ in range(2)) for _ in range(2)]

    def forward(self, grad, state):
        h1 = self.cell1(torch.sign(grad)[:, None] * grad.abs().log1p()[:, None], state[0])
        h2 = self.cell2(h1[0], state[1])
        return self.scale * self.out(h2[0]).squeeze(-1), [h1, h2]


class MetaTrainer:
    def __init__(self, steps=12, unroll=4, lr=3e-3):
        self.steps, self.unroll = steps, unroll
        self.net = LSTMOptimizer()
        self.meta_opt = torch.optim.Adam(self.net.parameters(), lr=lr)

    def fit_one(self, problem, train=True):
        theta = problem.theta.clone().requires_grad_()
        state = self.net.initial(len(theta))
        meta_loss, history = 0, []
        for step in range(1, self.steps + 1):
            loss = problem.loss(theta)
            history.append(loss.item())
            meta_loss = meta_loss + loss
            # the optimizer sees the gradient as a plain input
            grad, = torch.autograd.grad(loss, theta, retain_graph=True)
            update, state = self.net(grad.detach(), state)
            theta = theta + update
            if step % self.unroll == 0:
                meta_loss = meta_loss + problem.loss(theta)
                if train:
                    self.meta_opt.zero_grad()
                    meta_loss.backward()
                    self.meta_opt.step()
                meta_loss = 0
                theta = theta.detach().requires_grad_()
                state = self.net.initial(len(theta))
        return history

    def run(self, episodes=3):
        for episode in range(episodes):
            history = self.fit_one(Quadratic())
            print("episode %d first %.6f last %.6f" % (episode, history[0], history[-1]))


if __name__ == "__main__":
    torch.manual_seed(1606)
    MetaTrainer().run()
