import torch

from .agent import RNNAgent


class MessageMAC:
    """Agents share weights. An agent sends only when its message has moved far enough from the one it sent last;
    until then the others go on using the old one."""

    def __init__(self, cfg):
        self.cfg = cfg
        self.agent = RNNAgent(cfg)
        self.hidden = None
        self.last_sent = torch.zeros(cfg.batch_size, cfg.n_agents, cfg.msg_dim)
        self.n_sent = 0.0

    def parameters(self):
        return self.agent.parameters()

    def init_hidden(self, batch_size):
        self.hidden = self.agent.init_hidden(batch_size * self.cfg.n_agents)
        self.n_sent = 0.0

    def _inputs(self, obs):
        ids = torch.eye(self.cfg.n_agents).expand(len(obs), -1, -1)
        return torch.cat([obs, ids], -1).flatten(0, 1)

    def forward(self, obs):
        b, n = obs.shape[:2]
        q, msg, self.hidden = self.agent(self._inputs(obs), self.hidden)
        q, msg = q.view(b, n, -1), msg.view(b, n, -1)
        moved = (msg - self.last_sent).norm(dim=-1, keepdim=True)
        send = moved > self.cfg.send_threshold
        self.last_sent = torch.where(send, msg, self.last_sent)
        self.n_sent += send.float().mean().item()
        heard = self.agent.listen(self.last_sent)                      # what each sender says about actions
        others = heard.sum(1, keepdim=True) - heard
        return q + others, moved

    def load_state(self, other):
        self.agent.load_state_dict(other.agent.state_dict())
