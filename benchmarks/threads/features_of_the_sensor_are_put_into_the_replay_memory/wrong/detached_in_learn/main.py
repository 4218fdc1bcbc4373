import random
import numpy as np
import torch
from agent import Agent
from env import Corridor

SEED = 7
random.seed(SEED)
np.random.seed(SEED)
torch.manual_seed(SEED)

if __name__ == '__main__':
    env = Corridor(seed=SEED)
    agent = Agent(n_obs=env.n_obs, n_features=16, n_actions=env.n_actions, gamma=0.95,
                  epsilon=0.9, lr=3e-3, batch_size=16, mem_size=400, replace=25)
    scores = []
    for i in range(16):
        observation = env.reset()
        state = agent.observe(observation)
        done, score, losses = False, 0.0, []
        while not done:
            action = agent.choose_action(state)
            observation_, reward, done = env.step(action)
            state_ = agent.observe(observation_)
            agent.store_transition(state, action, reward, state_, done)
            loss = agent.learn()
            if loss is not None:
                losses.append(loss)
            state = state_
            score += reward
        scores.append(score)
        print('episode %2d score %.6f loss %.6f eps %.3f' % (i, score, np.mean(losses) if losses else 0.0, agent.epsilon))
    print('mean score %.6f' % np.mean(scores))
