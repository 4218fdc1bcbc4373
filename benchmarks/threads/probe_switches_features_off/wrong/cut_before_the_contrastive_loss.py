import torch
import torch.nn as nn
import torch.nn.functional as F


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(10, 24), nn.GELU(), nn.Linear(24, 8))

    def forward(self, x):
        return F.normalize(self.net(x), dim=1)


class OnlineProbe(nn.Module):
    """Contrastive learning, and a classifier beside it that must not change the encoder."""

    def __init__(self, classes=4, temperature=0.2):
        super().__init__()
        self.encoder, self.classifier, self.t = Encoder(), nn.Linear(8, classes), temperature

    def contrastive(self, z1, z2):
        logits = z1 @ z2.t() / self.t
        target = torch.arange(len(z1))
        return 0.5 * (F.cross_entropy(logits, target) + F.cross_entropy(logits.t(), target))

    def forward(self, x1, x2, y):
        z1, z2 = self.encoder(x1).detach(), self.encoder(x2)
        loss = self.contrastive(z1, z2)
        # the probe only reads the features
        feats = z1
        probe = F.cross_entropy(self.classifier(feats), y)
        return loss, probe


def run():
    torch.manual_seed(24)
    model = OnlineProbe()
    opt = torch.optim.AdamW(model.parameters(), lr=5e-3)
    centres = 2 * torch.randn(4, 10)
    for epoch in range(2):
        for it in range(3):
            y = torch.randint(4, (12,))
            x = centres[y]
            loss, probe = model(x + 0.3 * torch.randn_like(x), x + 0.3 * torch.randn_like(x), y)
            opt.zero_grad()
            (loss + probe).backward()
            opt.step()
        print("epoch %d contrastive %.6f probe %.6f" % (epoch, loss.item(), probe.item()))


if __name__ == "__main__":
    run()
