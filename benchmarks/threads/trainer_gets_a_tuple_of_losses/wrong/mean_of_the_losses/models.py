import torch
import torch.nn as nn
import torch.nn.functional as F


class BaseModel(nn.Module):
    """What the trainer expects: forward(batch), loss(outputs, batch) and eval_metrics(outputs, batch).

    ``loss`` may return one tensor or a sequence of tensors that belong to one objective.
    """

    def loss(self, outputs, batch):
        raise NotImplementedError


class MultiTaskTagger(BaseModel):
    """A sequence encoder with three heads: tags, next token, and sentence polarity."""

    def __init__(self, vocab=30, dim=16, tags=5):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.encoder = nn.GRU(dim, dim, batch_first=True)
        self.norm = nn.LayerNorm(dim)
        self.tag_head = nn.Linear(dim, tags)
        self.lm_head = nn.Linear(dim, vocab)
        self.polarity_head = nn.Linear(dim, 1)

    def forward(self, batch):
        hidden, _ = self.encoder(self.embed(batch["tokens"]))
        hidden = self.norm(hidden)
        return {
            "tags": self.tag_head(hidden),
            "lm": self.lm_head(hidden[:, :-1]),
            "polarity": self.polarity_head(hidden.mean(dim=1)).squeeze(-1),
        }

    def loss(self, outputs, batch):
        tag_loss = F.cross_entropy(outputs["tags"].flatten(0, 1), batch["tags"].flatten())
        lm_loss = 0.5 * F.cross_entropy(outputs["lm"].flatten(0, 1), batch["tokens"][:, 1:].flatten())
        polarity_loss = F.binary_cross_entropy_with_logits(outputs["polarity"], batch["polarity"])
        return tag_loss, lm_loss, polarity_loss

    @torch.no_grad()
    def eval_metrics(self, outputs, batch):
        return {
            "tag_acc": (outputs["tags"].argmax(-1) == batch["tags"]).float().mean().item(),
            "polarity_acc": ((outputs["polarity"] > 0).float() == batch["polarity"]).float().mean().item(),
        }
