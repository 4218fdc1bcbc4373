import torch
from torch import nn
import torch.nn.functional as F


class LlavaLike(nn.Module):
    def __init__(self, vision_tower, language_model):
        super().__init__()
        dim = language_model.embed_tokens.embedding_dim
        self.vision_tower = vision_tower
        self.mm_projector = nn.Sequential(nn.Linear(dim, dim), nn.GELU(), nn.Linear(dim, dim))
        self.language_model = language_model

    def encode_images(self, images):
        with torch.set_grad_enabled(torch.is_grad_enabled() and images.requires_grad):
            features = self.vision_tower(images)
        return self.mm_projector(features)

    def forward(self, data, suffix=None):
        """Cross-entropy of the answer after image, prompt and suffix."""
        embed = self.language_model.embed_tokens
        parts = [self.encode_images(data["images"]), embed(data["prompts"])]
        if suffix is not None:
            parts.append(suffix.expand(len(data["prompts"]), -1, -1))
        parts.append(embed(data["answer"]))
        logits = self.language_model(torch.cat(parts, dim=1))
        n = data["answer"].shape[1]
        return F.cross_entropy(logits[:, -n - 1 : -1].flatten(0, 1), data["answer"].flatten())

    @torch.no_grad()
    def score(self, data, suffix=None):
        return self(data, suffix).item()
