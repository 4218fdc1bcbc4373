import torch


class Trainer:
    def __init__(self, model, data, cfg):
        self.model, self.data, self.cfg = model, data, cfg
        self.opt = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
        self.sched = torch.optim.lr_scheduler.LambdaLR(self.opt, lambda s: min(1.0, (s + 1) / cfg.warmup))
        self.held_out = data.batch(16, torch.Generator().manual_seed(1))

    @torch.inference_mode()
    def evaluate(self):
        self.model.eval()
        loss = self.model(self.held_out).item()
        self.model.train()
        return loss

    def fit(self):
        print("sanity check %.6f" % self.evaluate())
        for step in range(self.cfg.steps):
            loss = self.model(self.data.batch(self.cfg.batch))
            self.opt.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.opt.step()
            self.sched.step()
            line = "step %d loss %.6f" % (step, loss.item())
            if (step + 1) % self.cfg.eval_every == 0:
                line += " eval %.6f" % self.evaluate()
            print(line)
