import torch
from torch import nn


class RGCNRepresentation(nn.Module):
    """Entity representations enriched by relational message passing with a basis decomposition."""

    def __init__(self, factory, dim, num_bases=2, num_layers=2):
        super().__init__()
        self.register_buffer("edges", factory.training)
        self.base = nn.Parameter(torch.randn(factory.num_entities, dim) * 0.3)
        self.bases = nn.ParameterList(nn.Parameter(torch.randn(num_bases, dim, dim) * 0.2) for _ in range(num_layers))
        self.coefficients = nn.ParameterList(
            nn.Parameter(torch.randn(2 * factory.num_relations, num_bases) * 0.5) for _ in range(num_layers)
        )
        self.loops = nn.ModuleList(nn.Linear(dim, dim) for _ in range(num_layers))
        self.enriched_embeddings = None

    def reset_enriched(self):
        self.enriched_embeddings = None

    def train(self, mode=True):
        self.reset_enriched()
        return super().train(mode)

    def _enrich(self):
        if self.enriched_embeddings is not None:
            return self.enriched_embeddings
        h, r, t = self.edges.unbind(1)
        offset = r.max() + 1
        source, target = torch.cat([h, t]), torch.cat([t, h])
        relation = torch.cat([r, r + offset])
        degree = torch.zeros(len(self.base)).index_add(0, target, torch.ones(len(target))).clamp(min=1.0)
        x = self.base
        for bases, coefficients, loop in zip(self.bases, self.coefficients, self.loops):
            weight = torch.einsum("rb,bij->rij", coefficients, bases)
            message = torch.einsum("ni,nij->nj", x[source], weight[relation])
            gathered = torch.zeros_like(x).index_add(0, target, message) / degree.unsqueeze(1)
            x = torch.tanh(loop(x) + gathered)
        self.enriched_embeddings = x
        return x

    def forward(self, indices=None):
        x = self._enrich()
        return x if indices is None else x[indices]
