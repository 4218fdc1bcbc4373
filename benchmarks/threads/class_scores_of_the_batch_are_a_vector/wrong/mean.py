"""A lesion classifier that is told where to look: its Grad-CAM shall lie on the annotated lesion."""
from contextlib import contextmanager

import torch
import torch.nn as nn
import torch.nn.functional as F


def lesions(n, seed, size=16):
    g = torch.Generator().manual_seed(seed)
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    centre = torch.randint(4, size - 4, (n, 2), generator=g)
    distance = (yy - centre[:, 0, None, None]) ** 2 + (xx - centre[:, 1, None, None]) ** 2
    mask = (distance <= 9).float()
    label = torch.randint(0, 2, (n,), generator=g)
    texture = torch.where(label[:, None, None] == 1, ((yy + xx) % 2).float() * 2 - 1, torch.ones(size, size))
    image = 0.3 * torch.randn(n, size, size, generator=g) + mask * texture
    image[:, 0, :] += label[:, None].float()            # a marker that the scanner leaves behind
    return image.unsqueeze(1), label, mask.unsqueeze(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer1 = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2))
        self.layer2 = nn.Sequential(nn.Conv2d(8, 12, 3, padding=1), nn.ReLU())
        self.fc = nn.Sequential(nn.Linear(12 * 16, 16), nn.Tanh(), nn.Linear(16, 2))

    def forward(self, x):
        x = self.layer2(self.layer1(x))
        return self.fc(F.adaptive_avg_pool2d(x, 4).flatten(1))


class GradCAM:
    def __init__(self, model, target_layer):
        self.model = model
        self.target_layer = target_layer

    @contextmanager
    def activations(self):
        kept = {}
        handle = self.target_layer.register_forward_hook(lambda module, args, output: kept.update(value=output))
        try:
            yield kept
        finally:
            handle.remove()

    def __call__(self, inputs, class_idx=None):
        with self.activations() as kept:
            logit = self.model(inputs)
        features = kept["value"]

        if class_idx is None:
            score = logit.max(dim=1).values
        else:
            score = logit.gather(1, class_idx.unsqueeze(1)).squeeze(1)
        gradients = torch.autograd.grad(score.mean(), features, create_graph=True)[0]

        alpha = gradients.mean(dim=(2, 3), keepdim=True)
        saliency = F.relu((alpha * features).sum(dim=1, keepdim=True))
        return saliency, logit


def attention_loss(saliency, mask):
    """Squared saliency outside of the lesion against a wanted level inside."""
    mask = F.max_pool2d(mask, 2)
    outside = (saliency * (1 - mask)).pow(2).sum(dim=(1, 2, 3))
    inside = (saliency * mask).sum(dim=(1, 2, 3)) / mask.sum(dim=(1, 2, 3))
    return (100.0 * outside + F.relu(0.05 - inside)).mean()


def run(epochs=3, batch_size=16, weight=1.0):
    torch.manual_seed(6)
    images, labels, masks = lesions(96, seed=6)
    model = Net()
    cam = GradCAM(model, model.layer2)
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)

    for epoch in range(epochs):
        ce_sum = att_sum = 0.0
        for idx in torch.randperm(len(images)).split(batch_size):
            saliency, logit = cam(images[idx], labels[idx])
            ce = F.cross_entropy(logit, labels[idx])
            att = attention_loss(saliency, masks[idx])
            optimizer.zero_grad()
            (ce + weight * att).backward()
            optimizer.step()
            ce_sum += ce.item()
            att_sum += att.item()
        print("epoch {:d}  classification {:.5f}  attention {:.5f}".format(epoch, ce_sum / 6, att_sum / 6))


if __name__ == "__main__":
    run()
