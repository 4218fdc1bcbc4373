import torch


def toy_questions(n, nodes=6):
    """a small graph and a question each; the answer is a token that the graph determines"""
    adj = (torch.rand(n, nodes, nodes) < 0.4).float()
    adj = ((adj + adj.transpose(1, 2)) > 0).float()
    x = torch.randn(n, nodes, 4)
    kind = torch.randint(0, 3, (n,))
    x[torch.arange(n), 0] += torch.nn.functional.one_hot(kind, 4) * 2.0
    question = torch.randint(0, 10, (n, 4))
    return x, adj, question, 10 + kind
