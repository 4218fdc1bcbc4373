import copy

import torch
import torch.nn.functional as F


class User:
    """Holds private data, trains locally, and reports how the model does on its test data."""

    def __init__(self, uid, train, test, model, lr, personal_lr, batch=10):
        self.uid = uid
        self.train_x, self.train_y = train
        self.test_x, self.test_y = test
        self.model = copy.deepcopy(model)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=lr)
        self.lr = lr
        self.personal_lr = personal_lr
        self.batch = batch
        self.train_samples = len(self.train_y)

    def set_parameters(self, model):
        for new, mine in zip(model.parameters(), self.model.parameters()):
            mine.data.copy_(new.data)

    def train(self, local_epochs):
        self.model.train()
        for _ in range(local_epochs):
            for i in range(0, self.train_samples, self.batch):
                loss = F.cross_entropy(self.model(self.train_x[i:i + self.batch]), self.train_y[i:i + self.batch])
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
        return loss.item()

    def personalised(self):
        """The model after one step on the first local batch, as it will be used on the device."""
        mine = copy.deepcopy(self.model)
        loss = F.cross_entropy(mine(self.train_x[:self.batch]), self.train_y[:self.batch])
        grads = torch.autograd.grad(loss, list(mine.parameters()))
        for p, g in zip(mine.parameters(), grads):
            p.data -= self.personal_lr * g
        return mine

    def test(self):
        model = copy.deepcopy(self.model).requires_grad_(False)
        model.eval()
        output = model(self.test_x)
        loss = F.cross_entropy(output, self.test_y)
        correct = (output.argmax(dim=1) == self.test_y).sum().item()
        return correct, loss, len(self.test_y)
