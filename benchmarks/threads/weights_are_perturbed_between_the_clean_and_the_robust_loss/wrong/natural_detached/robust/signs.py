"""小さな標識画像の代わり: 12x12 のグレースケール、4 クラス。"""
import torch


def draw(kind, size, generator):
    img = 0.1 * torch.rand(size, size, generator=generator)
    o = int(torch.randint(0, 3, (1,), generator=generator))
    c = slice(2 + o, size - 3 + o)
    if kind == 0:                    # bar
        img[size // 2 - 1 + o // 2, c] += 0.8
    elif kind == 1:                  # post
        img[c, size // 2 - 1 + o // 2] += 0.8
    elif kind == 2:                  # cross
        idx = torch.arange(2, size - 2)
        img[idx, idx] += 0.7
        img[idx, size - 1 - idx] += 0.7
    else:                            # frame
        img[2 + o, c] += 0.6
        img[size - 4 + o, c] += 0.6
        img[c, 2 + o] += 0.6
        img[c, size - 4 + o] += 0.6
    return img.clamp(0, 1)


def make_signs(n, size=12, seed=0):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 4, (n,), generator=g)
    x = torch.stack([draw(int(k), size, g) for k in y]).unsqueeze(1)
    return x, y
