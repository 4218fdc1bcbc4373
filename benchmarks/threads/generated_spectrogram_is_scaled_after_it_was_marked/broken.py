"""Voice/style transfer with a random (untrained) CNN on spectrograms.

The generated spectrogram is optimised so that its features match the content and its gram matrices match the style.
"""
import argparse
import math
import time

import torch
import torch.nn as nn
import torch.optim as optim


def stft_magnitude(x, n_fft=64):
    window = torch.hann_window(n_fft)
    S = torch.stft(x, n_fft, hop_length=n_fft // 4, window=window, return_complex=True)
    return torch.log1p(S.abs())


def fake_speech(f0, n=2048, sr=4000, vibrato=0.0, seed=0):
    g = torch.Generator().manual_seed(seed)
    t = torch.arange(n) / sr
    phase = 2 * math.pi * f0 * t + vibrato * torch.sin(2 * math.pi * 6 * t)
    wave = sum(torch.sin(k * phase) / k for k in range(1, 6))
    envelope = (torch.sin(2 * math.pi * 3 * t) > -0.3).float()
    return wave * envelope + 0.01 * torch.randn(n, generator=g)


class RandomCNN(nn.Module):
    def __init__(self, channels=16):
        super(RandomCNN, self).__init__()
        # 2-D CNN
        self.conv1 = nn.Conv2d(1, channels, kernel_size=(3, 1), stride=1, padding=0)
        self.LeakyReLU = nn.LeakyReLU(0.2)

        # Set the random parameters to be constant.
        weight = torch.randn(self.conv1.weight.data.shape)
        self.conv1.weight = torch.nn.Parameter(weight, requires_grad=False)
        bias = torch.zeros(self.conv1.bias.data.shape)
        self.conv1.bias = torch.nn.Parameter(bias, requires_grad=False)

    def forward(self, x):
        return self.LeakyReLU(self.conv1(x))


def gram(features):
    """features: (1, C, H, W) -> gram over channels for each row"""
    _, C, H, W = features.shape
    flat = features.reshape(C, H * W)
    return flat @ flat.t()


def compute_content_loss(a_C, a_G):
    _, n_C, n_H, n_W = a_G.shape
    return torch.sum((a_C - a_G) ** 2) / (4 * n_C * n_H * n_W)


def compute_style_loss(a_S, a_G):
    _, n_C, n_H, n_W = a_G.shape
    return torch.sum((gram(a_S) - gram(a_G)) ** 2) / (4 * n_C ** 2 * (n_H * n_W) ** 2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('-epochs', type=int, default=120)
    parser.add_argument('-print_interval', type=int, default=30)
    parser.add_argument('-content_weight', type=float, default=100.0)
    parser.add_argument('-style_weight', type=float, default=1.0)
    parser.add_argument('-lr', type=float, default=0.02)
    args = parser.parse_args()

    torch.manual_seed(11)
    device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')

    a_content = stft_magnitude(fake_speech(180.0, seed=1))
    a_style = stft_magnitude(fake_speech(110.0, vibrato=3.0, seed=2))
    a_content_torch = a_content[None, None, :, :].to(device)
    a_style_torch = a_style[None, None, :, :].to(device)
    print(a_content_torch.shape, a_style_torch.shape)

    model = RandomCNN().to(device)
    model.eval()

    with torch.no_grad():
        a_C = model(a_content_torch)
        a_S = model(a_style_torch)

    # spectrogram to optimise
    a_G_var = torch.randn(a_content_torch.shape, requires_grad=True).to(device) * 1e-3

    optimizer = optim.Adam([a_G_var], lr=args.lr)

    start = time.time()
    current_loss = 0
    for epoch in range(1, args.epochs + 1):
        optimizer.zero_grad()
        a_G = model(a_G_var)

        content_loss = args.content_weight * compute_content_loss(a_C, a_G)
        style_loss = args.style_weight * compute_style_loss(a_S, a_G)
        loss = content_loss + style_loss
        loss.backward()
        optimizer.step()

        current_loss += loss.item()
        if epoch % args.print_interval == 0:
            print('epoch %d of %d: content_loss: %.4f, style_loss: %.4f, mean loss %.4f' % (
                epoch, args.epochs, content_loss.item(), style_loss.item(), current_loss / args.print_interval))
            current_loss = 0

    gen_spectrum = a_G_var.detach().cpu().squeeze().numpy()
    print('spectrum mean %.4f, max %.4f' % (gen_spectrum.mean(), gen_spectrum.max()))
    if time.time() - start > 300:
        print('slow machine?')


if __name__ == '__main__':
    main()
