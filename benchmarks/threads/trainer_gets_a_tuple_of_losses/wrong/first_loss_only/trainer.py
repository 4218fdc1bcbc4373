import io
import time
from typing import Any, Dict, Sequence

import torch


def ensure_tuple(x):
    if isinstance(x, (list, tuple)):
        return tuple(x)
    if isinstance(x, dict):
        return tuple(x.values())
    return (x,)


class Logger:
    def __init__(self, every):
        self.every = every
        self.rows = []

    def log(self, step, values):
        self.rows.append((step, values))
        if step % self.every == 0:
            print(f"[{step:04d}] " + " ".join(f"{k}={v:.5f}" for k, v in values.items()))


class Checkpointer:
    """Keeps the last checkpoint in memory."""

    def __init__(self, interval):
        self.interval = interval
        self.buffer = None

    def maybe_save(self, trainer):
        if trainer.step % self.interval:
            return
        self.buffer = io.BytesIO()
        torch.save({"model": trainer.model.state_dict(), "optimizer": trainer.optimizer.state_dict(),
                    "step": trainer.step}, self.buffer)


class Trainer:
    def __init__(self, model, train_batches, eval_batches, optimizer, scheduler=None, grad_accum=2,
                 max_grad_norm=1.0, log_every=4, save_interval=6):
        self.model = model
        self.train_batches = train_batches
        self.eval_batches = eval_batches
        self.optimizer = optimizer
        self.scheduler = scheduler
        self.grad_accum = grad_accum
        self.max_grad_norm = max_grad_norm
        self.logger = Logger(log_every)
        self.checkpointer = Checkpointer(save_interval)
        self.step = 0
        self.started = time.time()

    def fit(self, epochs):
        for epoch in range(epochs):
            self.model.train()
            for batch in self.train_batches:
                losses = self._train_batch(batch)
                self.step += 1
                self.logger.log(self.step, losses)
                self.checkpointer.maybe_save(self)
            self.evaluate(epoch)

    def _split(self, batch: Dict[str, Any]) -> Sequence[Dict[str, Any]]:
        chunks = {k: v.chunk(self.grad_accum) for k, v in batch.items()}
        return [{k: v[i] for k, v in chunks.items()} for i in range(self.grad_accum)]

    def _train_batch(self, batch):
        self.optimizer.zero_grad()
        total = len(batch["tokens"])
        logged = {}
        for microbatch in self._split(batch):
            self._train_microbatch(microbatch, total, logged)
        norm = torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.max_grad_norm)
        self.optimizer.step()
        if self.scheduler is not None:
            self.scheduler.step()
        logged["grad_norm"] = norm.item()
        return logged

    def _train_microbatch(self, microbatch, current_batch_size, logged):
        microbatch_num_samples = len(microbatch["tokens"])
        outputs = self.model(microbatch)
        losses = ensure_tuple(self.model.loss(outputs, microbatch))
        for i, loss in enumerate(losses):
            # every microbatch counts by its number of samples
            loss = loss * (microbatch_num_samples / current_batch_size)
            if i == 0:
                loss.backward()
            logged[f"loss_{i}"] = logged.get(f"loss_{i}", 0.0) + loss.item()

    @torch.no_grad()
    def evaluate(self, epoch):
        self.model.eval()
        sums = {}
        for batch in self.eval_batches:
            for k, v in self.model.eval_metrics(self.model(batch), batch).items():
                sums[k] = sums.get(k, 0.0) + v / len(self.eval_batches)
        print(f"epoch {epoch} " + " ".join(f"{k} {v:.4f}" for k, v in sums.items()))
