# Calibrating a local volatility curve: implicit finite differences, gradient through the solver
import torch
from grid import Grid
from vol import VolCurve
from pricer import call_prices

torch.manual_seed(2)
torch.set_default_dtype(torch.float64)

grid = Grid(s_max=3.0, n=24, t_end=0.5, steps=4)
strikes = [0.8, 1.0, 1.2]

with torch.no_grad():
    truth = VolCurve(knots=6)
    truth.raw.copy_(torch.tensor([0.45, 0.38, 0.30, 0.24, 0.22, 0.25]).expm1().log())
    market = call_prices(truth, grid, strikes)

model = VolCurve(knots=6)
opt = torch.optim.Adam(model.parameters(), lr=0.05)

for it in range(5):
	opt.zero_grad()
	prices = call_prices(model, grid, strikes)
	fit = ((prices - market) * 100).pow(2).mean()
	rough = model.second_differences().pow(2).sum()
	loss = fit + 0.1*rough
	loss.backward()
	opt.step()
	if it % 3 == 0:
		print("%3d  fit %.6f  rough %.6f  vol %s" % (it, fit.item(), rough.item(), [round(v, 3) for v in model.values().tolist()]))
