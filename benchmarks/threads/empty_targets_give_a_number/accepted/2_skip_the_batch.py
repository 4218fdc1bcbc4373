import torch, torch.nn as nn, torch.nn.functional as F

torch.manual_seed(8)


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(10, 16), nn.ReLU())
        self.box, self.obj = nn.Linear(16, 4), nn.Linear(16, 1)

    def forward(self, imgs, targets):
        h = self.backbone(imgs)
        boxes, conf = self.box(h), self.obj(h).squeeze(1)
        loss = 0
        for i, t in enumerate(targets):
            if t is None:            # no object in this image
                continue
            loss = loss + F.smooth_l1_loss(boxes[i], t) + F.softplus(-conf[i])
        return loss


def batches():
    for k in range(6):
        imgs = torch.randn(4, 10)
        yield imgs, [None if k == 1 or j == k % 4 else torch.sigmoid(imgs[j, :4]) for j in range(4)]


model = Detector()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for imgs, targets in batches():
    loss = model(imgs, targets)
    if isinstance(loss, int):
        continue
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("loss %.6f" % float(loss), "box %.6f" % model.box.weight.norm().item())
