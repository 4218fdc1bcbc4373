import torch


class TriplesFactory:
    """A family-like toy graph: (head, relation, tail) on a ring of entities."""

    def __init__(self, num_entities=24, seed=3):
        g = torch.Generator().manual_seed(seed)
        e = torch.arange(num_entities)
        parts = [
            torch.stack([e, torch.zeros_like(e), (e + 1) % num_entities], 1),
            torch.stack([e, torch.ones_like(e), (e * 5 + 2) % num_entities], 1),
            torch.stack([e, torch.full_like(e, 2), (num_entities - e) % num_entities], 1),
        ]
        triples = torch.cat(parts)
        order = torch.randperm(len(triples), generator=g)
        self.training = triples[order[:-12]]
        self.testing = triples[order[-12:]]
        self.num_entities = num_entities
        self.num_relations = 3

    def corrupt(self, batch, per_positive, g):
        negative = batch.repeat_interleave(per_positive, 0).clone()
        side = torch.randint(0, 2, (len(negative),), generator=g) * 2
        random = torch.randint(0, self.num_entities, (len(negative),), generator=g)
        negative[torch.arange(len(negative)), side] = random
        return negative
