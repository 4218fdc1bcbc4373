import torch
import torch.nn as nn

from sam import SAM


class Trainer:
    def __init__(self, model, loader, cfg):
        self.model = model
        self.loader = loader
        self.criterion = nn.CrossEntropyLoss(label_smoothing=cfg.get("smoothing", 0.0))
        self.optimizer = SAM(model.parameters(), torch.optim.SGD, rho=cfg["rho"], lr=cfg["lr"], momentum=0.9)
        self.sched = torch.optim.lr_scheduler.StepLR(self.optimizer.base_optimizer, step_size=1, gamma=0.8)

    def train_epoch(self):
        self.model.train()
        running = 0.0
        for inputs, labels in self.loader:

            def closure():
                loss = self.criterion(self.model(inputs), labels)
                loss.backward()
                return loss

            self.optimizer.zero_grad()
            loss = self.criterion(self.model(inputs), labels)
            loss.backward()
            self.optimizer.step(closure)
            running += loss.item()
        self.sched.step()
        return running / len(self.loader)

    @torch.no_grad()
    def accuracy(self):
        self.model.eval()
        hits = torch.cat([self.model(x).argmax(1) == y for x, y in self.loader])
        return hits.float().mean().item()


def spirals(n_batches=4, bs=30):
    g = torch.Generator().manual_seed(9)
    out = []
    for _ in range(n_batches):
        y = torch.randint(0, 3, (bs,), generator=g)
        r = torch.rand(bs, generator=g)
        t = r * 4 + y * 2.09 + 0.1 * torch.randn(bs, generator=g)
        out.append((torch.stack([r * t.sin(), r * t.cos()], 1), y))
    return out


if __name__ == "__main__":
    torch.manual_seed(123)
    net = nn.Sequential(nn.Linear(2, 32), nn.LayerNorm(32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 3))
    trainer = Trainer(net, spirals(), {"rho": 0.1, "lr": 0.1, "smoothing": 0.05})
    for ep in range(3):
        l = trainer.train_epoch()
        print(f"[{ep}] loss={l:.6f} acc={trainer.accuracy():.4f}")
