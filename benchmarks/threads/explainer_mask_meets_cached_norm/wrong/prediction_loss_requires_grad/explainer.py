import torch
import torch.nn.functional as F


class EdgeExplainer:
    coeffs = {'size': 0.02, 'ent': 0.5}

    def __init__(self, model, epochs=50, lr=0.1):
        self.model, self.epochs, self.lr = model, epochs, lr

    def masked(self, adj, logits):
        m = torch.sigmoid((logits + logits.t()) / 2)
        return adj * m, m

    def regulariser(self, m, adj):
        on = m[adj > 0]
        ent = -on * torch.log(on + 1e-7) - (1 - on) * torch.log(1 - on + 1e-7)
        return self.coeffs['size'] * on.sum() + self.coeffs['ent'] * ent.mean()

    def explain(self, node, x, adj):
        self.model.eval()
        for p in self.model.parameters():
            p.requires_grad_(False)
        with torch.no_grad():
            target = self.model(x, adj)[node].argmax().view(1)
        logits = torch.randn_like(adj) * 0.1
        logits.requires_grad_(True)
        opt = torch.optim.Adam([logits], lr=self.lr)
        hard = None
        for ep in range(self.epochs):
            opt.zero_grad()
            a, m = self.masked(adj, logits)
            pred = F.cross_entropy(self.model(x, a)[node].view(1, -1), target)
            pred.requires_grad_(True).backward(retain_graph=True)
            if hard is None:
                hard = adj > 0          # the edges that can reach the node at all
            self.regulariser(m, adj).backward()
            opt.step()
            print('explain %d  pred %.6f' % (ep, pred.item()))
        with torch.no_grad():
            return self.masked(adj, logits)[0] * hard
