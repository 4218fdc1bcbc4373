import torch


def random_graph(n):
    x = torch.randn(n, 5)
    y = x[:, :3].argmax(1)
    a = (torch.rand(n, n) < 0.2).float()
    a = ((a + a.t()) > 0).float()
    a.fill_diagonal_(1.0)
    d = a.sum(1).pow(-0.5)
    return x, y, d[:, None] * a * d[None]


def partition(adj, parts):
    """(n_id, batch_size, adj of the subgraph): first the nodes of the cluster, then their 1-hop halo"""
    out = []
    for ids in torch.arange(len(adj)).chunk(parts):
        touched = (adj[ids] > 0).any(0)
        touched[ids] = False
        halo = touched.nonzero().flatten()
        n_id = torch.cat([ids, halo])
        out.append((n_id, len(ids), adj[n_id][:, n_id]))
    return out
