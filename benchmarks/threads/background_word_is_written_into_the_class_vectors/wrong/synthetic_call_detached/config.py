import json

BASE = {
    "seed": 2,
    "lr": 0.05,
    "iters": 3,
    "num_rois": 24,
    "roi_dim": 20,
    "word_dim": 12,
    "num_seen": 6,
    "num_unseen": 3,
    "with_syn_bg": True,
    "syn_weight": 0.7,
}


def load_config(pairs):
    cfg = dict(BASE)
    for pair in pairs:
        key, value = pair.split("=")
        cfg[key] = json.loads(value)
    return cfg
