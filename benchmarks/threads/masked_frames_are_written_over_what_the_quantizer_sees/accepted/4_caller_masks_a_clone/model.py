from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F


@dataclass
class Wav2Vec2Config:
    embed_dim: int = 32
    num_codes: int = 16
    final_dim: int = 16
    mask_length: int = 4
    mask_prob: float = 0.08
    num_negatives: int = 8
    logit_temp: float = 0.2


class ConvFeatureExtractionModel(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.convs = nn.Sequential(
            nn.Conv1d(1, dim, 8, stride=4), nn.GroupNorm(1, dim), nn.GELU(),
            nn.Conv1d(dim, dim, 4, stride=4), nn.GELU())

    def forward(self, x):
        return self.convs(x.unsqueeze(1))


class GumbelQuantizer(nn.Module):
    def __init__(self, dim, num_codes, out_dim):
        super().__init__()
        self.weight_proj = nn.Linear(dim, num_codes)
        self.codebook = nn.Parameter(torch.rand(num_codes, out_dim))

    def forward(self, x):
        logits = self.weight_proj(x)
        avg_probs = torch.softmax(logits, -1).mean(0)
        perplexity = torch.exp(-(avg_probs * torch.log(avg_probs + 1e-7)).sum())
        hard = F.gumbel_softmax(logits, tau=1.0, hard=True)
        diversity = (logits.size(-1) - perplexity) / logits.size(-1)
        return hard @ self.codebook, diversity


class Wav2Vec2Model(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.cfg = cfg
        dim = cfg.embed_dim
        self.feature_extractor = ConvFeatureExtractionModel(dim)
        self.mask_emb = nn.Parameter(torch.empty(dim).uniform_())
        self.pos_conv = nn.Conv1d(dim, dim, 5, padding=2, groups=4)
        layer = nn.TransformerEncoderLayer(dim, 4, 64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1)
        self.quantizer = GumbelQuantizer(dim, cfg.num_codes, cfg.final_dim)
        self.final_proj = nn.Linear(dim, cfg.final_dim)

    def compute_mask(self, B, T):
        start = torch.rand(B, T) < self.cfg.mask_prob
        start[:, 2] = True                     # at least one span in each utterance
        mask = torch.zeros(B, T, dtype=torch.bool)
        for i in range(self.cfg.mask_length):
            mask[:, i:] |= start[:, :T - i]
        return mask

    def apply_mask(self, x):
        B, T, C = x.shape
        mask = self.compute_mask(B, T)
        x[mask] = self.mask_emb
        return x, mask

    def sample_negatives(self, y):
        n = y.size(0)
        idx = torch.randint(0, n - 1, (n, self.cfg.num_negatives))
        idx = idx + (idx >= torch.arange(n).unsqueeze(1)).long()
        return y[idx]

    def forward(self, source):
        features = self.feature_extractor(source).transpose(1, 2)
        features_pen = features.float().pow(2).mean()
        unmasked_features = features           # what the quantizer has to see

        x, mask_indices = self.apply_mask(features.clone())
        x = x + self.pos_conv(x.transpose(1, 2)).transpose(1, 2)
        x = self.encoder(x)

        y, diversity = self.quantizer(unmasked_features[mask_indices])
        x = self.final_proj(x[mask_indices])
        return {"x": x, "y": y, "negs": self.sample_negatives(y),
                "diversity": diversity, "features_pen": features_pen}

    def get_logits(self, out):
        targets = torch.cat([out["y"].unsqueeze(1), out["negs"]], dim=1)
        sim = torch.cosine_similarity(out["x"].unsqueeze(1), targets, dim=-1)
        return sim / self.cfg.logit_temp

    def get_extra_losses(self, out):
        return [out["diversity"], out["features_pen"]]
