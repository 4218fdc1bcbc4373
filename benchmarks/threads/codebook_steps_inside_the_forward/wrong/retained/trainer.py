import torch
import torch.nn.functional as F


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.optim = torch.optim.AdamW(model.main_parameters(), lr=lr)

    def step(self, x):
        self.optim.zero_grad()
        out, commit, q = self.model(x)
        rec = F.mse_loss(out, x)
        (rec + commit).backward()
        self.optim.step()
        return rec.item(), commit.item(), self.model.vq.last_codebook_loss

    def fit(self, x, epochs, batch_size):
        for epoch in range(epochs):
            self.model.train()
            rows = [self.step(x[i]) for i in torch.randperm(len(x)).split(batch_size)]
            rec, commit, code = (sum(c) / len(rows) for c in zip(*rows))
            used = self.evaluate(x)
            print(f"epoch {epoch} | rec {rec:.5f} | commit {commit:.5f} | codebook {code:.5f} | used {used}")

    @torch.no_grad()
    def evaluate(self, x):
        self.model.eval()
        return self.model(x)[2].unique().numel()
