import json
from types import SimpleNamespace

CONFIG = """
{
 "seed": 2,
 "dim": 24, "hidden": 48, "n_layers": 2,
 "nsamples": 64, "seqlen": 8, "batch_size": 16,
 "wbits": 4, "abits": 6,
 "alpha": 0.5,
 "let_lr": 0.01, "lwc_lr": 0.02, "epochs": 6
}
"""


def get_config():
    return SimpleNamespace(**json.loads(CONFIG))
