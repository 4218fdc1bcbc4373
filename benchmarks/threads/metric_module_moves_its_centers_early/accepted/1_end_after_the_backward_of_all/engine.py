import torch
import torch.nn as nn
import torch.nn.functional as F


class ReIDNet(nn.Module):
    def __init__(self, dim_in=20, dim=8, classes=6):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(dim_in, 32), nn.PReLU(), nn.Linear(32, dim))
        self.classifier = nn.Parameter(torch.randn(dim, classes) * 0.3)

    def forward(self, x):
        embeddings = F.normalize(self.body(x), dim=1)
        return embeddings, embeddings @ F.normalize(self.classifier, dim=0)


class AMSoftmaxLoss(nn.Module):
    def __init__(self, margin=0.2, s=8.0):
        super().__init__()
        self.margin, self.s = margin, s

    def forward(self, cosine, labels):
        phi = cosine - self.margin * F.one_hot(labels, cosine.size(1))
        return F.cross_entropy(self.s * phi, labels)


class ImageAMSoftmaxEngine:
    def __init__(self, model, metric_losses, optimizer, scheduler):
        self.model = model
        self.main_loss = AMSoftmaxLoss()
        self.ml_loss_module = metric_losses
        self.optimizer = optimizer
        self.scheduler = scheduler

    def forward_backward(self, imgs, labels):
        embeddings, cosine = self.model(imgs)
        main_loss = self.main_loss(cosine, labels)

        self.ml_loss_module.init_iteration()
        ml_loss, summary = self.ml_loss_module(embeddings, labels)

        total_loss = main_loss + ml_loss
        self.optimizer.zero_grad()
        total_loss.backward()
        self.ml_loss_module.end_iteration()
        self.optimizer.step()

        summary["am_softmax"] = main_loss.item()
        summary["loss"] = total_loss.item()
        return summary

    def run(self, loader, max_epoch):
        for epoch in range(max_epoch):
            for imgs, labels in loader:
                summary = self.forward_backward(imgs, labels)
            self.scheduler.step()
            print(f"epoch {epoch} " + " ".join(f"{k} {v:.5f}" for k, v in sorted(summary.items())))
