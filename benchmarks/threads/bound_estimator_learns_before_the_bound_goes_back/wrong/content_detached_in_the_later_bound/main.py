import torch

from corpus import loader, utterances
from solver import Solver


def main():
    torch.manual_seed(2)
    mel, speaker = utterances()
    solver = Solver(mels=mel.shape[-1])
    g = torch.Generator().manual_seed(9)
    for epoch in range(3):
        rows = [solver.train_step(batch) for batch, _ in loader(mel, speaker, 16, g)]
        mean = {k: sum(r[k] for r in rows) / len(rows) for k in rows[0]}
        print("epoch:%d, recon loss:%.5f, mi loss:%.5f, lld loss:%.5f" % (epoch, mean["recon"], mean["mi"], mean["lld"]))


if __name__ == "__main__":
    main()
