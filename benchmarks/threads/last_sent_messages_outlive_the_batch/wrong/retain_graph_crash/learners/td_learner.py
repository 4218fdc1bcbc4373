import copy

import torch


class TDLearner:
    def __init__(self, mac, cfg):
        self.mac, self.cfg = mac, cfg
        self.target_mac = copy.deepcopy(mac)
        self.params = list(mac.parameters())
        self.optimiser = torch.optim.RMSprop(self.params, lr=cfg.lr, alpha=0.99, eps=1e-5)

    def unroll(self, mac, obs):
        qs, moves = [], []
        mac.init_hidden(len(obs))
        for t in range(obs.size(1)):
            q, moved = mac.forward(obs[:, t])
            qs.append(q)
            moves.append(moved)
        return torch.stack(qs, 1), torch.stack(moves, 1)

    def train(self, batch, it):
        obs, actions, reward = batch["obs"], batch["actions"], batch["reward"][:, :-1]
        q, moved = self.unroll(self.mac, obs)
        chosen = q.gather(-1, actions[..., None]).squeeze(-1)[:, :-1].sum(-1)
        with torch.no_grad():
            target_q, _ = self.unroll(self.target_mac, obs)
            best = q.detach().argmax(-1, keepdim=True)
            nxt = target_q.gather(-1, best).squeeze(-1)[:, 1:].sum(-1)
            y = reward + self.cfg.gamma * nxt
        td = (chosen - y).pow(2).mean()
        smooth = moved.mean()
        loss = td + self.cfg.msg_penalty * smooth
        self.optimiser.zero_grad()
        loss.backward(retain_graph=True)
        grad = torch.nn.utils.clip_grad_norm_(self.params, 10.0)
        self.optimiser.step()
        if (it + 1) % self.cfg.target_update == 0:
            self.target_mac.load_state(self.mac)
        return {"td": td.item(), "sent": self.mac.n_sent / obs.size(1), "grad": float(grad)}
