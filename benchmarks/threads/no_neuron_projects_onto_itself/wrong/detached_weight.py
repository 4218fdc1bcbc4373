# # Training a continuous-time RNN on a perceptual decision task
#
# (exported from the notebook `RNN_DecisionMaking.ipynb`)

# In[1]:
import time
import numpy as np
import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(1)
np.random.seed(1)
torch.set_num_threads(1)


# In[2]: the task -- which of the two noisy inputs is larger on average?
class DecisionTask:
    def __init__(self, seq_len=16, dt=20):
        self.seq_len, self.dt = seq_len, dt
        self.rng = np.random.RandomState(2)

    def __call__(self, batch_size):
        coh = self.rng.choice([-0.6, -0.3, 0.3, 0.6], size=batch_size)
        x = self.rng.randn(self.seq_len, batch_size, 3) * 0.6
        x[..., 0] = 1.0                                   # fixation cue
        x[..., 1] += 0.5 + coh / 2
        x[..., 2] += 0.5 - coh / 2
        x[-4:, :, 0] = 0.0
        return torch.from_numpy(x.astype(np.float32)), torch.from_numpy((coh > 0).astype(np.int64))


# In[3]:
class CTRNN(nn.Module):
    """Continuous-time RNN. No unit projects onto itself (no autapses).

    Parameters:
        input_size: Number of input neurons
        hidden_size: Number of hidden neurons
        dt: discretisation time step in ms. If None, equals time constant tau
    """

    def __init__(self, input_size, hidden_size, dt=None, **kwargs):
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.tau = 100
        alpha = 1 if dt is None else dt / self.tau
        self.alpha = alpha
        self.input2h = nn.Linear(input_size, hidden_size)
        self.h2h = nn.Linear(hidden_size, hidden_size)
        nn.init.normal_(self.h2h.weight, std=1.2 / hidden_size ** 0.5)

    def init_hidden(self, input_shape):
        batch_size = input_shape[1]
        return torch.zeros(batch_size, self.hidden_size)

    def recurrence(self, input, hidden):
        weight = self.h2h.weight.detach().clone()
        weight.fill_diagonal_(0)      # no autapses
        pre_activation = self.input2h(input) + nn.functional.linear(hidden, weight, self.h2h.bias)
        h_new = torch.relu(hidden * (1 - self.alpha) + pre_activation * self.alpha)
        return h_new

    def forward(self, input, hidden=None):
        if hidden is None:
            hidden = self.init_hidden(input.shape)
        output = []
        for i in range(input.size(0)):
            hidden = self.recurrence(input[i], hidden)
            output.append(hidden)
        return torch.stack(output, dim=0), hidden


class RNNNet(nn.Module):
    def __init__(self, input_size, hidden_size, output_size, **kwargs):
        super().__init__()
        self.rnn = CTRNN(input_size, hidden_size, **kwargs)
        self.fc = nn.Linear(hidden_size, output_size)

    def forward(self, x):
        rnn_output, _ = self.rnn(x)
        return self.fc(rnn_output), rnn_output


# In[4]:
def train_model(net, dataset, n_iter=30):
    optimizer = optim.Adam(net.parameters(), lr=0.02)
    criterion = nn.CrossEntropyLoss()
    running_loss = running_acc = 0
    for i in range(n_iter):
        inputs, labels = dataset(16)
        optimizer.zero_grad()
        output, activity = net(inputs)
        decision = output[-4:].mean(0)
        loss = criterion(decision, labels) + 1e-3 * activity.pow(2).mean()
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
        running_acc += (decision.argmax(1) == labels).float().mean().item()
        if i % 10 == 9:
            print('Step {}, Loss {:0.6f}, Acc {:0.6f}'.format(i + 1, running_loss / 10, running_acc / 10))
            running_loss = running_acc = 0
    return net


# In[5]:
dataset = DecisionTask()
net = RNNNet(input_size=3, hidden_size=24, output_size=2, dt=dataset.dt)
net = train_model(net, dataset)

# In[6]:
with torch.no_grad():
    inputs, labels = dataset(200)
    output, activity = net(inputs)
    acc = (output[-4:].mean(0).argmax(1) == labels).float().mean().item()
w = net.rnn.h2h.weight.detach()
print('test acc {:0.6f}, mean rate {:0.6f}'.format(acc, activity.mean().item()))
