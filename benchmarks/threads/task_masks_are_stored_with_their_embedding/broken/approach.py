import torch
import torch.nn.functional as F


class Appr:
    """Hard attention to the task."""

    def __init__(self, model, nepochs=4, sbatch=16, lr=0.05, lr_factor=3, clipgrad=10, lamb=0.75, smax=50.0):
        self.model = model
        self.nepochs, self.sbatch = nepochs, sbatch
        self.lr, self.lr_factor, self.clipgrad = lr, lr_factor, clipgrad
        self.lamb, self.smax = lamb, smax
        self.mask_pre = None
        self.mask_back = None
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)

    def train(self, t, xtrain, ytrain, xvalid, yvalid):
        lr, best = self.lr, float("inf")
        for group in self.optimizer.param_groups:
            group["lr"] = lr
        for e in range(self.nepochs):
            self.train_epoch(t, xtrain, ytrain)
            valid_loss, valid_acc = self.eval(t, xvalid, yvalid)
            print(f"task {t} epoch {e} valid loss {valid_loss:.5f} acc {valid_acc:.4f}")
            if valid_loss < best:
                best = valid_loss
            else:
                lr /= self.lr_factor
                for group in self.optimizer.param_groups:
                    group["lr"] = lr

        # Activations mask
        task = torch.tensor([t])
        mask = self.model.mask(task, s=self.smax)
        if self.mask_pre is None:
            self.mask_pre = mask
        else:
            self.mask_pre = [torch.max(pre, m) for pre, m in zip(self.mask_pre, mask)]

        # Weights mask
        self.mask_back = {}
        for n, _ in self.model.named_parameters():
            vals = self.model.get_view_for(n, self.mask_pre)
            if vals is not None:
                self.mask_back[n] = 1 - vals

    def train_epoch(self, t, x, y):
        self.model.train()
        order = torch.randperm(len(x))
        batches = order.split(self.sbatch)
        for i, b in enumerate(batches):
            s = (self.smax - 1 / self.smax) * i / len(batches) + 1 / self.smax
            outputs, masks = self.model(torch.tensor([t]), x[b], s=s)
            loss = self.criterion(outputs[t], y[b], masks)
            self.optimizer.zero_grad()
            loss.backward()
            # Restrict layer gradients in backprop
            if t > 0:
                for n, p in self.model.named_parameters():
                    if n in self.mask_back:
                        p.grad.data *= self.mask_back[n]
            torch.nn.utils.clip_grad_norm_([p for p in self.model.parameters() if p.grad is not None], self.clipgrad)
            self.optimizer.step()

    def criterion(self, output, targets, masks):
        reg, count = 0, 0
        if self.mask_pre is not None:
            for m, mp in zip(masks, self.mask_pre):
                aux = 1 - mp
                reg = reg + (m * aux).sum()
                count = count + aux.sum()
        else:
            for m in masks:
                reg = reg + m.sum()
                count += m.numel()
        return F.cross_entropy(output, targets) + self.lamb * reg / count

    @torch.no_grad()
    def eval(self, t, x, y):
        self.model.eval()
        outputs, masks = self.model(torch.tensor([t]), x, s=self.smax)
        loss = self.criterion(outputs[t], y, masks)
        return loss.item(), (outputs[t].argmax(1) == y).float().mean().item()
