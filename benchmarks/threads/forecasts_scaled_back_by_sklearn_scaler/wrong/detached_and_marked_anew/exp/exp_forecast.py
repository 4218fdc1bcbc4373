import numpy as np
import torch
from torch import nn, optim

from data.loader import LoadDataset
from models.seq2seq import Seq2Seq


class ExpForecast(object):
    def __init__(self, args):
        self.args = args
        self.data = LoadDataset(args.seq_len, args.pred_len)
        self.model = Seq2Seq(self.data.n_series, args.d_model, args.pred_len)
        self.gen = torch.Generator().manual_seed(5)

    def _process_one_batch(self, batch_x, batch_y, training):
        tf = self.args.teacher_forcing if training else 0.0
        outputs = self.model(batch_x, batch_y, tf, self.gen)
        if self.args.inverse:
            outputs = torch.tensor(self.data.inverse_transform(outputs.detach()), requires_grad=training)
            batch_y = torch.as_tensor(self.data.inverse_transform(batch_y))
        return outputs, batch_y

    def vali(self, flag):
        self.model.eval()
        total = []
        with torch.no_grad():
            for batch_x, batch_y in self.data.batches(flag, self.args.batch_size):
                pred, true = self._process_one_batch(batch_x, batch_y, False)
                total.append(float(((torch.as_tensor(pred) - true) ** 2).mean()))
        self.model.train()
        print("{} mse: {:.5f}".format(flag, np.mean(total)))

    def train(self):
        model_optim = optim.Adam(self.model.parameters(), lr=self.args.learning_rate)
        criterion = nn.SmoothL1Loss()
        for epoch in range(self.args.train_epochs):
            train_loss = []
            for batch_x, batch_y in self.data.batches("train", self.args.batch_size):
                model_optim.zero_grad()
                pred, true = self._process_one_batch(batch_x, batch_y, True)
                loss = criterion(pred, true)
                train_loss.append(loss.item())
                loss.backward()
                model_optim.step()
            print("Epoch: {0} | Train Loss: {1:.5f} last {2:.5f}".format(epoch + 1, np.average(train_loss), train_loss[-1]))
