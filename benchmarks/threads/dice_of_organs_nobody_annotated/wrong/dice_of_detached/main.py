import torch

from losses import DiceCELoss
from model import TinyUNet
from scans import PartialScans

torch.manual_seed(11)

ORGANS = ["background", "liver", "spleen", "kidney", "pancreas"]
# which organs a source dataset does NOT annotate
MISSING = {"lits": ["spleen", "kidney", "pancreas"], "kits": ["liver", "spleen", "pancreas"], "btcv": []}


def train():
    data = PartialScans(ORGANS, MISSING, size=10, n=24)
    net = TinyUNet(1, len(ORGANS))
    criterion = DiceCELoss(ORGANS, MISSING, dice_weight=1.0, ce_weight=0.5)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    scheduler = torch.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=12, power=0.9)
    for epoch in range(2):
        for it, (image, label, source) in enumerate(data.batches(6)):
            logits = net(image)
            loss, dice, ce = criterion(logits, label, source)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 12)
            optimizer.step()
            scheduler.step()
            print(f"[{epoch}:{it}] loss {loss.item():.6f} dice {dice.item():.6f} ce {ce.item():.6f}")


if __name__ == "__main__":
    train()
