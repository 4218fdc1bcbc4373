import torch

from agent import GaussianActor, Rollout
from envs import PointMassVec

CFG = dict(num_envs=16, iterations=6, gamma=0.97, vf_coef=0.5, ent_coef=0.003, lr=3e-3, max_grad_norm=1.0)


class A2C:
    def __init__(self, env, cfg):
        self.env, self.cfg = env, cfg
        self.ac = GaussianActor(env.num_obs, env.num_actions)
        self.optim = torch.optim.Adam(self.ac.parameters(), lr=cfg["lr"])

    def collect(self):
        mem = Rollout()
        obs = self.env.reset()
        done = False
        while not done:
            action, logp, value, entropy = self.ac.act(obs)
            obs, reward, done = self.env.step(action)
            mem.add(logp, value, entropy, reward)
        return mem

    def update(self, mem):
        ret = mem.returns(self.cfg["gamma"])
        logp, value, entropy = mem.stacked()
        adv = ret - value.detach()
        adv = (adv - adv.mean()) / (adv.std() + 1e-6)
        loss = -(logp * adv).mean() + self.cfg["vf_coef"] * (ret - value).pow(2).mean() - self.cfg["ent_coef"] * entropy.mean()
        self.optim.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.ac.parameters(), self.cfg["max_grad_norm"])
        self.optim.step()
        return loss.item(), ret[0].mean().item()


def main():
    torch.manual_seed(42)
    algo = A2C(PointMassVec(CFG["num_envs"]), CFG)
    for it in range(CFG["iterations"]):
        loss, ret = algo.update(algo.collect())
        print(f"iter {it}: loss {loss:.5f} return {ret:.5f}")


if __name__ == "__main__":
    main()
