from collections import defaultdict

import torch


def get_world_size():
    return 1


class MetricLogger:
    def __init__(self):
        self.values = defaultdict(list)

    def update(self, **kwargs):
        for k, v in kwargs.items():
            self.values[k].append(float(v))

    def __str__(self):
        return '  '.join('{}: {:.5f}'.format(k, sum(v) / len(v)) for k, v in sorted(self.values.items()))


@torch.no_grad()
def reduce_dict(input_dict, average=True):
    """
    Reduce the values in the dictionary from all processes so that all processes
    have the averaged results. Returns a dict with the same fields as input_dict.
    """
    names = sorted(input_dict.keys())
    values = torch.stack([input_dict[k] for k in names], dim=0)
    # dist.all_reduce(values)
    if average:
        values = values / get_world_size()
    return {k: v for k, v in zip(names, values)}
