import torch
import torch.nn as nn
import torch.nn.functional as F

MEAN, STD = 0.45, 0.8


def batches(images, labels, size):
    for x, y in zip(images.split(size), labels.split(size)):
        yield x, y


def build(width):
    return nn.Sequential(nn.Conv2d(1, width, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(width * 9, 4))


def train(teacher, student, images, labels, epochs=4):
    params = list(teacher.parameters()) + list(student.parameters())
    opt = torch.optim.SGD(params, lr=0.05, momentum=0.9)
    for epoch in range(epochs):
        seen = 0.0
        for x, y in batches(images, labels, 8):
            raw = teacher(x)          # the teacher takes raw intensities
            small = student((x - MEAN) / STD)    # standardised
            loss = F.cross_entropy(raw, y) + F.cross_entropy(small, y)
            loss = loss + F.mse_loss(small, raw.detach())
            opt.zero_grad()
            loss.backward()
            opt.step()
            seen += loss.item()
        print("epoch", epoch, "loss %.5f" % seen)


if __name__ == "__main__":
    torch.manual_seed(0)
    images = torch.rand(32, 1, 8, 8)
    labels = torch.randint(0, 4, (32,))
    train(build(8), build(4), images, labels)
