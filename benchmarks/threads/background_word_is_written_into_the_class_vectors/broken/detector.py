import torch
import torch.nn as nn
import torch.nn.functional as F

from heads import BackgroundRPN, SemanticHead


class ZeroShotDetector(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        self.rpn = BackgroundRPN(cfg)
        self.bbox_head = SemanticHead(cfg)

    def forward_train(self, feats, labels):
        losses = {}
        obj, bg_vector = self.rpn(feats)
        losses["rpn"] = F.binary_cross_entropy_with_logits(obj, (labels > 0).float())
        cls_score, semantic, recon = self.bbox_head(feats, bg_vector)
        losses["cls"] = F.cross_entropy(cls_score, labels)
        losses["recon"] = 0.1 * F.mse_loss(recon, feats)
        if self.cfg["with_syn_bg"]:
            # 合成区域：两两混合，背景向量重新计算
            mixed = 0.5 * (feats + feats.flip(0))
            mixed_labels = torch.where(labels == labels.flip(0), labels, torch.zeros_like(labels))
            _, syn_bg = self.rpn(mixed)
            syn_score, _, _ = self.bbox_head(mixed, syn_bg)
            losses["syn"] = self.cfg["syn_weight"] * F.cross_entropy(syn_score, mixed_labels)
        return losses

    @torch.no_grad()
    def embed(self, feats):
        return self.bbox_head.proj(feats)
