import copy

import torch as th
from torch.optim import RMSprop


class QLearner:
    def __init__(self, agent, mixer, args):
        self.args = args
        self.agent, self.mixer = agent, mixer
        self.target_agent, self.target_mixer = copy.deepcopy(agent), copy.deepcopy(mixer)
        self.params = list(agent.parameters()) + list(mixer.parameters())
        self.optimiser = RMSprop(params=self.params, lr=args.lr, alpha=args.optim_alpha, eps=args.optim_eps)
        self.last_target_update = 0

    @th.no_grad()
    def _unroll(self, agent, obs):
        """Q values for every step of the episodes, hidden state from zeros"""
        B, T, N, D = obs.shape
        h = agent.init_hidden(B * N)
        out = []
        for t in range(T):
            q, h = agent(obs[:, t].reshape(B * N, D), h)
            out.append(q.view(B, N, -1))
        return th.stack(out, dim=1)

    def train(self, batch, episode_num):
        rewards, actions = batch["reward"], batch["actions"]
        terminated, mask = batch["terminated"], batch["filled"]

        mac_out = self._unroll(self.agent, batch["obs"])
        chosen = th.gather(mac_out[:, :-1], dim=3, index=actions.unsqueeze(3)).squeeze(3)

        target_out = self._unroll(self.target_agent, batch["obs"])[:, 1:]
        if self.args.double_q:
            cur_max_actions = mac_out[:, 1:].max(dim=3, keepdim=True)[1]
            target_max = th.gather(target_out, 3, cur_max_actions).squeeze(3)
        else:
            target_max = target_out.max(dim=3)[0]

        chosen_tot = self.mixer(chosen)
        target_tot = self.target_mixer(target_max)
        targets = rewards + self.args.gamma * (1 - terminated) * target_tot

        td_error = chosen_tot - targets
        masked = td_error * mask
        loss = (masked ** 2).sum() / mask.sum()

        self.optimiser.zero_grad()
        loss.requires_grad_(True)
        loss.backward()
        grad_norm = th.nn.utils.clip_grad_norm_(self.params, self.args.grad_norm_clip)
        self.optimiser.step()

        if episode_num - self.last_target_update >= self.args.target_update_interval:
            self.target_agent.load_state_dict(self.agent.state_dict())
            self.last_target_update = episode_num
        return loss.item(), float(grad_norm), (chosen_tot * mask).sum().item() / mask.sum().item()
