import torch


def detach_all(obj):
    """no graphs in what is kept for the end of the epoch"""
    if torch.is_tensor(obj):
        return obj.detach()
    if isinstance(obj, dict):
        return {k: detach_all(v) for k, v in obj.items()}
    if isinstance(obj, (list, tuple)):
        return type(obj)(detach_all(v) for v in obj)
    return obj


class Trainer:
    def __init__(self, max_epochs, accumulate_grad_batches=1, callbacks=()):
        self.max_epochs, self.accumulate = max_epochs, accumulate_grad_batches
        self.callbacks = list(callbacks)
        self.global_step = 0

    def call(self, hook, *args):
        for cb in self.callbacks:
            getattr(cb, hook)(self, *args)

    def run_training_batch(self, module, batch, batch_idx):
        outputs = module.training_step(batch, batch_idx)
        live = outputs["loss"]
        outputs = detach_all(outputs)
        self.epoch_outputs.append(outputs)
        self.call("on_after_training_step", module, outputs)
        loss = live / self.accumulate
        loss.backward()
        if (batch_idx + 1) % self.accumulate == 0:
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.global_step += 1

    def fit(self, module, loader):
        self.optimizer = module.configure_optimizers()
        for _ in range(self.max_epochs):
            module.train()
            self.epoch_outputs = []
            for i, batch in enumerate(loader):
                self.run_training_batch(module, batch, i)
            self.call("on_epoch_end", module.training_epoch_end(self.epoch_outputs))
