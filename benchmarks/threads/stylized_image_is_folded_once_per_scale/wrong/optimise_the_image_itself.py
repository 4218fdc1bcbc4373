import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim


class Extractor(nn.Module):
    """small random conv net in the place of vgg16"""
    def __init__(self, requires_grad=False):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(),
            nn.Conv2d(8, 12, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2),
            nn.Conv2d(12, 16, 3, padding=1), nn.ReLU(),
        )
        self.capture_layers = [1, 3, 6]
        if not requires_grad:
            for param in self.parameters():
                param.requires_grad = False

    def forward(self, x):
        feat = [x]
        for i, layer in enumerate(self.layers):
            x = layer(x)
            if i in self.capture_layers: feat.append(x)
        return feat


def resample(x, size):
    return F.interpolate(x, size, mode='bilinear', align_corners=False)

def laplacian(x):
    # x - upsample(downsample(x))
    return x - resample(resample(x, [x.shape[2] // 2, x.shape[3] // 2]), [x.shape[2], x.shape[3]])

def make_laplace_pyramid(x, levels):
    pyramid = []
    current = x
    for i in range(levels):
        pyramid.append(laplacian(current))
        current = resample(current, (max(current.shape[2] // 2, 1), max(current.shape[3] // 2, 1)))
    pyramid.append(current)
    return pyramid

def fold_laplace_pyramid(pyramid):
    current = pyramid[-1]
    for i in range(len(pyramid) - 2, -1, -1):  # iterate from len-2 to 0
        current = pyramid[i] + resample(current, pyramid[i].shape[2:])
    return torch.sigmoid(current)  # pyramid lives in logit space, so pixels stay in [0, 1]

def to_logits(x):
    return torch.logit(x.clamp(0.02, 0.98))

def self_similarity(f):
    f = f.flatten(2)[0].t()
    f = f / (f.norm(dim=1, keepdim=True) + 1e-6)
    return 1. - f @ f.t()

def content_loss(feat_result, feat_content):
    loss = 0.
    for r, c in zip(feat_result[2:], feat_content[2:]):
        loss = loss + (self_similarity(resample(r, (8, 8))) - self_similarity(resample(c, (8, 8)))).abs().mean()
    return loss

def moment_loss(feat_result, feat_style):
    loss = 0.
    for r, s in zip(feat_result, feat_style):
        r, s = r.flatten(2)[0], s.flatten(2)[0]
        mu_r, mu_s = r.mean(1, keepdim=True), s.mean(1, keepdim=True)
        cov_r = (r - mu_r) @ (r - mu_r).t() / r.shape[1]
        cov_s = (s - mu_s) @ (s - mu_s).t() / s.shape[1]
        loss = loss + (mu_r - mu_s).abs().mean() + (cov_r - cov_s).abs().mean()
    return loss


def optimize(result, content, style, content_weight, lr, extractor, opt_iter=40):
    result_pyramid = make_laplace_pyramid(to_logits(result), 3)
    result_pyramid = [l.data.requires_grad_() for l in result_pyramid]

    # use rmsprop
    optimizer = optim.RMSprop(result_pyramid, lr=lr)

    # extract features for content and style
    feat_content = extractor(content)
    feat_style = extractor(style)

    stylized = fold_laplace_pyramid(result_pyramid).detach().requires_grad_()
    optimizer = optim.RMSprop([stylized], lr=lr)
    for it in range(opt_iter):
        optimizer.zero_grad()
        feat_result = extractor(stylized)
        loss = content_weight * content_loss(feat_result, feat_content) + moment_loss(feat_result, feat_style)
        loss.backward()
        optimizer.step()
        if it % 13 == 0:
            print('  it %d loss %.6f' % (it, loss.item()))
    return stylized.detach()


def strotss(content_full, style_full, content_weight=4.0):
    lr = 2e-2
    extractor = Extractor()
    scales = [4, 2, 1]
    for scale in scales:
        # rescale content to current scale
        size = [content_full.shape[2] // scale, content_full.shape[3] // scale]
        content, style = resample(content_full, size), resample(style_full, size)
        print('Optimizing at resolution [%d, %d]' % tuple(size))
        if scale == scales[0]:
            result = laplacian(content) + style.mean((2, 3), keepdim=True)
        else:
            result = resample(result, size) + 0.5 * laplacian(content)
        result = optimize(result, content, style, content_weight, lr, extractor)
        # next scale lower weight
        content_weight /= 2.0
    return result


def demo_images(size=48):
    yy, xx = np.meshgrid(np.linspace(-1, 1, size), np.linspace(-1, 1, size), indexing='ij')
    disc = (xx ** 2 + yy ** 2 < 0.4).astype('float32')
    content = np.stack([0.2 + 0.6 * disc, 0.5 + 0.3 * xx, 0.5 - 0.3 * yy])
    waves = 0.5 + 0.4 * np.sin(9 * xx + 3 * np.cos(4 * yy))
    style = np.stack([waves, 0.3 * waves, 1 - waves])
    return [torch.from_numpy(a.astype('float32'))[None] for a in (content, style)]


if __name__ == '__main__':
    torch.manual_seed(0)
    content, style = demo_images()
    image = strotss(content, style)
    print('mean %s std %.6f' % (' '.join('%.6f' % v for v in image.mean((0, 2, 3))), image.std().item()))
