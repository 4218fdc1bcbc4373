import numpy as np
import torch


class Memory:
    def __init__(self, limit, n_state, n_actions):
        self.limit, self.size, self.head = limit, 0, 0
        self.states = np.zeros((limit, n_state), np.float32)
        self.next_states = np.zeros((limit, n_state), np.float32)
        self.params = np.zeros((limit, n_actions), np.float32)
        self.acts = np.zeros(limit, np.int64)
        self.rewards = np.zeros(limit, np.float32)
        self.terminals = np.zeros(limit, np.float32)

    def append(self, state, act, params, reward, next_state, terminal):
        i = self.head
        self.states[i], self.next_states[i], self.params[i] = state, next_state, params
        self.acts[i], self.rewards[i], self.terminals[i] = act, reward, terminal
        self.head = (i + 1) % self.limit
        self.size = min(self.limit, self.size + 1)

    def sample(self, n):
        idx = np.random.randint(0, self.size, n)
        arrays = (self.states, self.acts, self.params, self.rewards, self.next_states, self.terminals)
        return tuple(torch.from_numpy(a[idx]) for a in arrays)
