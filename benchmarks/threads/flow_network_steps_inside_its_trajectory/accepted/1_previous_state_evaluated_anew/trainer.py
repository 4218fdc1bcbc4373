import torch
import torch.nn.functional as F


class GFNTrainer:
    def __init__(self, env, forward, backward, lr_f, lr_b):
        self.env, self.forward, self.backward = env, forward, backward
        self.opt_f = torch.optim.Adam(forward.parameters(), lr=lr_f)
        self.opt_b = torch.optim.Adam(backward.parameters(), lr=lr_b)

    def sample(self, log_pf, mask):
        """an action that moves where one is left; the probability of stopping is only used in the balance"""
        moves = log_pf[:, :-1].detach().exp() * mask[:, :-1] + 1e-6
        return torch.multinomial(moves, 1).squeeze(1)

    def trajectory(self, length):
        env, losses = self.env, []
        obs = env.reset()
        mask = env.mask()
        prev_log_pf = self.forward(obs, mask)
        prev_log_r = env.log_reward()
        for _ in range(length):
            action = self.sample(prev_log_pf, mask)
            obs = env.step(action)
            mask = env.mask()

            log_pf = self.forward(obs, mask)
            log_pb = self.backward(obs, env.parents())
            log_r = env.log_reward()

            # R(s') PB(s|s') PF(stop|s) = R(s) PF(s'|s) PF(stop|s')
            error = log_r - prev_log_r
            error = error + log_pb.gather(1, action[:, None]).squeeze(1)
            error = error + prev_log_pf[:, -1] - log_pf[:, -1].detach()
            error = error - prev_log_pf.gather(1, action[:, None]).squeeze(1)
            loss = F.huber_loss(error, torch.zeros_like(error))

            self.opt_f.zero_grad()
            self.opt_b.zero_grad()
            loss.backward()
            self.opt_f.step()
            self.opt_b.step()
            losses.append(loss.item())
            prev_log_pf, prev_log_r = self.forward(obs, mask), log_r
        return losses
