import torch


class Solver:
    def __init__(self, model, loss_fn, optimizer, tr_loader, cv_loader, epochs, max_norm=5.0):
        self.model = model
        self.loss_fn = loss_fn
        self.optimizer = optimizer
        self.loaders = {'train': tr_loader, 'valid': cv_loader}
        self.epochs = epochs
        self.max_norm = max_norm

    def train(self):
        for epoch in range(self.epochs):
            self.model.train()
            tr = self._run_one_epoch('train')
            self.model.eval()
            with torch.no_grad():
                cv = self._run_one_epoch('valid')
            print('Epoch %d | train loss %.4f (l1 %.4f, stft %.4f) | valid loss %.4f'
                  % (epoch + 1, *tr, cv[0]))

    def _run_one_epoch(self, split):
        sums, n = [0.0, 0.0, 0.0], 0
        for noisy, clean in self.loaders[split]:
            est = self.model(noisy)
            losses = self.loss_fn(est, clean)
            if split == 'train':
                self.optimizer.zero_grad()
                losses[0].backward()
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)
                self.optimizer.step()
            sums = [s + l.item() for s, l in zip(sums, losses)]
            n += 1
        return [s / n for s in sums]
