# 给图片加保护扰动: 一个通用扰动, 让多模态模型对各种问题都拒绝回答
import argparse
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class ImageProcessor:
    """what the model's authors ship: resize by averaging, then normalise"""
    image_mean = np.array([0.48, 0.46, 0.41], dtype=np.float32)
    image_std = np.array([0.27, 0.26, 0.28], dtype=np.float32)
    patch = 2

    def __call__(self, image):
        a = np.asarray(image, dtype=np.float32)                 # 3 x H x W in [0, 1]
        c, h, w = a.shape
        k = self.patch
        a = a.reshape(c, h // k, k, w // k, k).mean(axis=(2, 4))
        a = (a - self.image_mean[:, None, None]) / self.image_std[:, None, None]
        return torch.from_numpy(a.astype(np.float32)).unsqueeze(0)


class TinyVLM(nn.Module):
    def __init__(self, pixels=3 * 4 * 4, vocab=10, dim=20):
        super().__init__()
        self.vision = nn.Sequential(nn.Flatten(), nn.Linear(pixels, dim), nn.GELU())
        self.words = nn.Embedding(vocab, dim)
        self.head = nn.Linear(dim, vocab)

    def forward(self, pixel_values, question):
        return self.head(torch.tanh(self.vision(pixel_values) + self.words(question).mean(0)))


class VisualAttacker:
    def __init__(self, model, image, eps=0.12, refuse=7):
        self.model = model.eval().requires_grad_(False)
        self.processor = ImageProcessor()
        self.image, self.eps = image, eps
        self.refuse = torch.tensor([refuse])

    def attack_benchmark(self, questions, num_iter, lr):
        pert = torch.zeros_like(self.image, requires_grad=True)
        optimizer = torch.optim.Adam([pert], lr=lr)
        for it in range(num_iter):
            group_loss = 0
            adv = (self.image + pert).clamp(0, 1)
            for q in questions[it % 2::2]:
                # processor 只收 numpy
                pixel_values = F.avg_pool2d(adv.unsqueeze(0), self.processor.patch)
                logits = self.model(pixel_values, q)
                group_loss = group_loss + F.cross_entropy(logits, self.refuse)
            optimizer.zero_grad()
            group_loss.backward()
            optimizer.step()
            with torch.no_grad():
                pert.clamp_(-self.eps, self.eps)
            print('iter %d  group loss %.6f  |pert| %.6f' % (it, group_loss.item(), pert.detach().abs().mean().item()))
        return pert.detach()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--num_iter', type=int, default=8)
    parser.add_argument('--lr', type=float, default=0.02)
    args = parser.parse_args()
    torch.manual_seed(23)
    model = TinyVLM()
    image = torch.rand(3, 8, 8)
    questions = [torch.randint(0, 10, (4,)) for _ in range(6)]
    attacker = VisualAttacker(model, image)
    pert = attacker.attack_benchmark(questions, args.num_iter, args.lr)
    protected = attacker.processor((image + pert).clamp(0, 1).numpy())
    refused = [F.softmax(model(protected, q), 1)[0, 7].item() for q in questions]
    print('refusal', ' '.join('%.6f' % r for r in refused))


if __name__ == '__main__':
    main()
