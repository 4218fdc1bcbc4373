import argparse

import torch
import torch.nn.functional as F

from autoencoder import SlotAutoEncoder


def squares(n, size=6):
    """two coloured squares on black"""
    images = torch.zeros(n, 3, size, size)
    for img in images:
        for _ in range(2):
            y, x = torch.randint(0, size - 2, (2,)).tolist()
            img[:, y:y + 2, x:x + 2] = torch.rand(3, 1, 1)
    return images


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--seed', default=14, type=int)
    parser.add_argument('--batch_size', default=8, type=int)
    parser.add_argument('--num_steps', default=5, type=int)
    parser.add_argument('--warmup_steps', default=3, type=int)
    parser.add_argument('--learning_rate', default=0.002, type=float)
    parser.add_argument('--entropy', default=0.01, type=float)
    opt = parser.parse_args([])
    torch.manual_seed(opt.seed)

    model = SlotAutoEncoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=opt.learning_rate)
    for i in range(1, opt.num_steps + 1):
        lr = opt.learning_rate * min(1.0, i / opt.warmup_steps)
        optimizer.param_groups[0]['lr'] = lr
        image = squares(opt.batch_size)
        recon, masks, attn = model(image)
        entropy = -(attn * attn.log()).sum(1).mean()
        mse = F.mse_loss(recon, image)
        loss = mse + opt.entropy * entropy
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print("step {} lr {:.5f} mse {:.6f} entropy {:.6f}".format(i, lr, mse.item(), entropy.item()))


if __name__ == '__main__':
    main()
