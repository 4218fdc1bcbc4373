import argparse
import random
import torch
from data import PairedSketches
from pix import TwoScaleTranslator

parser = argparse.ArgumentParser(description="sketch -> picture with two discriminators")
parser.add_argument("--n_epochs", type=int, default=4)
parser.add_argument("--batch_size", type=int, default=4)
parser.add_argument("--pool_size", type=int, default=8, help="how many old fakes the discriminators may see")
parser.add_argument("--lambda_l1", type=float, default=10.0)
parser.add_argument("--lr", type=float, default=1e-3)
opt = parser.parse_args([])

random.seed(21)
torch.manual_seed(21)

dataset = PairedSketches(24)
loader = torch.utils.data.DataLoader(dataset, batch_size=opt.batch_size, shuffle=True)
model = TwoScaleTranslator(opt)

for epoch in range(opt.n_epochs):
    sums = {}
    for real_A, real_B in loader:
        model.set_input(real_A, real_B)
        for k, v in model.optimize_parameters().items():
            sums[k] = sums.get(k, 0.0) + v
    print("epoch %d  " % epoch + "  ".join("%s %.6f" % (k, v / len(loader)) for k, v in sums.items()))
