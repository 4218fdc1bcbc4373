import torch
import torch.nn.functional as F


def one_hot(out, index):
    oh = torch.zeros_like(out)
    return oh.scatter_(1, index.view(-1, 1), 1.0)


def grad_cam(feature, out, index):
    """Grad-CAM map of the class `index`, flattened and normalised per image."""
    score = (out * one_hot(out, index)).sum()
    feature.retain_grad()
    score.backward(create_graph=True)
    weight = feature.grad.mean(dim=(2, 3), keepdim=True)
    cam = F.relu((weight * feature).sum(dim=1)).flatten(1)
    return cam / (cam.norm(dim=1, keepdim=True) + 1e-2)


def attention_distillation(feature_o, out_o, feature_n, out_n):
    """
    L1 distance of the maps of teacher and student, for the class the teacher prefers (eq. 5).
    The student's map is a function of its weights in both factors; L_AD is minimised through all of it.
    """
    index = out_o.argmax(dim=1)
    cam_o = grad_cam(feature_o, out_o, index).detach()
    cam_n = grad_cam(feature_n, out_n, index)
    return (cam_o - cam_n).abs().sum(dim=1).mean()
