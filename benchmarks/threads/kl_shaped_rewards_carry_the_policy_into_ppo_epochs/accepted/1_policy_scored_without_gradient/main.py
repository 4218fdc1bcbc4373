"""PPO on a toy "helpful" score, with a per-token KL penalty towards the SFT model."""
import copy

import torch

from models import Critic, TinyLM
from rollout import make_experience

VOCAB, WIDTH, BETA, CLIP = 10, 16, 0.2, 0.2


def score(tokens):
    """Likes the token 7 and dislikes repetition."""
    likes = (tokens == 7).float().sum(1)
    repeats = (tokens[:, 1:] == tokens[:, :-1]).float().sum(1)
    return likes - 0.5 * repeats


def ppo_update(policy, critic, opt, opt_v, exp, epochs=3):
    for _ in range(epochs):
        logp = policy.log_probs(exp.tokens)
        ratio = (logp - exp.old_logp).exp()
        surr = torch.min(ratio * exp.advantages, ratio.clamp(1 - CLIP, 1 + CLIP) * exp.advantages)
        policy_loss = -surr.mean()
        opt.zero_grad()
        policy_loss.backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        opt.step()

        value_loss = (critic(exp.tokens) - exp.returns).pow(2).mean()
        opt_v.zero_grad()
        value_loss.backward()
        opt_v.step()
    return policy_loss.item(), value_loss.item()


def main():
    torch.manual_seed(11)
    policy, critic = TinyLM(VOCAB, WIDTH), Critic(VOCAB, WIDTH)
    reference = copy.deepcopy(policy).requires_grad_(False)
    opt = torch.optim.Adam(policy.parameters(), lr=3e-3)
    opt_v = torch.optim.Adam(critic.parameters(), lr=3e-3)
    for it in range(4):
        prompts = torch.randint(0, VOCAB, (16, 2))
        exp = make_experience(policy, reference, critic, score, prompts, 6, BETA)
        pl, vl = ppo_update(policy, critic, opt, opt_v, exp)
        print(f"iter {it} score {score(exp.tokens).mean().item():.3f} kl {exp.kl:.5f} policy {pl:.5f} value {vl:.5f}")


if __name__ == "__main__":
    main()
