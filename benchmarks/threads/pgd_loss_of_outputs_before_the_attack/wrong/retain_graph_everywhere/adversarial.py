# -*- coding: utf-8 -*-
import torch


class PGD(object):
    """在 embedding 上做 K 步投影梯度上升。"""

    def __init__(self, module, epsilon=0.6, alpha=0.25, emb_name="embedding"):
        self.module = module
        self.epsilon = epsilon
        self.alpha = alpha
        self.emb_name = emb_name
        self.emb_backup = {}
        self.grad_backup = {}

    def attack(self, is_first_attack=False):
        for name, param in self.module.named_parameters():
            if param.requires_grad and self.emb_name in name:
                if is_first_attack:
                    self.emb_backup[name] = param.data.clone()
                norm = torch.norm(param.grad)
                if norm != 0 and not torch.isnan(norm):
                    param.data.add_(self.alpha * param.grad / norm)
                    param.data = self.project(name, param.data)

    def project(self, name, data):
        r = data - self.emb_backup[name]
        if torch.norm(r) > self.epsilon:
            r = self.epsilon * r / torch.norm(r)
        return self.emb_backup[name] + r

    def restore(self):
        for name, param in self.module.named_parameters():
            if name in self.emb_backup:
                param.data = self.emb_backup[name]
        self.emb_backup = {}

    def backup_grad(self):
        for name, param in self.module.named_parameters():
            if param.requires_grad and param.grad is not None:
                self.grad_backup[name] = param.grad.clone()

    def restore_grad(self):
        for name, param in self.module.named_parameters():
            if name in self.grad_backup:
                param.grad = self.grad_backup[name]
