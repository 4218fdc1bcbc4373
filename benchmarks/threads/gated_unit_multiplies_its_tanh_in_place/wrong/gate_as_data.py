import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F


class CausalConv1d(nn.Conv1d):
    def __init__(self, in_channels, out_channels, kernel_size, dilation=1):
        super().__init__(in_channels, out_channels, kernel_size, dilation=dilation)
        self.left = (kernel_size - 1) * dilation

    def forward(self, x):
        return super().forward(F.pad(x, (self.left, 0)))


class ResidualLayer(nn.Module):
    def __init__(self, residual_size, skip_size, dilation):
        super().__init__()
        self.conv_filter = CausalConv1d(residual_size, residual_size, 2, dilation)
        self.conv_gate = CausalConv1d(residual_size, residual_size, 2, dilation)
        self.resconv1_1 = nn.Conv1d(residual_size, residual_size, 1)
        self.skipconv1_1 = nn.Conv1d(residual_size, skip_size, 1)

    def forward(self, x):
        fx = torch.tanh(self.conv_filter(x)).clone()
        gx = torch.sigmoid(self.conv_gate(x))
        fx *= gx.data
        skip = self.skipconv1_1(fx)
        residual = self.resconv1_1(fx)
        residual += x
        return skip, residual


class WaveNet(nn.Module):
    def __init__(self, quantization_levels=32, residual_size=12, skip_size=16, stacks=2, layers=4):
        super().__init__()
        self.quantization_levels = quantization_levels
        self.embed = nn.Embedding(quantization_levels, residual_size)
        self.layers = nn.ModuleList()
        for _ in range(stacks):
            for i in range(layers):
                self.layers.append(ResidualLayer(residual_size, skip_size, 2 ** i))
        self.end1 = nn.Conv1d(skip_size, skip_size, 1)
        self.end2 = nn.Conv1d(skip_size, quantization_levels, 1)
        self.act = nn.ReLU(inplace=True)

    def forward(self, x):
        x = self.embed(x).transpose(1, 2)
        skips = 0
        for layer in self.layers:
            skip, x = layer(x)
            skips = skips + skip
        out = self.act(skips)
        out = self.act(self.end1(out))
        return self.end2(out)


def mu_law_encode(audio, channels):
    mu = channels - 1
    magnitude = torch.log1p(mu * audio.abs()) / math.log1p(mu)
    signal = torch.sign(audio) * magnitude
    return ((signal + 1) / 2 * mu + 0.5).long()


class AudioDataset(torch.utils.data.Dataset):
    """tones with a little noise"""

    def __init__(self, n=24, length=128, channels=32):
        t = torch.arange(length + 1) / 800.0
        self.items = []
        for _ in range(n):
            f0 = random.choice([40.0, 55.0, 70.0])
            audio = 0.7 * torch.sin(2 * math.pi * f0 * t + random.random()) + 0.02 * torch.randn(length + 1)
            self.items.append(mu_law_encode(audio.clamp(-1, 1), channels))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i][:-1], self.items[i][1:]


class WaveNetTrainer:
    def __init__(self, model, dataset, lr=2e-3, batch_size=8, gradient_clipping=5.0):
        self.model = model
        self.dataset = dataset
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)
        self.clip = gradient_clipping
        self.loader = torch.utils.data.DataLoader(dataset, batch_size=batch_size, shuffle=True)
        self.step_count = 0

    def train_step(self, x, target):
        output = self.model(x)
        loss = F.cross_entropy(output, target)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.clip)
        self.optimizer.step()
        self.step_count += 1
        return loss.item()

    def train(self, epochs=4):
        self.model.train()
        for epoch in range(epochs):
            total = 0.0
            for x, target in self.loader:
                total += self.train_step(x, target) * x.size(0)
            print(f"epoch {epoch}: loss {total / len(self.dataset):.4f} ({self.step_count} steps)")

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        correct = count = 0
        for x, target in self.loader:
            pred = self.model(x).argmax(1)
            correct += (pred == target).sum().item()
            count += target.numel()
        return correct / count


if __name__ == "__main__":
    random.seed(0)
    torch.manual_seed(0)
    trainer = WaveNetTrainer(WaveNet(), AudioDataset())
    trainer.train()
    print(f"accuracy {trainer.validate():.4f}")
