import torch
import torch.nn as nn
import torch.nn.functional as F


class BackgroundRPN(nn.Module):
    """背景感知 RPN：由区域特征得到图像相关的背景词向量"""

    def __init__(self, cfg):
        super().__init__()
        self.conv = nn.Linear(cfg["roi_dim"], cfg["word_dim"])
        self.bg = nn.Parameter(torch.randn(cfg["word_dim"]) * 0.1)
        self.objectness = nn.Linear(cfg["word_dim"], 1)

    def forward(self, feats):
        h = torch.tanh(self.conv(feats))
        obj = self.objectness(h).squeeze(1)
        attention = torch.softmax(-obj, dim=0)
        bg_vector = self.bg + (attention[:, None] * h).sum(0)
        return obj, bg_vector


class SemanticHead(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.proj = nn.Sequential(nn.Linear(cfg["roi_dim"], 32), nn.ReLU(), nn.Linear(32, cfg["word_dim"]))
        self.back = nn.Linear(cfg["word_dim"], cfg["roi_dim"])
        words = F.normalize(torch.randn(1 + cfg["num_seen"], cfg["word_dim"]), dim=1)
        self.register_buffer("vec", words)          # 第 0 行留给背景

    def forward(self, feats, bg_vector):
        semantic = self.proj(feats)
        vec = self.vec.clone()
        vec[0] = bg_vector.detach()
        cls_score = semantic @ vec.t()
        recon = self.back(cls_score.softmax(1) @ vec)
        return cls_score, semantic, recon
