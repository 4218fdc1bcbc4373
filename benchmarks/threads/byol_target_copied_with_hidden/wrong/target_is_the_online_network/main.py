import torch
from byol.learner import BYOL
from byol.data import Views
from byol.backbone import SmallConv


def main():
    torch.manual_seed(95)
    net = SmallConv(10)
    learner = BYOL(net, hidden_layer='avgpool', projection_size=8, projection_hidden_size=16, moving_average_decay=0.9)
    views = Views(batch=8)
    learner.warm_up(views.example())           # builds the projector
    opt = torch.optim.Adam(learner.parameters(), lr=3e-3)
    for step in range(6):
        loss = learner(*views.pair())
        opt.zero_grad()
        loss.backward()
        opt.step()
        learner.update_moving_average()
        print('%d %.6f' % (step, loss.item()))


main()
