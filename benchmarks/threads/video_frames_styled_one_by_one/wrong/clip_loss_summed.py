# -*- coding: utf-8 -*-
# converted from video_style.ipynb
# In[1]:
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(3)
CLIP_LEN = 4
H = W = 12
STYLE_W, CONTENT_W, TEMPORAL_W, TV_W = 20.0, 1.0, 8.0, 1e-3


# In[2]:  the net that gets trained
class Stylizer(nn.Module):
    def __init__(self, ch=8):
        super().__init__()
        self.down = nn.Conv2d(3, ch, 3, padding=1)
        self.norm = nn.InstanceNorm2d(ch, affine=True)
        self.res = nn.Conv2d(ch, ch, 3, padding=1)
        self.up = nn.Conv2d(ch, 3, 3, padding=1)

    def forward(self, x):
        h = F.relu(self.norm(self.down(x)))
        h = h + F.relu(self.res(h))
        return torch.sigmoid(self.up(h))


# In[3]:  "vgg" (random features do the job for a smoke test)
vgg = nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.ReLU(), nn.Conv2d(6, 10, 3, padding=1))
for q in vgg.parameters():
    q.requires_grad_(False)


def gram(f):
    b, c, h, w = f.shape
    f = f.view(b, c, h * w)
    return f @ f.transpose(1, 2) / (c * h * w)


def warp(img, flow):
    """backward warping with a dense flow (pixels)"""
    ys, xs = torch.meshgrid(torch.arange(H, dtype=torch.float32), torch.arange(W, dtype=torch.float32), indexing="ij")
    gx = 2 * (xs + flow[0]) / (W - 1) - 1
    gy = 2 * (ys + flow[1]) / (H - 1) - 1
    grid = torch.stack([gx, gy], -1).unsqueeze(0)
    return F.grid_sample(img, grid, align_corners=True, padding_mode="border")


def load_clip(step):
    base = torch.rand(1, 3, H, W)
    frames, flows, masks = [base], [None], [None]
    for _ in range(CLIP_LEN - 1):
        flow = torch.randn(2, 1, 1).expand(2, H, W) * 0.7
        frames.append((warp(frames[-1], flow) + 0.02 * torch.randn(1, 3, H, W)).clamp(0, 1))
        flows.append(flow)
        masks.append((torch.rand(1, 1, H, W) > 0.15).float())   # 0 = disoccluded
    return frames, flows, masks


# In[4]:
style_img = torch.rand(1, 3, H, W)
style_gram = gram(vgg(style_img))
net = Stylizer()
optim = torch.optim.Adam(net.parameters(), 2e-3)

# In[5]:
for step in range(5):
    frames, flows, masks = load_clip(step)
    outs = []
    log = {"content": 0.0, "style": 0.0, "temporal": 0.0}
    optim.zero_grad()
    clip_loss = 0.0
    for t, frame in enumerate(frames):
        out = net(frame)
        feat = vgg(out)
        content = CONTENT_W * F.mse_loss(feat, vgg(frame))
        style = STYLE_W * F.mse_loss(gram(feat), style_gram)
        tv = TV_W * ((out[..., 1:] - out[..., :-1]).abs().sum() + (out[..., 1:, :] - out[..., :-1, :]).abs().sum())
        loss = content + style + tv
        if t > 0:
            # where we can see the same point again, the frame has to look like the one we have already
            # shown (Ruder et al.): the earlier frame is done, it is what this one gets pulled to
            prev = warp(outs[t - 1], flows[t])
            temporal = TEMPORAL_W * (masks[t] * (out - prev) ** 2).mean()
            loss = loss + temporal
            log["temporal"] += temporal.item()
        # frame by frame, a whole clip does not fit on my 6GB card
        clip_loss = clip_loss + loss / CLIP_LEN
        outs.append(out)
        log["content"] += content.item()
        log["style"] += style.item()
    clip_loss.backward()
    optim.step()
    flicker = sum((a - b).abs().mean().item() for a, b in zip(outs[1:], outs[:-1]))
    print("step %d" % step, *["%s %.6f" % kv for kv in log.items()], "flicker %.6f" % flicker)
