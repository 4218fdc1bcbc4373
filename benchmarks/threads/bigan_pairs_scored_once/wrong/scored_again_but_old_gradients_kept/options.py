import argparse


def get_options():
    p = argparse.ArgumentParser()
    p.add_argument("--num_epochs", type=int, default=3)
    p.add_argument("--lr_adam", type=float, default=2e-3)
    p.add_argument("--batch_size", type=int, default=32)
    p.add_argument("--n_data", type=int, default=96)
    p.add_argument("--latent_dim", type=int, default=3)
    p.add_argument("--x_dim", type=int, default=6)
    p.add_argument("--hidden", type=int, default=24)
    p.add_argument("--wasserstein", action="store_true")
    p.add_argument("--seed", type=int, default=7)
    return p.parse_args()
