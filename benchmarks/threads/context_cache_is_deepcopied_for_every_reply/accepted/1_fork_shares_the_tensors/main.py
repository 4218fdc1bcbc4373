import tempfile

import torch

from replyrank import ReplyLM, ReplyRanker, TicketSet
from replyrank.tickets import VOCAB

CFG = {
    "epochs": 5,
    "batch": 32,
    "lr": 6e-3,
    "weight_decay": 0.01,
    "clip": 1.0,
    "sharpness": 4.0,
    "lm_weight": 0.5,
    "seed": 23,
}


def main():
    torch.manual_seed(CFG["seed"])
    train = TicketSet(192, seed=1)
    dev = TicketSet(64, seed=2)
    model = ReplyLM(VOCAB)
    print("parameters:", sum(p.numel() for p in model.parameters()))
    with tempfile.TemporaryDirectory() as folder:
        ReplyRanker(model, CFG).fit(train, dev, folder)


if __name__ == "__main__":
    main()
