"""Output regulariser of von Oswald et al.: the hypernetwork should go on to produce, for every
former task, the weights that it produced before it started on the present one."""


def get_current_targets(task_id, hnet):
    """Outputs for all former tasks, computed once, before task ``task_id`` is learned."""
    targets = []
    for j in range(task_id):
        targets.append([w for w in hnet(j)])
    return targets


def calc_fix_target_reg(hnet, task_id, targets, reg_scaling=None):
    if task_id == 0:
        return 0.0
    reg = 0.0
    for j in range(task_id):
        weights = hnet(j)
        diff = sum((w - t).pow(2).sum() for w, t in zip(weights, targets[j]))
        reg = reg + (diff if reg_scaling is None else reg_scaling[j] * diff)
    return reg / task_id
