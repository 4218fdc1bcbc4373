import torch

from adapt import AdaptConfig, Adapter
from yolo import TinyYolo


def synthetic(n, size, gen):
    """bright squares on noise; one box per image, xywh in pixels"""
    imgs = 0.1 * torch.randn(n, 1, size, size, generator=gen)
    boxes = torch.zeros(n, 4)
    for i in range(n):
        w = int(torch.randint(5, 10, (1,), generator=gen))
        x0, y0 = (int(v) for v in torch.randint(0, size - w, (2,), generator=gen))
        imgs[i, 0, y0:y0 + w, x0:x0 + w] += 1.0
        boxes[i] = torch.tensor([x0 + w / 2, y0 + w / 2, w, w])
    return imgs, boxes


if __name__ == "__main__":
    torch.manual_seed(2)
    gen = torch.Generator().manual_seed(2)
    cfg = AdaptConfig()
    model = TinyYolo(anchors=((5.0, 5.0), (9.0, 9.0)), stride=8, nc=1, width=cfg.width)
    imgs, boxes = synthetic(cfg.n_images, 32, gen)
    Adapter(model, cfg).run(imgs, boxes)
