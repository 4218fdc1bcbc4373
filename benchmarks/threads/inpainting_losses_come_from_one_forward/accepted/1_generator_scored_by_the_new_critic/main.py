from argparse import ArgumentParser

import torch

from data import masked_batches
from trainer import Trainer

parser = ArgumentParser()
parser.add_argument("--seed", type=int, default=3)
parser.add_argument("--niter", type=int, default=10)
parser.add_argument("--n_critic", type=int, default=2, help="generator is trained in every n-th iteration")


def main():
    args = parser.parse_args()
    config = {
        "lr": 1e-3, "beta1": 0.5, "beta2": 0.9, "netG": 16, "netD": 16,
        "coarse_l1_alpha": 1.2, "l1_loss_alpha": 1.4, "ae_loss_alpha": 1.2,
        "gan_loss_alpha": 0.05, "wgan_gp_lambda": 10,
    }
    torch.manual_seed(args.seed)
    trainer = Trainer(config)
    batches = masked_batches(args.niter, batch=8, size=16)

    for iteration, (ground_truth, x, mask) in enumerate(batches, 1):
        compute_g_loss = iteration % args.n_critic == 0
        losses, inpainted_result = trainer(x, mask, ground_truth, compute_g_loss)

        # Update D
        trainer.optimizer_d.zero_grad()
        losses["d"] = losses["wgan_d"] + losses["wgan_gp"] * config["wgan_gp_lambda"]
        losses["d"].backward()
        trainer.optimizer_d.step()

        # Update G
        if compute_g_loss:
            losses["wgan_g"] = -trainer.globalD(inpainted_result).mean()
            trainer.optimizer_g.zero_grad()
            losses["g"] = (losses["l1"] * config["l1_loss_alpha"]
                           + losses["ae"] * config["ae_loss_alpha"]
                           + losses["wgan_g"] * config["gan_loss_alpha"])
            losses["g"].backward()
            trainer.optimizer_g.step()

        log = " ".join("%s %.5f" % (k, v.item()) for k, v in sorted(losses.items()))
        print("Iter [%d/%d] %s" % (iteration, args.niter, log))


if __name__ == "__main__":
    main()
