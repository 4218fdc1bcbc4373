import numpy as np
import torch


class Server:
    """FedAvg with an evaluation after every round and a learning rate that follows the evaluation."""

    def __init__(self, model, users, per_round, rounds, local_epochs, rng):
        self.model = model
        self.users = users
        self.per_round = per_round
        self.rounds = rounds
        self.local_epochs = local_epochs
        self.rng = rng
        self.history = {"glob_acc": [], "glob_loss": [], "train_loss": []}
        self.first = None

    def send_parameters(self):
        for user in self.users:
            user.set_parameters(self.model)

    def aggregate_parameters(self, selected):
        total = sum(user.train_samples for user in selected)
        for p in self.model.parameters():
            p.data.zero_()
        for user in selected:
            for mine, theirs in zip(self.model.parameters(), user.model.parameters()):
                mine.data += theirs.data * user.train_samples / total

    def test(self):
        num_samples, tot_correct, losses = [], [], []
        for user in self.users:
            correct, loss, n = user.test()
            tot_correct.append(correct)
            num_samples.append(n)
            losses.append(loss)
        return num_samples, tot_correct, losses

    def evaluate(self):
        test_samples, test_accs, test_losses = self.test()
        glob_acc = np.sum(test_accs) * 1.0 / np.sum(test_samples)
        glob_loss = np.sum([x * y.detach() for (x, y) in zip(test_samples, test_losses)]).item() / np.sum(test_samples)
        self.history["glob_acc"].append(glob_acc)
        self.history["glob_loss"].append(glob_loss)
        print(f"Average Global Accuracy = {glob_acc:.4f}, Loss = {glob_loss:.5f}")
        return glob_loss

    def adjust(self, glob_loss):
        """The local learning rate shrinks with the loss that the users report."""
        if self.first is None:
            self.first = glob_loss
        for user in self.users:
            for group in user.optimizer.param_groups:
                group["lr"] = user.lr * min(1.0, glob_loss / self.first)

    def train(self):
        for glob_iter in range(self.rounds):
            self.send_parameters()
            self.adjust(self.evaluate())
            selected = [self.users[i] for i in self.rng.choice(len(self.users), self.per_round, replace=False)]
            self.history["train_loss"].append(np.mean([user.train(self.local_epochs) for user in selected]))
            self.aggregate_parameters(selected)
            print(f"round {glob_iter} train {self.history['train_loss'][-1]:.5f}")
        self.send_parameters()
        self.evaluate()
