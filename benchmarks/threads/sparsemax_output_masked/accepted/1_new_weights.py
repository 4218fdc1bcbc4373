# 稀疏注意力文本分类 (sparsemax)
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Function
import logging

logging.basicConfig(format='%(message)s', level=logging.WARNING)
logger = logging.getLogger('sparse')


def _make_ix_like(X, dim):
    d = X.size(dim)
    rho = torch.arange(1, d + 1, dtype=X.dtype)
    view = [1] * X.dim()
    view[0] = -1
    return rho.view(view).transpose(0, dim)


class SparsemaxFunction(Function):
    @staticmethod
    def forward(ctx, X, dim=-1):
        ctx.dim = dim
        max_val, _ = X.max(dim=dim, keepdim=True)
        X = X - max_val
        topk, _ = torch.sort(X, dim=dim, descending=True)
        topk_cumsum = topk.cumsum(dim) - 1
        rhos = _make_ix_like(topk, dim if dim >= 0 else X.dim() + dim)
        support_size = (rhos * topk > topk_cumsum).sum(dim=dim).unsqueeze(dim)
        tau = topk_cumsum.gather(dim, support_size - 1) / support_size.to(X.dtype)
        output = torch.clamp(X - tau, min=0)
        ctx.save_for_backward(output)
        return output

    @staticmethod
    def backward(ctx, grad_output):
        output, = ctx.saved_tensors
        support = output > 0
        grad_input = grad_output * support
        v_hat = grad_input.sum(dim=ctx.dim, keepdim=True) / support.sum(dim=ctx.dim, keepdim=True)
        return torch.where(support, grad_input - v_hat, grad_input), None


class SparseAttention(nn.Module):
    def __init__(self, dim, drop):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(dim, dim, bias=False) for _ in range(3))
        self.drop = drop

    def forward(self, x):
        scores = self.q(x) @ self.k(x).transpose(1, 2) / x.size(-1) ** 0.5
        attn = SparsemaxFunction.apply(2 * scores, -1)
        if self.training:
            # 随机丢弃一部分注意力权重
            keep = (torch.rand_like(attn) > self.drop).float() / (1 - self.drop)
            attn = attn * keep
        return x + attn @ self.v(x)


class TextClassifier(nn.Module):
    def __init__(self, vocab, dim, classes, drop=0.2):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.pos = nn.Parameter(torch.randn(12, dim) * 0.1)
        self.layers = nn.ModuleList([SparseAttention(dim, drop) for _ in range(2)])
        self.norm = nn.LayerNorm(dim)
        self.fc = nn.Linear(dim, classes)

    def forward(self, ids):
        x = self.emb(ids) + self.pos[:ids.size(1)]
        for layer in self.layers:
            x = layer(x)
        return self.fc(self.norm(x).mean(1))


def corpus(n, vocab, length=10):
    ids = torch.randint(0, vocab, (n, length))
    label = ((ids < vocab // 3).sum(1) > (ids >= 2 * vocab // 3).sum(1)).long()
    return ids, label


class Trainer:
    def __init__(self, model, lr=1e-2):
        self.model, self.best = model, None
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def run(self, train, test, epochs, batch):
        for epoch in range(epochs):
            self.model.train()
            for i in range(0, len(train[0]), batch):
                loss = F.cross_entropy(self.model(train[0][i:i + batch]), train[1][i:i + batch])
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                logger.info('loss %.4f', loss.item())
            print('epoch %d loss %.6f test %.6f' % (epoch, loss.item(), self.evaluate(*test)))

    @torch.no_grad()
    def evaluate(self, ids, label):
        self.model.eval()
        return F.cross_entropy(self.model(ids), label).item()


torch.manual_seed(254)
model = TextClassifier(30, 16, 2)
Trainer(model).run(corpus(64, 30), corpus(32, 30), 2, 16)
print('%.6f' % model.layers[0].q.weight.norm().item())
