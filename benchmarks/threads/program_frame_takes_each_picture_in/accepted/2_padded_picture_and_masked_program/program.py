import torch
import torch.nn as nn
import torch.nn.functional as F


class Program(nn.Module):
    """
    Adversarial program: a frame of learned pixels around the small picture,
    and a fixed map from the victim's classes to the new ones.
    """

    def __init__(self, victim, cfg):
        super(Program, self).__init__()
        self.victim = victim
        self.victim.eval()
        for param in self.victim.parameters():
            param.requires_grad = False
        self.n_new = cfg.n_new
        self.start = (cfg.h1 - cfg.h2) // 2
        self.end = self.start + cfg.h2
        self.W = nn.Parameter(0.1 * torch.randn(1, cfg.h1, cfg.h1))

        M = torch.ones(1, cfg.h1, cfg.h1)
        M[:, self.start:self.end, self.start:self.end] = 0
        self.register_buffer('M', M)

    def paste(self, image):
        """puts one picture into the middle of the program"""
        padding = (self.start, self.W.size(2) - self.end) * 2
        return F.pad(image, padding) + self.W * self.M

    def imagenet_label2new_label(self, logits):
        return logits.view(logits.size(0), self.n_new, -1).mean(2)

    def forward(self, images):
        x_adv = torch.stack([self.paste(image) for image in images])
        return self.imagenet_label2new_label(self.victim(x_adv))
