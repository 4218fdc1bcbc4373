import numpy as np
import torch
import torch.nn.functional as F

from config import Config as cfg
from net import SmallNet, prepare_finetune


def make_textures(n, classes, seed, offset=0.0):
    # 不同频率/方向的条纹, 代替真实图片
    rng = np.random.RandomState(seed)
    y = rng.randint(0, classes, n)
    g = np.arange(16) / 16.0
    xx, yy = np.meshgrid(g, g)
    imgs = []
    for c in y:
        ang = np.pi * (c + offset) / classes
        ph = rng.rand() * 6.28
        wave = np.sin(2 * np.pi * (3 + offset) * (xx * np.cos(ang) + yy * np.sin(ang)) + ph)
        imgs.append(wave + 0.3 * rng.randn(16, 16))
    return torch.tensor(np.array(imgs), dtype=torch.float32).unsqueeze(1), torch.from_numpy(y)


def train(model, optimizer, x, y, epochs, name):
    model.train()
    for ep in range(epochs):
        perm = torch.randperm(len(x))
        run_loss, hit = 0.0, 0
        for i in range(0, len(x), cfg.batch_size):
            idx = perm[i:i + cfg.batch_size]
            out = model(x[idx])
            loss = F.cross_entropy(out, y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            run_loss += loss.item() * len(idx)
            hit += (out.argmax(1) == y[idx]).sum().item()
        print('[%s] epoch %d loss %.6f acc %.6f' % (name, ep + 1, run_loss / len(x), hit / len(x)))


if __name__ == '__main__':
    torch.manual_seed(cfg.seed)

    # 1. "预训练"
    xs, ys = make_textures(192, cfg.n_source_classes, seed=1)
    model = SmallNet(cfg.n_source_classes)
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr_pretrain)
    train(model, opt, xs, ys, cfg.pretrain_epochs, 'pretrain')

    # 2. 迁移到新任务
    xt, yt = make_textures(96, cfg.n_target_classes, seed=2, offset=0.4)
    model = prepare_finetune(model, cfg.n_target_classes, cfg.n_trainable_blocks)
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr_finetune)
    train(model, opt, xt, yt, cfg.finetune_epochs, 'finetune')

    for name, child in model.named_children():
        print('%s %.6f' % (name, sum(p.abs().sum().item() for p in child.parameters())))
    xv, yv = make_textures(60, cfg.n_target_classes, seed=3, offset=0.4)
    model.eval()
    with torch.no_grad():
        print('val acc %.6f' % (model(xv).argmax(1) == yv).float().mean().item())
