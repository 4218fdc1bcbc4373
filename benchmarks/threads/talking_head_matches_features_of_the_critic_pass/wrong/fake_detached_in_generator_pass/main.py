import argparse
import json

import torch

from data import LandmarkClips
from model import Feature2Face
from options import DEFAULTS
from trainer import Trainer


def get_options():
    parser = argparse.ArgumentParser(description="feature maps -> face frames")
    for name, value in DEFAULTS.items():
        parser.add_argument("--" + name, type=type(value), default=value)
    parser.add_argument("--override", default="{}", help="JSON with options")
    opt = vars(parser.parse_args())
    opt.update(json.loads(opt.pop("override")))
    return argparse.Namespace(**opt)


if __name__ == "__main__":
    opt = get_options()
    torch.manual_seed(opt.seed)
    clips = LandmarkClips(opt)
    model = Feature2Face(opt)
    trainer = Trainer(model, opt)
    trainer.run(clips)
    for row in trainer.rows:
        print("epoch {epoch} D {D:.5f} G_GAN {G_GAN:.5f} G_FM {G_FM:.5f} G_L1 {G_L1:.5f}".format(**row))
