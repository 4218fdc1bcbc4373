import torch

from engine import ImageAMSoftmaxEngine, ReIDNet
from metric import MetricLosses

torch.manual_seed(5)
prototypes = torch.randn(6, 20)


def make_loader(batches=5, size=18):
    loader = []
    for _ in range(batches):
        labels = torch.randint(0, 6, (size,))
        loader.append((prototypes[labels] + 0.7 * torch.randn(size, 20), labels))
    return loader


model = ReIDNet()
metric_losses = MetricLosses(classes=6, dim=8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
ImageAMSoftmaxEngine(model, metric_losses, optimizer, scheduler).run(make_loader(), max_epoch=3)
print("centers", f"{metric_losses.centers.norm().item():.5f}")
