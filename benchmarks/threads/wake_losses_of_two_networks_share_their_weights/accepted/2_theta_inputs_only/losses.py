import math

import torch


def get_log_p_and_log_q(generative_network, inference_network, x, num_particles):
    """[batch, particles] each; the latents are discrete, there is no path through the samples"""
    q = inference_network.get_latent_dist(x)
    z = q.sample((num_particles,))
    log_q = q.log_prob(z).sum(-1)
    log_p = generative_network.get_log_prob(z, x)
    return log_p.t(), log_q.t()


def get_wake_theta_loss(log_weight):
    num_particles = log_weight.size(1)
    elbo = torch.mean(torch.logsumexp(log_weight, dim=1) - math.log(num_particles))
    return -elbo, elbo.item()


def get_wake_phi_loss(log_weight, log_q):
    normalized_weight = torch.softmax(log_weight.detach(), dim=1)
    return torch.mean(-torch.sum(normalized_weight * log_q, dim=1))


def ess(log_weight):
    w = torch.softmax(log_weight.detach(), dim=1)
    return (1 / (w ** 2).sum(1)).mean().item()
