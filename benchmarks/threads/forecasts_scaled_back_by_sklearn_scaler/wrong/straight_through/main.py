import argparse

import torch

from exp.exp_forecast import ExpForecast

parser = argparse.ArgumentParser(description="long sequence forecasting")
parser.add_argument("--seq_len", type=int, default=16)
parser.add_argument("--label_len", type=int, default=6)
parser.add_argument("--pred_len", type=int, default=4)
parser.add_argument("--d_model", type=int, default=12)
parser.add_argument("--inverse", type=int, default=1, help="loss in the units of the data (the tariff is in EUR, so are we)")
parser.add_argument("--teacher_forcing", type=float, default=0.5)
parser.add_argument("--train_epochs", type=int, default=2)
parser.add_argument("--batch_size", type=int, default=16)
parser.add_argument("--learning_rate", type=float, default=5e-3)
parser.add_argument("--itr", type=int, default=1)

if __name__ == "__main__":
    args = parser.parse_args()
    for ii in range(args.itr):
        torch.manual_seed(2021 + ii)
        exp = ExpForecast(args)
        exp.train()
        exp.vali("val")
