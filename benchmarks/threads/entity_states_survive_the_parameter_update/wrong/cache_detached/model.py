import torch
from torch import nn

from representation import RGCNRepresentation


class ERModel(nn.Module):
    """What all interaction models have in common."""

    def post_parameter_update(self):
        """Called by the training loop whenever the optimizer has moved the parameters."""

    def score_hrt(self, triples):
        raise NotImplementedError


class RGCN(ERModel):
    def __init__(self, factory, dim=16):
        super().__init__()
        self.entities = RGCNRepresentation(factory, dim)
        self.relations = nn.Embedding(factory.num_relations, dim)
        nn.init.xavier_uniform_(self.relations.weight)

    def post_parameter_update(self):
        super().post_parameter_update()
        with torch.no_grad():
            norm = self.relations.weight.norm(dim=1, keepdim=True).clamp(min=1.0)
            self.relations.weight.div_(norm)

    def score_hrt(self, triples):
        h, r, t = triples.unbind(1)
        return (self.entities(h) * self.relations(r) * self.entities(t)).sum(-1)

    def score_t(self, head, relation):
        return (self.entities(head) * self.relations(relation)) @ self.entities().t()
