# -*- coding: utf-8 -*-
"""
coarse-to-fine neural style. At every scale the picture of the last scale, upsampled, is where the
optimisation starts. Random features instead of VGG.
"""
import copy
import torch
import torch.nn as nn
import torch.nn.functional as F


class Extractor(nn.Module):
    def __init__(self, pooling='avg'):
        super().__init__()
        pool = nn.AvgPool2d(2) if pooling == 'avg' else nn.MaxPool2d(2)
        self.blocks = nn.ModuleList([
            nn.Sequential(nn.Conv2d(3, 6, 3, padding=1, padding_mode='replicate'), nn.ReLU()),
            nn.Sequential(copy.deepcopy(pool), nn.Conv2d(6, 10, 3, padding=1), nn.ReLU()),
        ])
        self.requires_grad_(False)

    def forward(self, x):
        feats = []
        for b in self.blocks:
            x = b(x)
            feats.append(x)
        return feats


class ContentLoss(nn.Module):
    def __init__(self, target):
        super().__init__()
        self.register_buffer('target', target.detach())

    def forward(self, x):
        return F.mse_loss(x, self.target)


class StyleLoss(nn.Module):
    def __init__(self, target):
        super().__init__()
        self.register_buffer('target', self.gram(target).detach())

    @staticmethod
    def gram(x):
        mat = x.flatten(-2)
        return mat @ mat.transpose(-2, -1) / mat.shape[-1]

    def forward(self, x):
        return F.mse_loss(self.gram(x), self.target)


def tv_loss(x):
    x = F.pad(x, (0, 1, 0, 1), 'replicate')
    return ((x[..., :-1, 1:] - x[..., :-1, :-1]) ** 2 + (x[..., 1:, :-1] - x[..., :-1, :-1]) ** 2).mean()


def gen_scales(start, end):
    scale = end
    i, scales = 0, set()
    while scale >= start:
        scales.add(scale)
        i += 1
        scale = round(end / pow(2, i / 2))
    return sorted(scales)


def size_to_fit(img, size):
    return F.interpolate(img, size=(size, size), mode='bicubic', align_corners=False)


class StyleTransfer:
    def __init__(self, content_weight=0.05, style_weights=(1.0, 0.6), tv_weight=0.2):
        self.model = Extractor()
        self.content_weight, self.style_weights, self.tv_weight = content_weight, style_weights, tv_weight
        self.image = None

    def get_image(self):
        return self.image.detach()[0].clamp(0, 1)

    def criteria(self, content, style):
        c = ContentLoss(self.model(content)[-1])
        s = [StyleLoss(f) for f in self.model(style)]
        return c, s

    def objective(self, c, s):
        feats = self.model(self.image)
        loss = self.content_weight * c(feats[-1])
        for w, crit, f in zip(self.style_weights, s, feats):
            loss = loss + w * crit(f)
        return loss + self.tv_weight * tv_loss(self.image)

    def stylize(self, content_image, style_image, *, min_scale=8, end_scale=16, iterations=3, initial_iterations=4,
                step_size=0.03, callback=None):
        scales = gen_scales(min_scale, end_scale)
        self.image = size_to_fit(content_image, scales[0])
        for scale in scales:
            content = size_to_fit(content_image, scale)
            style = size_to_fit(style_image, scale)
            c, s = self.criteria(content, style)
            self.image = size_to_fit(self.image.detach(), scale).clamp(0, 1)
            self.image.requires_grad_()
            opt = torch.optim.Adam([self.image], lr=step_size, betas=(0.9, 0.99))
            n = initial_iterations if scale == scales[0] else iterations
            for i in range(1, n + 1):
                loss = self.objective(c, s)
                opt.zero_grad()
                loss.backward()
                opt.step()
                with torch.no_grad():
                    self.image.clamp_(0, 1)
                if callback is not None:
                    callback(scale, i, loss.item())
        return self.get_image()


if __name__ == '__main__':
    torch.manual_seed(40)
    yy, xx = torch.meshgrid(torch.linspace(0, 1, 16), torch.linspace(0, 1, 16), indexing='ij')
    content = torch.stack([yy, xx, (yy * 6).sin().abs()])[None]
    style = torch.rand(1, 3, 16, 16).round()
    st = StyleTransfer()
    out = st.stylize(content, style, callback=lambda scale, i, l: print(f'scale {scale} it {i} loss {l:.6f}'))
    print('mean %.6f' % out.mean())
