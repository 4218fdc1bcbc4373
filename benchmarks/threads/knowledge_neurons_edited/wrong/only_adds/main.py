import argparse

import torch
import torch.nn.functional as F

from editing import KnowledgeEditor
from tinylm import TinyLM


def finetune(model, prompts, answers, steps, lr, tag):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for step in range(steps):
        loss = F.cross_entropy(model(prompts), answers)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"{tag}: loss {loss.item():.6f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--lr", type=float, default=5e-3)
    args = parser.parse_args()
    torch.manual_seed(14)
    model = TinyLM()
    prompts = torch.randint(0, 10, (12, 4))
    answers = prompts[:, 0]
    finetune(model, prompts, answers, args.steps, args.lr, "before")
    relation = prompts[answers == answers[0]]
    KnowledgeEditor(model).edit(relation, int(answers[0]), (int(answers[0]) + 3) % 10)
    print(f"edited: loss {F.cross_entropy(model(prompts), answers).item():.6f}")
    finetune(model, prompts, answers, args.steps, args.lr, "after")


if __name__ == "__main__":
    main()
