import torch

from cldice import soft_dice_cldice
from data import vessels
from unet import TinyUNet

CFG = dict(seed=23, lr=3e-3, epochs=4, batch=6, alpha=0.5, iters=3)


def run(cfg):
    torch.manual_seed(cfg["seed"])
    images, masks = vessels(24)
    net = TinyUNet(8)
    criterion = soft_dice_cldice(iter_=cfg["iters"], alpha=cfg["alpha"])
    opt = torch.optim.Adam(net.parameters(), lr=cfg["lr"])
    for epoch in range(cfg["epochs"]):
        running = 0.0
        for i in range(0, len(images), cfg["batch"]):
            pred = torch.sigmoid(net(images[i:i + cfg["batch"]]))
            loss = criterion(masks[i:i + cfg["batch"]], pred)
            opt.zero_grad()
            loss.backward()
            opt.step()
            running += loss.item()
        print("epoch {} loss {:.6f}".format(epoch, running / (len(images) // cfg["batch"])))
    with torch.no_grad():
        pred = torch.sigmoid(net(images)) > 0.5
        inter = (pred & masks.bool()).sum().item()
        print("dice {:.6f}".format(2.0 * inter / (pred.sum().item() + masks.sum().item())))


run(CFG)
