import torch


def lambda_return(reward, value, discount, lambda_):
    """
    reward, discount: (H, B), for the transition t -> t+1;  value: (H + 1, B)
    R_t = r_t + d_t * ((1 - lambda) * v_{t+1} + lambda * R_{t+1}),  R_H = v_H
    """
    horizon = reward.shape[0]
    ret = torch.empty_like(value)
    ret[horizon] = value[horizon]
    for t in range(horizon - 1, -1, -1):
        ret[t] = reward[t] + (1 - lambda_) * discount[t] * value[t + 1] + lambda_ * discount[t] * ret[t + 1].clone()
    return ret[:-1]
