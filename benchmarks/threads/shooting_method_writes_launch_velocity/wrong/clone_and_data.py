"""Shooting method: launch velocities (a batch of restarts) for a ball with quadratic drag and side wind, so that it passes the hoop and
lands on the target. Everything in SI units."""
import math
import torch

G = 9.81


class Launch(torch.nn.Module):
	def __init__(self, restarts, speed=11.0):
		super().__init__()
		ang = torch.linspace(0.5, 1.1, restarts)
		v = torch.stack([speed * torch.cos(ang), torch.zeros(restarts), speed * torch.sin(ang)], dim=1)
		self.v0 = torch.nn.Parameter(v)
		self.drag = 0.035
		self.wind = torch.tensor([0.0, 2.0, 0.0])

	def acceleration(self, v):
		rel = v - self.wind
		a = -self.drag * rel.norm(dim=1, keepdim=True) * rel
		return a - torch.tensor([0.0, 0.0, G])

	def fly(self, dt=0.05, n=28):
		v = self.v0.clone()
		x = torch.zeros_like(v)
		path = [x]
		for i in range(n):
			v.data += dt * self.acceleration(v.data)
			x = x + dt * v
			path.append(x)
		return torch.stack(path, dim=1), v


class Objective:
	def __init__(self, hoop, target, w_hoop=0.5, w_speed=0.01):
		self.hoop, self.target = torch.tensor(hoop), torch.tensor(target)
		self.w_hoop, self.w_speed = w_hoop, w_speed

	def __call__(self, path, v_end):
		land = ((path[:, -1] - self.target) ** 2).sum(-1)
		near = ((path - self.hoop) ** 2).sum(-1)
		soft = -torch.logsumexp(-4.0 * near, dim=1) / 4.0     # soft minimum over time
		return land + self.w_hoop * soft + self.w_speed * (v_end ** 2).sum(-1)


def solve(iters=8, restarts=3):
	torch.manual_seed(0)
	model = Launch(restarts)
	objective = Objective([4.0, 0.5, 3.0], [8.0, 0.5, 0.0])
	opt = torch.optim.Adam(model.parameters(), lr=0.15)
	best = math.inf
	for it in range(iters):
		path, v_end = model.fly()
		cost = objective(path, v_end)
		opt.zero_grad()
		cost.sum().backward()
		opt.step()
		best = min(best, cost.min().item())
		if it % 2 == 1:
			print('it', it, 'cost', ' '.join('%.5f' % c for c in cost.tolist()))
	return model, best


if __name__ == '__main__':
	model, best = solve()
	print('best %.5f' % best)
	for row in model.v0.tolist():
		print('v0 %.4f %.4f %.4f' % tuple(row))
