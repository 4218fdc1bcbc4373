import torch
import torch.nn.functional as F


def clip_loss(image_features, text_features, scale):
    logits = scale * image_features @ text_features.t()
    labels = torch.arange(len(logits))
    return (F.cross_entropy(logits, labels) + F.cross_entropy(logits.t(), labels)) / 2
