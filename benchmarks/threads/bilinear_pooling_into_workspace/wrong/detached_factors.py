import torch
import torch.nn as nn
import torch.nn.functional as F


class Workspace:
    """Buffers that are reused from batch to batch."""

    def __init__(self):
        self.buffers = {}

    def get(self, name, *shape):
        if name not in self.buffers or self.buffers[name].shape != shape:
            self.buffers[name] = torch.empty(*shape)
        return self.buffers[name]


class FactorizedBilinear(nn.Module):
    """Low-rank bilinear pooling of image and question."""

    def __init__(self, d_img, d_txt, rank, out):
        super().__init__()
        self.u, self.v = nn.Linear(d_img, rank), nn.Linear(d_txt, rank)
        self.out = nn.Linear(rank, out)
        self.ws = Workspace()

    def forward(self, img, txt):
        a, b = torch.tanh(self.u(img)), torch.tanh(self.v(txt))
        joint = torch.mul(a.detach(), b.detach(), out=self.ws.get("joint", *a.shape))
        return self.out(joint)


class VQA(nn.Module):
    def __init__(self, vocab=12, answers=5):
        super().__init__()
        self.embed = nn.EmbeddingBag(vocab, 8)
        self.cnn = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.AdaptiveMaxPool2d(2), nn.Flatten())
        self.pool = FactorizedBilinear(16, 8, 12, answers)

    def forward(self, image, question):
        return self.pool(self.cnn(image), self.embed(question))


def main(steps=6):
    torch.manual_seed(6)
    model = VQA()
    optimizer = torch.optim.Adamax(model.parameters(), lr=1e-2)
    for step in range(steps):
        image, question = torch.randn(10, 1, 6, 6), torch.randint(0, 12, (10, 4))
        answer = (question[:, 0] + (image.mean((1, 2, 3)) > 0).long()) % 5
        loss = F.cross_entropy(model(image, question), answer)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("step %d loss %.6f" % (step, loss.item()))


if __name__ == "__main__":
    main()
