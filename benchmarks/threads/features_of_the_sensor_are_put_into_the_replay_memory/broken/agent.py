import copy
import numpy as np
import torch as T
import torch.nn as nn
import torch.nn.functional as F
from memory import ReplayBuffer


class Agent:
    def __init__(self, n_obs, n_features, n_actions, gamma, epsilon, lr, batch_size, mem_size, replace):
        self.n_actions = n_actions
        self.gamma = gamma
        self.epsilon = epsilon
        self.eps_min, self.eps_dec = 0.05, 0.005
        self.batch_size = batch_size
        self.replace = replace
        self.learn_step = 0
        self.memory = ReplayBuffer(mem_size)
        # sensor -> features, learned together with the Q head
        self.encoder = nn.Sequential(nn.Linear(n_obs, n_features), nn.ReLU())
        self.q_eval = nn.Sequential(nn.Linear(n_features, 32), nn.ReLU(), nn.Linear(32, n_actions))
        self.q_next = copy.deepcopy(self.q_eval)
        self.optimizer = T.optim.Adam(list(self.encoder.parameters()) + list(self.q_eval.parameters()), lr=lr)

    def observe(self, observation):
        return self.encoder(T.from_numpy(observation))

    def choose_action(self, state):
        if np.random.random() < self.epsilon:
            return np.random.randint(self.n_actions)
        return self.q_eval(state).argmax().item()

    def store_transition(self, state, action, reward, state_, done):
        self.memory.store(state, action, reward, state_, done)

    def learn(self):
        if len(self.memory) < self.batch_size:
            return None
        if self.learn_step % self.replace == 0:
            self.q_next.load_state_dict(self.q_eval.state_dict())

        state, action, reward, state_, done = self.memory.sample(self.batch_size)
        states = T.stack(state)
        states_ = T.stack(state_)
        actions = T.tensor(action)
        rewards = T.tensor(reward)
        dones = T.tensor(done)

        q_pred = self.q_eval(states)[T.arange(self.batch_size), actions]
        with T.no_grad():
            q_next = self.q_next(states_).max(dim=1)[0]
            q_next[dones] = 0.0
            q_target = rewards + self.gamma * q_next

        loss = F.mse_loss(q_pred, q_target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.learn_step += 1
        self.epsilon = max(self.epsilon - self.eps_dec, self.eps_min)
        return loss.item()
