from config import Config
from data import RoundsOfData
from model import build_model
from trainer import Trainer
from callbacks import ShrinkPerturb, Printer
import torch

if __name__ == '__main__':
    cfg = Config(rounds=4, epochs_per_round=2)
    torch.manual_seed(cfg.seed)
    model = build_model(cfg)
    callbacks = [ShrinkPerturb(cfg.shrink, cfg.perturb), Printer()]
    Trainer(cfg, model, callbacks).fit(RoundsOfData(cfg))
