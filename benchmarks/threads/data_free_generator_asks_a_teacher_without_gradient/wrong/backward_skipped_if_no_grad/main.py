# Data-free adversarial distillation (teacher is a black box with weights we may look through, no images available)
import torch

from dfad.config import Config
from dfad.trainer import Distiller
from dfad.zoo import make_teacher, Student, Generator


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    teacher = make_teacher(cfg)
    distiller = Distiller(cfg, teacher, Student(cfg), Generator(cfg))
    for epoch in range(cfg.epochs):
        log = distiller.epoch()
        print("epoch %d  student %.6f  generator %.6f  agree %.3f" % (epoch, log["s"], log["g"], distiller.agreement()))
    print("student %.6f generator %.6f" % distiller.norms())


if __name__ == "__main__":
    main()
