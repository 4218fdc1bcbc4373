import json
import os
import sys

import torch
import torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from captioning.model import ShowAttend
from captioning.rewards import RewardCriterion, get_self_critical_reward


def loader(opt, generator):
    """Features whose largest entries name the words of the caption."""
    while True:
        seq = torch.randint(1, opt["vocab_size"] + 1, (opt["batch_size"], opt["seq_length"]), generator=generator)
        seq[:, -1] = 0
        feats = 0.3 * torch.randn(opt["batch_size"], opt["seq_length"], opt["att_feat_size"], generator=generator)
        feats[..., 0] += seq.float() / opt["vocab_size"]
        yield feats, seq


def eval_split(model, feats, seq):
    model.eval()
    greedy, logp = model.sample(feats, sample_max=True)
    model.train()
    return (greedy == seq).float().mean().item(), logp.mean().item()


def train(opt):
    torch.manual_seed(opt["seed"])
    data = loader(opt, torch.Generator().manual_seed(opt["seed"]))
    model = ShowAttend(opt)
    optimizer = torch.optim.Adam(model.parameters(), lr=opt["learning_rate"])
    criterion = RewardCriterion()
    for iteration in range(opt["max_iterations"]):
        feats, seq = next(data)
        optimizer.zero_grad()
        sc_flag = iteration >= opt["self_critical_after"]
        if not sc_flag:
            loss = F.nll_loss(model(feats, seq).flatten(0, 1), seq.flatten())
            reward = torch.zeros(1)
        else:
            gen_result, sample_logprobs = model.sample(feats, sample_max=False)
            greedy, _ = model.sample(feats, sample_max=True)
            reward = get_self_critical_reward(greedy, gen_result, seq)
            sample_logprobs = model(feats, seq).gather(2, seq[..., None]).squeeze(2)
            loss = criterion(sample_logprobs, gen_result, reward)
        loss.backward()
        torch.nn.utils.clip_grad_value_(model.parameters(), opt["grad_clip"])
        optimizer.step()
        print("iter {} {} loss {:.6f} reward {:.6f}".format(iteration, "sc" if sc_flag else "xe", loss.item(), reward.mean().item()))
    print("accuracy {:.4f} logprob {:.6f}".format(*eval_split(model, feats, seq)))


if __name__ == "__main__":
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "opt.json")) as f:
        train(json.load(f))
