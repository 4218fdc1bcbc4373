# スタイル変換: 自前の AdaIN
import torch, torch.nn as nn, torch.nn.functional as F

def mean_std(x, eps=1e-5):
    return x.mean((2, 3), keepdim=True), (x.var((2, 3), keepdim=True) + eps).sqrt()

def adain(content, style):
    c_mean, c_std = mean_std(content); s_mean, s_std = mean_std(style)
    content -= c_mean      # 平均を引く
    content = content / c_std
    return content * s_std + s_mean

torch.manual_seed(8)
enc = nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.ReLU(), nn.Conv2d(6, 6, 3, padding=1))
dec = nn.Sequential(nn.Conv2d(6, 6, 3, padding=1), nn.ReLU(), nn.Conv2d(6, 3, 3, padding=1))
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=2e-3)
for i in range(5):
    c, s = torch.rand(4, 3, 8, 8), torch.rand(4, 3, 8, 8) * torch.rand(4, 3, 1, 1)
    fc, fs = enc(c), enc(s)
    t = adain(fc, fs); g = enc(dec(t))
    loss_c = F.mse_loss(g, t)                                                     # 内容損失
    loss_s = sum(F.mse_loss(a, b) for a, b in zip(mean_std(g), mean_std(fs)))     # スタイル損失
    loss = loss_c + 3 * loss_s; opt.zero_grad(); loss.backward(); opt.step()
    print('%d 内容 %.6f スタイル %.6f' % (i, loss_c.item(), loss_s.item()))
