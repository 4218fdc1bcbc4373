import logging

import torch

log = logging.getLogger(__name__)


class MiniTrainer:
    def __init__(self, max_epochs, batch_size):
        self.max_epochs, self.batch_size = max_epochs, batch_size

    def _batches(self, data, shuffle):
        n = len(data[0])
        order = torch.randperm(n) if shuffle else torch.arange(n)
        for i in range(0, n, self.batch_size):
            yield tuple(d[order[i:i + self.batch_size]] for d in data)

    @torch.no_grad()
    def validate(self, model, data):
        model.eval()
        losses = [model.validation_step(b).item() for b in self._batches(data, False)]
        model.train()
        return sum(losses) / len(losses)

    def fit(self, model, train, val):
        opt, sched = model.configure_optimizers()
        for epoch in range(self.max_epochs):
            for batch in self._batches(train, True):
                loss = model.training_step(batch)
                opt.zero_grad()
                loss.backward()
                opt.step()
            score = self.validate(model, val)
            sched.step(score)
            log.info("epoch %d", epoch)
            print("epoch %d train %.6f val %.6f lr %.6f" % (epoch, loss.item(), score, opt.param_groups[0]["lr"]))
