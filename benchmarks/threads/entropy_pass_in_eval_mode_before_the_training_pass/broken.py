# 半教師あり学習: ラベル無しデータのエントロピーは評価モード(移動統計)で、ラベル付きは訓練モードで
import torch
import torch.nn as nn
import torch.nn.functional as F


class Whitening(nn.Module):
    """ZCA whitening with running statistics (like decorrelated batch norm)"""

    def __init__(self, dim, momentum=0.3, eps=1e-2):
        super().__init__()
        self.momentum, self.eps = momentum, eps
        self.register_buffer('mean', torch.zeros(dim))
        self.register_buffer('matrix', torch.eye(dim))

    def batch_matrix(self, x):
        cov = x.t() @ x / x.shape[0] + self.eps * torch.eye(x.shape[1])
        val, vec = torch.linalg.eigh(cov)
        return vec @ torch.diag(val.rsqrt()) @ vec.t()

    def forward(self, x):
        if self.training:
            mean = x.mean(0)
            with torch.no_grad():
                matrix = self.batch_matrix(x - mean)
                self.mean.lerp_(mean, self.momentum)
                self.matrix.lerp_(matrix, self.momentum)
            return (x - mean) @ matrix
        return (x - self.mean) @ self.matrix


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(8, 10)
        self.norm = Whitening(10)
        self.head = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 3))

    def forward(self, x):
        return self.head(self.norm(torch.relu(self.stem(x)) + 0.1 * self.stem(x)))


def entropy(logits):
    p = logits.softmax(-1)
    return -(p * logits.log_softmax(-1)).sum(-1).mean()


def train_step(model, opt, xl, yl, xu, lam):
    opt.zero_grad()
    model.eval()
    ent = entropy(model(xu))            # ここは移動統計を使う
    model.train()
    ce = F.cross_entropy(model(xl), yl)
    loss = ce + lam * ent
    loss.backward()
    opt.step()
    return ce.item(), ent.item()


def main():
    torch.manual_seed(4)
    model = Classifier()
    opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    centre = torch.randn(3, 8) * 1.5
    for step in range(10):
        yl = torch.randint(0, 3, (24,))
        xl = centre[yl] + torch.randn(24, 8)
        xu = centre[torch.randint(0, 3, (60,))] + torch.randn(60, 8)
        ce, ent = train_step(model, opt, xl, yl, xu, lam=0.3)
        if step % 3 == 0:
            print('%d ce %.6f entropy %.6f' % (step, ce, ent))
    model.eval()
    y = torch.randint(0, 3, (90,))
    with torch.no_grad():
        acc = (model(centre[y] + torch.randn(90, 8)).argmax(1) == y).float().mean()
    print('acc %.4f trace %.5f' % (acc.item(), model.norm.matrix.trace().item()))


if __name__ == '__main__':
    main()
