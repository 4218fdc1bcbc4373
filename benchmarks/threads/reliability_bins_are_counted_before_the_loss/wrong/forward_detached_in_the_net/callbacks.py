import numpy as np
import torch


class Callback:
    def on_forward(self, state):
        pass

    def on_batch_end(self, state):
        pass


class CallbackList(Callback):
    def __init__(self, callbacks):
        self.callbacks = callbacks

    def on_forward(self, state):
        for c in self.callbacks:
            c.on_forward(state)

    def on_batch_end(self, state):
        for c in self.callbacks:
            c.on_batch_end(state)


class Reliability(Callback):
    """expected calibration error of the batch"""

    def __init__(self, bins):
        self.edges = np.linspace(0, 1, bins + 1)

    def on_forward(self, state):
        prob = torch.softmax(state['logits'], 1).numpy()
        y = state['y'].numpy()
        conf, hit = prob.max(1), prob.argmax(1) == y
        which = np.digitize(conf, self.edges[1:-1])
        ece = 0.0
        for b in range(len(self.edges) - 1):
            m = which == b
            if m.any():
                ece += m.mean() * abs(conf[m].mean() - hit[m].mean())
        state['ece'] = float(ece)


class History(Callback):
    def __init__(self):
        self.values = {'loss': [], 'ece': []}

    def on_batch_end(self, state):
        for k in self.values:
            self.values[k].append(state[k])
