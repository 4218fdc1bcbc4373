"""White-box red teaming of a small vision-language model: image noise and a soft suffix."""
import argparse

import torch

from attack import JointAttack
from language import TinyLM
from llava import LlavaLike
from vision import VisionTower


def scenario(n, g):
    images = torch.rand(n, 3, 12, 12, generator=g)
    prompts = torch.randint(2, 24, (n, 5), generator=g)
    answer = torch.tensor([[7, 3, 11, 4]]).expand(n, -1)
    return {"images": images, "prompts": prompts, "answer": answer}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--iters", type=int, default=8)
    parser.add_argument("--alpha", type=float, default=8 / 255)
    parser.add_argument("--eps", type=float, default=48 / 255)
    parser.add_argument("--suffix-len", type=int, default=2)
    parser.add_argument("--seed", type=int, default=13)
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    g = torch.Generator().manual_seed(args.seed)
    model = LlavaLike(VisionTower(dim=16), TinyLM(vocab=24, dim=16)).eval()
    model.requires_grad_(False)
    data = scenario(4, g)
    print(f"clean answer loss {model.score(data):.5f}")
    attack = JointAttack(model, args)
    for row in attack.run(data)[::3]:
        print("iter {iter} loss {loss:.5f} |noise| {noise:.5f} |suffix| {suffix:.5f}".format(**row))
    print(f"attacked loss {model.score(attack.apply(data), attack.suffix):.5f}")


if __name__ == "__main__":
    main()
