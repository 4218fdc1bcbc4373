# Copyright-free rewrite of a shallow-tree classifier that is trained with iterative hard thresholding (IHT).
import numpy as np
import torch
import torch.nn as nn


class utils:
    @staticmethod
    def hardThreshold(A, s):
        """Keeps the s-fraction of entries of A that is largest in magnitude."""
        A_ = np.copy(A)
        A_ = A_.ravel()
        if len(A_) > 0:
            th = np.percentile(np.abs(A_), (1 - s) * 100.0, method="higher")
            A_[np.abs(A_) < th] = 0.0
        return A_.reshape(A.shape)

    @staticmethod
    def copySupport(src, dest):
        """Zeros of src become zeros of dest."""
        support = np.nonzero(src)
        dest_ = np.copy(dest)
        dest = np.zeros(src.shape, dtype=dest_.dtype)
        dest[support] = dest_[support]
        return dest


class Bonsai(nn.Module):
    def __init__(self, numClasses, dataDimension, projectionDimension, depth, sigma):
        super().__init__()
        self.sigma = sigma
        self.internal = 2 ** depth - 1
        self.total = 2 ** (depth + 1) - 1
        self.Z = nn.Parameter(0.3 * torch.randn(projectionDimension, dataDimension))
        self.T = nn.Parameter(torch.randn(self.internal, projectionDimension))
        self.W = nn.Parameter(0.5 * torch.randn(self.total, numClasses, projectionDimension))
        self.V = nn.Parameter(0.5 * torch.randn(self.total, numClasses, projectionDimension))

    def forward(self, X, sigmaI):
        X_ = X @ self.Z.t() / self.Z.size(0)
        prob = [torch.ones(len(X))]
        score = 0.0
        for node in range(self.total):
            if node > 0:
                parent = (node - 1) // 2
                side = 1.0 if node % 2 else -1.0
                prob.append(prob[parent] * (1 + side * torch.tanh(sigmaI * X_ @ self.T[parent])) / 2)
            score = score + prob[node][:, None] * (X_ @ self.W[node].t()) * torch.tanh(self.sigma * X_ @ self.V[node].t())
        return score


class BonsaiTrainer:
    def __init__(self, model, learningRate, sW, sV, sZ, lW=1e-3):
        self.model, self.sW, self.sV, self.sZ, self.lW = model, sW, sV, sZ, lW
        self.optimizer = torch.optim.Adam(model.parameters(), lr=learningRate)
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, 10, 0.7)
        self.thrsd = {}

    def loss(self, logits, labels):
        reg = self.lW * sum(p.pow(2).sum() for p in self.model.parameters())
        return nn.functional.cross_entropy(logits, labels) + reg

    def named(self):
        return (("W", self.model.W, self.sW), ("V", self.model.V, self.sV), ("Z", self.model.Z, self.sZ))

    def runHardThrsd(self):
        for name, param, sparsity in self.named():
            thrsd = utils.hardThreshold(param.requires_grad_(False), sparsity)
            param.data = torch.tensor(thrsd)
            self.thrsd[name] = thrsd

    def runSparseTraining(self):
        for name, param, _ in self.named():
            param.data = torch.tensor(utils.copySupport(self.thrsd[name], param))

    def train(self, batchSize, totalEpochs, Xtrain, Ytrain, Xtest, Ytest):
        n = len(Xtrain) // batchSize
        total, counter = totalEpochs * n, 0
        sigmaI = 1.0
        for epoch in range(totalEpochs):
            for j in range(n):
                batch = slice(j * batchSize, (j + 1) * batchSize)
                logits = self.model(Xtrain[batch], sigmaI)
                loss = self.loss(logits, Ytrain[batch])
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                # dense phase, then IHT every third step, then training on a fixed support
                if total // 3 <= counter < 2 * total // 3 and counter % 3 == 0:
                    self.runHardThrsd()
                elif self.thrsd:
                    self.runSparseTraining()
                counter += 1
                sigmaI = min(sigmaI * 1.05, 10.0)
            self.scheduler.step()
            with torch.no_grad():
                acc = (self.model(Xtest, sigmaI).argmax(1) == Ytest).float().mean().item()
            nnz = sum(int((p != 0).sum()) for _, p, _ in self.named())
            print(f"Epoch {epoch} loss {loss.item():.5f} acc {acc:.4f} nnz {nnz}")


torch.manual_seed(2)
np.random.seed(2)
centres = torch.randn(4, 10) * 1.5
Y = torch.randint(0, 4, (360,))
X = centres[Y] + torch.randn(360, 10)
trainer = BonsaiTrainer(Bonsai(4, 10, 6, 2, 1.0), 0.03, 0.3, 0.3, 0.5)
trainer.train(40, 6, X[:280], Y[:280], X[280:], Y[280:])
