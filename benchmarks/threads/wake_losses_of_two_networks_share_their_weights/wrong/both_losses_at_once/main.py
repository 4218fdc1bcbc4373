"""Reweighted wake-sleep for a sigmoid belief network (binary latents)."""
import argparse

import torch

import losses
from models import GenerativeNetwork, InferenceNetwork, toy_digits


def train(args):
    torch.manual_seed(args.seed)
    data = toy_digits(args.num_data)
    gen_net, inf_net = GenerativeNetwork(args.dim_z, data.size(1)), InferenceNetwork(data.size(1), args.dim_z)
    optimizer_theta = torch.optim.Adam(gen_net.parameters(), lr=args.lr)
    optimizer_phi = torch.optim.Adam(inf_net.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        for iteration, x in enumerate(data.split(args.batch_size)):
            optimizer_theta.zero_grad()
            optimizer_phi.zero_grad()
            log_p, log_q = losses.get_log_p_and_log_q(gen_net, inf_net, x, args.num_particles)
            log_weight = log_p - log_q

            # wake theta
            wake_theta_loss, elbo = losses.get_wake_theta_loss(log_weight)

            # wake phi
            wake_phi_loss = losses.get_wake_phi_loss(log_weight, log_q)
            (wake_theta_loss + wake_phi_loss).backward()
            optimizer_theta.step()
            optimizer_phi.step()
        print(f"epoch {epoch} elbo {elbo:.5f} phi {wake_phi_loss.item():.5f} ess {losses.ess(log_weight):.5f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=25)
    parser.add_argument("--num-data", type=int, default=100)
    parser.add_argument("--num-particles", type=int, default=6)
    parser.add_argument("--dim-z", type=int, default=5)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--seed", type=int, default=1)
    train(parser.parse_args())
