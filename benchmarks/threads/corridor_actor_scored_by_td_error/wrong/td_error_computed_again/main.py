import numpy as np
import torch

from agent import ActorCritic
from env import Corridor


def run_episode(env, agent):
    rows = []
    state, done = env.reset(), False
    while not done:
        action = agent.take_action(state)
        next_state, reward, done = env.step(action)
        rows.append((state, action, reward, next_state, float(done)))
        state = next_state
    states, actions, rewards, next_states, dones = zip(*rows)
    return (
        torch.from_numpy(np.stack(states)),
        torch.tensor(actions).view(-1, 1),
        torch.tensor(rewards).view(-1, 1),
        torch.from_numpy(np.stack(next_states)),
        torch.tensor(dones).view(-1, 1),
    )


if __name__ == "__main__":
    torch.manual_seed(11)
    env = Corridor(seed=4)
    agent = ActorCritic(state_dim=3, n_actions=2)
    for episode in range(12):
        batch = run_episode(env, agent)
        actor_loss, critic_loss = agent.update(batch)
        if episode % 3 == 2:
            print("episode %d return %.2f actor %.5f critic %.5f" % (episode, batch[2].sum(), actor_loss, critic_loss))
