import torch, torch.nn as nn
from torch.distributions import Categorical

class Policy(nn.Module):
	def __init__(self, n_obs, n_act, h=24):
		super().__init__()
		self.body=nn.Sequential(nn.Linear(n_obs, h), nn.Tanh())
		self.pi=nn.Linear(h, n_act)
	def forward(self, o): return Categorical(logits=self.pi(self.body(o)))

class Corridor:
	"""walk to the right end; the episode ends there or after a random number of steps"""
	def __init__(self, n=6): self.n=n
	def reset(self):
		self.x, self.t, self.T=0, 0, int(torch.randint(6, 14, ()).item())
		return self.obs()
	def obs(self):
		o=torch.zeros(self.n+1); o[self.x]=1.; o[-1]=self.t/10
		return o
	def step(self, a):
		self.x=max(0, min(self.n-1, self.x+(1 if a==1 else -1))); self.t+=1
		done=self.x==self.n-1 or self.t>=self.T
		return self.obs(), (1. if self.x==self.n-1 else -0.05), done

def returns_of(rewards, gamma=0.97):
	R, out=0., []
	for r in reversed(rewards):
		R=r+gamma*R; out.insert(0, R)
	return torch.tensor(out)

class Reinforce:
	def __init__(self, env, policy, lr):
		self.env, self.policy=env, policy
		self.opt=torch.optim.Adam(policy.parameters(), lr=lr)
		self.baseline=0.
	def episode(self):
		logps, rewards, ents=[], [], []
		o, done=self.env.reset(), False
		while not done:
			d=self.policy(o); a=d.sample()
			o, r, done=self.env.step(a.item())
			logps.append(d.log_prob(a)); ents.append(d.entropy()); rewards.append(r)
		return torch.stack(logps), torch.stack(ents), returns_of(rewards)
	def update(self):
		logp, ent, ret=self.episode()
		adv=ret-self.baseline
		self.baseline+=0.1*(ret[0].item()-self.baseline)
		loss=-logp*adv-0.01*ent
		self.opt.zero_grad()
		loss.backward(torch.ones_like(loss))
		nn.utils.clip_grad_norm_(self.policy.parameters(), 40.)
		self.opt.step()
		return ret[0].item(), len(ret)

if __name__=='__main__':
	torch.manual_seed(20)
	env=Corridor()
	agent=Reinforce(env, Policy(env.n+1, 2), lr=2e-2)
	for ep in range(10):
		R, T=agent.update()
		print('episode %d return %.4f length %d baseline %.5f'%(ep, R, T, agent.baseline))
	print('p(right) '+' '.join('%.5f'%agent.policy(torch.eye(env.n+1)[i]).probs[1].item() for i in range(3)))
