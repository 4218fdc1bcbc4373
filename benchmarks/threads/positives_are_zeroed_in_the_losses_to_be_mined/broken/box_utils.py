import torch


def point_form(boxes):
    return torch.cat((boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2), 1)


def jaccard(a, b):
    lo = torch.max(a[:, None, :2], b[None, :, :2])
    hi = torch.min(a[:, None, 2:], b[None, :, 2:])
    inter = (hi - lo).clamp(min=0).prod(2)
    area_a = (a[:, 2:] - a[:, :2]).prod(1)[:, None]
    area_b = (b[:, 2:] - b[:, :2]).prod(1)[None]
    return inter / (area_a + area_b - inter)


def encode(matched, priors, variances=(0.1, 0.2)):
    g_cxcy = ((matched[:, :2] + matched[:, 2:]) / 2 - priors[:, :2]) / (variances[0] * priors[:, 2:])
    g_wh = torch.log((matched[:, 2:] - matched[:, :2]) / priors[:, 2:]) / variances[1]
    return torch.cat([g_cxcy, g_wh], 1)


def match(threshold, truths, priors, labels):
    overlaps = jaccard(truths, point_form(priors))
    best_prior_idx = overlaps.argmax(1)
    best_truth_overlap, best_truth_idx = overlaps.max(0)
    best_truth_overlap[best_prior_idx] = 2  # every truth keeps its best prior
    matches = truths[best_truth_idx]
    conf = labels[best_truth_idx].long() + 1
    conf[best_truth_overlap < threshold] = 0  # background
    return encode(matches, priors), conf
