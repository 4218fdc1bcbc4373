from torch import optim
from torch.nn.utils import clip_grad_norm_


class AbstractTrainer:
    def __init__(self, cfg, model):
        self.cfg = cfg
        self.model = model

    def train_epoch(self, batches):
        raise NotImplementedError


class MultiOptimTrainer(AbstractTrainer):
    """One optimizer per sub-module, each with its own learning rate. The loss is one and the same."""

    def __init__(self, cfg, model):
        super().__init__(cfg, model)
        self.optimizers = {
            "encoder": optim.Adam(model.encoder.parameters(), lr=cfg.enc_lr),
            "decoder": optim.SGD(model.decoder.parameters(), lr=cfg.dec_lr, momentum=0.9),
        }

    def _params(self, opt):
        return [p for g in opt.param_groups for p in g["params"]]

    def optimize(self, loss, opt):
        clip_grad_norm_(self._params(opt), self.cfg.clip)
        opt.step()

    def train_epoch(self, batches):
        self.model.train()
        total_loss = 0.0
        for batch in batches:
            loss = self.model.calculate_loss(batch)
            for opt in self.optimizers.values():
                opt.zero_grad()
            loss.backward()
            for opt in self.optimizers.values():
                self.optimize(loss, opt)
            total_loss += loss.item()
        return total_loss / len(batches)
