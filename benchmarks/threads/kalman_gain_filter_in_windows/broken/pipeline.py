import torch
import torch.nn as nn


class Pipeline_KF:
    def __init__(self, ssModel, model, learningRate=5e-3, weightDecay=1e-5, window=8):
        self.ssModel, self.model = ssModel, model
        self.window = window
        self.loss_fn = nn.MSELoss(reduction='mean')
        self.optimizer = torch.optim.Adam(model.parameters(), lr=learningRate, weight_decay=weightDecay)
        self.MSE_train_linear_epoch = []

    def run_window(self, y):
        x_out = []
        for t in range(y.size(1)):
            x_out.append(self.model(y[:, t]))
        return torch.cat(x_out, 1)

    def NNTrain(self, n_Epochs, train_input, train_target):
        """The recording is long, weights are updated after every window; the filter runs on through it."""
        T = train_input.size(1)
        for ti in range(n_Epochs):
            self.model.train()
            self.model.InitSequence(torch.tensor([[0.0], [0.5]]))
            losses = []
            for start in range(0, T, self.window):
                y = train_input[:, start:start + self.window]
                target = train_target[:, start:start + self.window]
                x_out = self.run_window(y)
                LOSS = self.loss_fn(x_out, target)
                self.optimizer.zero_grad()
                LOSS.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.optimizer.step()
                losses.append(LOSS.item())
            self.MSE_train_linear_epoch.append(sum(losses) / len(losses))
            print(ti, "MSE Training : %.6f" % self.MSE_train_linear_epoch[-1])

    @torch.no_grad()
    def NNTest(self, test_input, test_target):
        self.model.eval()
        self.model.InitSequence(torch.tensor([[0.0], [0.5]]))
        mse = self.loss_fn(self.run_window(test_input), test_target).item()
        print("MSE Test: %.6f" % mse)
        return mse
