import torch, torch.nn as nn, torch.nn.functional as F

def deepdream(model, image, layer, iterations=3, lr=0.05, octaves=3, scale=1.5):
    """Octaves from coarse to fine; the detail that was dreamt up is carried to the next one."""
    pyramid = [image]
    for _ in range(octaves - 1):
        pyramid.append(F.interpolate(pyramid[-1], scale_factor=1 / scale, mode='bilinear', align_corners=False, recompute_scale_factor=True))
    detail = torch.zeros_like(pyramid[-1])
    for octave, base in enumerate(reversed(pyramid)):
        if octave > 0:
            detail = F.interpolate(detail, size=base.shape[-2:], mode='bilinear', align_corners=False)
        dream_img = (base + detail).requires_grad_(True)
        for i in range(iterations):
            model.zero_grad()
            out = model[:layer](dream_img)
            loss = out.norm()
            loss.backward()
            grad = dream_img.grad
            grad_norm = grad / (grad.abs().mean() + 1e-8)
            dream_img.data += lr * grad_norm
            dream_img.data.clamp_(0, 1)
            dream_img.grad.zero_()
        detail = dream_img - base
        print('octave', octave, '%.6f' % loss.item(), '%.6f' % dream_img.mean().item())
    return base + detail

torch.manual_seed(15)
net = nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.Tanh(), nn.Conv2d(6, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 4, 3))
result = deepdream(net, torch.rand(1, 3, 18, 18), layer=4)
print('%.6f' % result.sum().item())
