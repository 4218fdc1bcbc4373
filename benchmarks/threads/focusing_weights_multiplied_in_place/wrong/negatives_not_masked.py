"""Multi-label tagging of short tunes, asymmetric loss written to save memory (everything that can be is in place)."""
import logging
import sys

import torch
from torch import nn

logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(message)s")
LOG = logging.getLogger(__name__)

HP = {
    "tags": 7, "bands": 10, "hidden": 14, "songs": 24, "batch": 8, "epochs": 2, "lr": 1e-2,
    "loss": {"gamma_neg": 4.0, "gamma_pos": 1.0, "clip": 0.05, "disable_torch_grad_focal_loss": True},
}


class AsymmetricLossOptimized(nn.Module):
    """ASL, the variant that keeps its buffers; the focusing weights are constants when disable_torch_grad_focal_loss is set."""

    def __init__(self, gamma_neg=4.0, gamma_pos=1.0, clip=0.05, eps=1e-8, disable_torch_grad_focal_loss=False):
        super().__init__()
        self.gamma_neg, self.gamma_pos, self.clip, self.eps = gamma_neg, gamma_pos, clip, eps
        self.disable_torch_grad_focal_loss = disable_torch_grad_focal_loss
        self.targets = self.anti_targets = self.xs_pos = self.xs_neg = self.asymmetric_w = self.loss = None

    def forward(self, x, y):
        self.targets = y
        self.anti_targets = 1 - y
        self.xs_pos = torch.sigmoid(x)
        self.xs_neg = 1.0 - self.xs_pos
        if self.clip > 0:
            self.xs_neg = (self.xs_neg + self.clip).clamp(max=1)

        self.loss = self.targets * torch.log(self.xs_pos + self.eps)
        self.loss = self.loss + self.anti_targets * torch.log(self.xs_neg + self.eps)

        if self.gamma_neg > 0 or self.gamma_pos > 0:
            if self.disable_torch_grad_focal_loss:
                torch.set_grad_enabled(False)
            self.xs_pos = self.xs_pos * self.targets
            self.asymmetric_w = torch.pow(1 - self.xs_pos - self.xs_neg, self.gamma_pos * self.targets + self.gamma_neg * self.anti_targets)
            if self.disable_torch_grad_focal_loss:
                torch.set_grad_enabled(True)
            self.loss = self.loss * self.asymmetric_w
        return -self.loss.sum() / x.size(0)


class Tagger(nn.Module):
    def __init__(self, hp):
        super().__init__()
        self.front = nn.Conv1d(hp["bands"], hp["hidden"], 3, padding=1)
        self.head = nn.Linear(hp["hidden"], hp["tags"])

    def forward(self, mel):
        return self.head(torch.relu(self.front(mel)).mean(-1))


def tunes(hp):
    mel = torch.randn(hp["songs"], hp["bands"], 12)
    proj = torch.randn(hp["bands"], hp["tags"])
    return mel, ((mel.mean(-1) @ proj) > 0.4).float()


def main():
    torch.manual_seed(99)
    mel, tags = tunes(HP)
    model = Tagger(HP)
    criterion = AsymmetricLossOptimized(**HP["loss"])
    opt = torch.optim.Adam(model.parameters(), lr=HP["lr"])
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=HP["lr"], total_steps=HP["epochs"] * HP["songs"] // HP["batch"])
    for epoch in range(HP["epochs"]):
        for i in range(0, HP["songs"], HP["batch"]):
            loss = criterion(model(mel[i:i + HP["batch"]]), tags[i:i + HP["batch"]])
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            LOG.info("epoch %d song %d", epoch, i)
            print(f"{epoch} {i} {loss.item():.6f}")


if __name__ == "__main__":
    main()
