import torch

from yolo.data import make_batches
from yolo.ema import ModelEMA
from yolo.loss import detection_loss
from yolo.model import TinyDetector

CFG = dict(epochs=3, batch=4, width=8, lr=0.02, momentum=0.9, ema_decay=0.9, seed=0)


def param_groups(model):
    decay, no_decay = [], []
    for name, p in model.named_parameters():
        (decay if p.ndim > 1 else no_decay).append(p)
    return [{"params": decay, "weight_decay": 5e-4}, {"params": no_decay}]


def main(cfg):
    torch.manual_seed(cfg["seed"])
    model = TinyDetector(cfg["width"])
    optimizer = torch.optim.SGD(param_groups(model), lr=cfg["lr"], momentum=cfg["momentum"])
    ema = ModelEMA(model, cfg["ema_decay"])
    for epoch in range(cfg["epochs"]):
        model.train()
        for images, targets in make_batches(12, cfg["batch"]):
            loss, items = detection_loss(model(images), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            ema.update(model)
        with torch.no_grad():
            val = sum(detection_loss(ema.ema(i), t)[0].item() for i, t in make_batches(4, 4, seed=9))
        print("epoch %d obj %.5f box %.5f ema %.5f" % (epoch, *items, val))
    print("blur widths", ["%.5f" % b.log_sigma.exp().item() for b in model.blurs()])


if __name__ == "__main__":
    main(CFG)
