"""Two-parameter logistic item response model, fitted by gradient descent.

    P(X_ij = 1) = sigmoid(a_j * (theta_i - b_j))

theta is only determined up to shift and scale; after each update the abilities are
brought back to mean 0, sd 1 and the items are moved along.
"""
import math

import torch
from torch import nn
from torch.distributions import Bernoulli


class ResponseModel(nn.Module):
	def __init__(self, n_students, n_questions):
		super().__init__()
		self.skill = nn.Parameter(torch.zeros(n_students), requires_grad=False)
		self.difficulty = nn.Parameter(torch.zeros(n_questions))
		self.discrimination = nn.Parameter(torch.ones(n_questions))

	def forward(self):
		logits = self.discrimination * (self.skill[:, None] - self.difficulty[None, :])
		return Bernoulli(logits=logits)

	def identify(self):
		m, s = self.skill.mean(), self.skill.std()
		self.skill -= m
		self.skill /= s
		self.difficulty.data -= m
		self.difficulty.data /= s
		self.discrimination.data *= s


def start_from_raw_scores(model, answers):
	share = answers.mean(1).clamp(0.05, 0.95)
	model.skill.data.copy_(torch.log(share / (1 - share)))
	share = answers.mean(0).clamp(0.05, 0.95)
	model.difficulty.data.copy_(-torch.log(share / (1 - share)))


def generate_data(n_students, n_questions):
	true = ResponseModel(n_students, n_questions)
	true.skill.data = torch.randn(n_students)
	true.difficulty.data = 1.5 * torch.randn(n_questions)
	true.discrimination.data = 0.5 + torch.rand(n_questions)
	with torch.no_grad():
		answers = true().sample()
	return true, answers


def fit_model(answers, epochs, prior=0.05, report=10):
	model = ResponseModel(*answers.shape)
	start_from_raw_scores(model, answers)
	optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
	for epoch in range(epochs):
		optimizer.zero_grad()
		nll = -model().log_prob(answers).mean()
		penalty = prior * (torch.log(model.discrimination.clamp(min=0.05)) ** 2).mean()
		loss = nll + penalty
		loss.backward()
		optimizer.step()
		model.identify()
		if (epoch + 1) % report == 0:
			print('epoch %3d  nll %.6f  penalty %.6f' % (epoch + 1, nll.item(), penalty.item()))
	return model


def corr(a, b):
	a, b = a - a.mean(), b - b.mean()
	return (a @ b / (a.norm() * b.norm())).item()


if __name__ == '__main__':
	torch.manual_seed(12)
	torch.set_num_threads(1)
	true, answers = generate_data(n_students=60, n_questions=25)
	model = fit_model(answers, epochs=40)
	skill, difficulty = model.skill.detach(), model.difficulty.detach()
	print('skill: mean %.4f, sd %.6f, r with the truth %.6f' % (abs(skill.mean().item()), skill.std().item(), corr(skill, true.skill.detach())))
	print('difficulty: mean %.6f, r with the truth %.6f' % (difficulty.mean().item(), corr(difficulty, true.difficulty.detach())))
	print('discrimination: mean %.6f' % model.discrimination.mean().item())
