import torch
import torch.nn.functional as F


class SLCWATrainingLoop:
    def __init__(self, model, factory, optimizer, batch_size=20, num_negs_per_pos=3, seed=0):
        self.model, self.factory, self.optimizer = model, factory, optimizer
        self.batch_size, self.num_negs_per_pos = batch_size, num_negs_per_pos
        self.g = torch.Generator().manual_seed(seed)

    def _process_batch(self, batch):
        negative = self.factory.corrupt(batch, self.num_negs_per_pos, self.g)
        positive_scores = self.model.score_hrt(batch)
        negative_scores = self.model.score_hrt(negative)
        return F.softplus(-positive_scores).mean() + F.softplus(negative_scores).mean()

    def train_epoch(self):
        self.model.train()
        triples = self.factory.training
        order = torch.randperm(len(triples), generator=self.g)
        total = 0.0
        for batch in triples[order].split(self.batch_size):
            self.optimizer.zero_grad()
            loss = self._process_batch(batch)
            loss.backward()
            self.optimizer.step()
            self.model.post_parameter_update()
            total += loss.item() * len(batch)
        return total / len(triples)


@torch.no_grad()
def mean_reciprocal_rank(model, triples):
    model.eval()
    scores = model.score_t(triples[:, 0], triples[:, 1])
    own = scores.gather(1, triples[:, 2:])
    return (1.0 / (1 + (scores > own).sum(1))).mean().item()
