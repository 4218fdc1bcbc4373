import torch, torch.nn as nn, torch.nn.functional as F

class Decoder(nn.Module):
	def __init__(self):
		super().__init__()
		self.body = nn.Sequential(nn.Linear(4, 16), nn.SiLU())
		self.conv_out = nn.Linear(16, 8)

	def forward(self, z):
		return self.conv_out(self.body(z))

class VQLPIPSWithDiscriminator(nn.Module):
	def __init__(self, disc_start=2, disc_weight=0.8):
		super().__init__()
		self.disc_start, self.disc_weight = disc_start, disc_weight
		self.discriminator = nn.Sequential(nn.Linear(8, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))

	def calculate_adaptive_weight(self, nll_loss, g_loss, last_layer):
		nll_grads = torch.autograd.grad(nll_loss, last_layer, retain_graph=True)[0]
		g_grads = torch.autograd.grad(g_loss, last_layer)[0]
		d_weight = torch.norm(nll_grads) / (torch.norm(g_grads) + 1e-4)
		return torch.clamp(d_weight, 0.0, 1e4).detach() * self.disc_weight

	def forward(self, inputs, recon, optimizer_idx, global_step, last_layer=None):
		factor = 1.0 if global_step >= self.disc_start else 0.0
		if optimizer_idx == 0:
			nll_loss = (inputs - recon).abs().mean()
			g_loss = -self.discriminator(recon).mean()
			d_weight = self.calculate_adaptive_weight(nll_loss, g_loss, last_layer)
			return nll_loss + d_weight * factor * g_loss, {"nll": nll_loss.item(), "d_weight": d_weight.item()}
		logits_real, logits_fake = self.discriminator(inputs.detach()), self.discriminator(recon.detach())
		d_loss = 0.5 * (F.relu(1 - logits_real).mean() + F.relu(1 + logits_fake).mean())
		return factor * d_loss, {"d_loss": d_loss.item()}

class VQModel(nn.Module):
	def __init__(self):
		super().__init__()
		self.encoder, self.decoder = nn.Linear(8, 4), Decoder()
		self.loss = VQLPIPSWithDiscriminator()

	def get_last_layer(self):
		return self.decoder.conv_out.weight

	def forward(self, x):
		return self.decoder(torch.tanh(self.encoder(x)))

torch.manual_seed(2012)
model = VQModel()
opts = [torch.optim.Adam([*model.encoder.parameters(), *model.decoder.parameters()], lr=4e-3, betas=(0.5, 0.9)),
	torch.optim.Adam(model.loss.discriminator.parameters(), lr=4e-3, betas=(0.5, 0.9))]
basis = torch.randn(4, 8)
for step in range(6):
	x = torch.randn(12, 4) @ basis
	logged = {}
	for optimizer_idx, opt in enumerate(opts):
		recon = model(x)
		loss, log = model.loss(x, recon, optimizer_idx, step, last_layer=model.get_last_layer())
		opt.zero_grad()
		loss.backward()
		opt.step()
		logged.update(log)
	print(step, " ".join("%s %.6f" % kv for kv in logged.items()))
