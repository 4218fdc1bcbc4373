from .model import CLIP, TextTower, VisionTower


def build(cfg):
    dim = cfg['embed_dim']
    return CLIP(VisionTower(**cfg['vision'], embed_dim=dim), TextTower(**cfg['text'], embed_dim=dim))
