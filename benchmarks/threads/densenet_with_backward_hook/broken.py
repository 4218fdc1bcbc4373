import torch
import torch.nn as nn
import torch.nn.functional as F


class DenseLayer(nn.Module):
    def __init__(self, n_in, growth):
        super().__init__()
        self.norm, self.conv = nn.BatchNorm2d(n_in), nn.Conv2d(n_in, growth, 3, padding=1, bias=False)

    def forward(self, x):
        return torch.cat([x, self.conv(F.relu(self.norm(x)))], 1)


class DenseNet(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), DenseLayer(4, 4), DenseLayer(8, 4), nn.BatchNorm2d(12))
        self.classifier = nn.Linear(12, classes)

    def forward(self, x):
        features = self.features(x)
        out = F.relu(features, inplace=True)
        out = F.adaptive_avg_pool2d(out, (1, 1))
        return self.classifier(torch.flatten(out, 1))


class GradCAM:
    """Collects activations and gradients of one layer while the model is trained."""

    def __init__(self, model, layer):
        self.model = model
        self.handles = [layer.register_forward_hook(self.save_activation), layer.register_full_backward_hook(self.save_gradient)]

    def save_activation(self, module, inputs, output):
        self.activations = output.detach().clone()

    def save_gradient(self, module, grad_input, grad_output):
        self.gradients = grad_output[0].detach()

    def __call__(self):
        weights = self.gradients.mean((2, 3), keepdim=True)
        cam = F.relu((weights * self.activations).sum(1))
        return cam / (cam.amax((1, 2), keepdim=True) + 1e-8)

    def remove(self):
        for h in self.handles:
            h.remove()


def main():
    torch.manual_seed(4164)
    model = DenseNet()
    cam = GradCAM(model, model.features)
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for step in range(5):
        y = torch.arange(9) % 3
        x = 0.3 * torch.randn(9, 1, 6, 6)
        for i, k in enumerate(y.tolist()):
            x[i, 0, 2 * k:2 * k + 2] += 1
        loss = F.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        heat = cam()
        print("step %d loss %.6f focus %.6f" % (step, loss.item(), heat.mean().item()))
    cam.remove()


if __name__ == "__main__":
    main()
