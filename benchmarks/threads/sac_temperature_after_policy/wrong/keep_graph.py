import math, torch, torch.nn as nn, torch.nn.functional as F

class GaussianPolicy(nn.Module):
    def __init__(self, s, a, h=16):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(s, h), nn.ReLU())
        self.mu, self.log_std = nn.Linear(h, a), nn.Linear(h, a)

    def evaluate(self, state):
        h = self.body(state)
        mean, log_std = self.mu(h), self.log_std(h).clamp(-3, 1)
        eps = torch.randn_like(mean)
        z = mean + log_std.exp() * eps
        action = torch.tanh(z)
        log_prob = (-0.5 * eps ** 2 - log_std - 0.5 * math.log(2 * math.pi) - torch.log(1 - action ** 2 + 1e-6)).sum(-1, keepdim=True)
        return action, log_prob

class SAC_Trainer():
    def __init__(self, s=3, a=2):
        self.policy_net = GaussianPolicy(s, a)
        self.q_net = nn.Sequential(nn.Linear(s + a, 16), nn.ReLU(), nn.Linear(16, 1))
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.target_entropy = -a
        self.policy_optimizer = torch.optim.Adam(self.policy_net.parameters(), lr=3e-3)
        self.q_optimizer = torch.optim.Adam(self.q_net.parameters(), lr=3e-3)
        self.alpha_optimizer = torch.optim.Adam([self.log_alpha], lr=3e-2)

    def update(self, state, action, reward):
        # Training Q Function
        q_loss = F.mse_loss(self.q_net(torch.cat([state, action], 1)), reward)
        self.q_optimizer.zero_grad()
        q_loss.backward()
        self.q_optimizer.step()

        # Policy and temperature
        new_action, log_prob = self.policy_net.evaluate(state)
        alpha = self.log_alpha.exp().item()
        q_new = self.q_net(torch.cat([state, new_action], 1))
        policy_loss = (alpha * log_prob - q_new).mean()
        alpha_loss = -(self.log_alpha * (log_prob + self.target_entropy)).mean()
        self.policy_optimizer.zero_grad()
        self.alpha_optimizer.zero_grad()
        policy_loss.backward(retain_graph=True)
        alpha_loss.backward()
        self.policy_optimizer.step()
        self.alpha_optimizer.step()
        return policy_loss.item(), alpha_loss.item()

if __name__ == '__main__':
    torch.manual_seed(16)
    trainer = SAC_Trainer()
    for i in range(6):
        s = torch.randn(20, 3); a = torch.rand(20, 2) * 2 - 1
        out = trainer.update(s, a, (s[:, :2] * a).sum(1, keepdim=True))
    print('policy %.6f alpha %.6f log_alpha %.6f' % (*out, trainer.log_alpha.item()))
