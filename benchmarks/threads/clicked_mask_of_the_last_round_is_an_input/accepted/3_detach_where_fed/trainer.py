import torch
import torch.nn as nn
from torch.utils.data import DataLoader


def get_next_points(pred, gt, points, threshold=0.5):
    """The simulated user clicks into the region where the shown mask is most wrong."""
    err = torch.where(gt > 0.5, 1 - pred, pred)
    wrong = (pred > threshold) != (gt > 0.5)
    score = err + wrong.float()
    b, _, h, w = gt.shape
    idx = score.view(b, -1).argmax(1)
    y, x = idx // w, idx % w
    positive = gt.view(b, -1).gather(1, idx[:, None])[:, 0]
    return points + [torch.stack([y.float(), x.float(), positive], 1)]


class ISTrainer(object):
    def __init__(self, model, cfg, trainset, valset):
        self.net = model
        self.cfg = cfg
        g = torch.Generator().manual_seed(cfg.seed)
        self.train_data = DataLoader(trainset, cfg.batch_size, shuffle=True, generator=g)
        self.val_data = DataLoader(valset, cfg.batch_size)
        self.optim = torch.optim.Adam(self.net.parameters(), lr=cfg.lr)
        self.instance_loss = nn.BCEWithLogitsLoss()

    def training(self, epoch):
        self.net.train()
        per_click = [0.0] * self.cfg.num_clicks
        for batch_data in self.train_data:
            for click, value in enumerate(self.batch_step(batch_data)):
                per_click[click] += value / len(self.train_data)
        print('Epoch %d, training loss per click: ' % epoch + ' '.join('%.6f' % v for v in per_click))

    def batch_step(self, batch_data):
        image, gt_mask = batch_data['images'], batch_data['instances']
        prev_output = torch.zeros_like(gt_mask)
        points = get_next_points(prev_output, gt_mask, [])
        losses = []
        for click in range(self.cfg.num_clicks):
            # the net sees the mask that the user saw when he placed this click
            output = self.net(image, prev_output.detach(), points)
            loss = self.instance_loss(output['instances'], gt_mask)

            self.optim.zero_grad()
            loss.backward()
            self.optim.step()
            losses.append(loss.item())

            prev_output = torch.sigmoid(output['instances'])
            points = get_next_points(prev_output, gt_mask, points)
        return losses

    @torch.no_grad()
    def validation(self, epoch):
        self.net.eval()
        inter = union = 0.0
        for batch_data in self.val_data:
            image, gt_mask = batch_data['images'], batch_data['instances']
            prev_output = torch.zeros_like(gt_mask)
            points = get_next_points(prev_output, gt_mask, [])
            for click in range(self.cfg.num_clicks):
                prev_output = torch.sigmoid(self.net(image, prev_output, points)['instances'])
                points = get_next_points(prev_output, gt_mask, points)
            hard = prev_output > 0.5
            inter += (hard & (gt_mask > 0.5)).sum().item()
            union += (hard | (gt_mask > 0.5)).sum().item()
        print('Epoch %d, validation IoU after %d clicks: %.6f' % (epoch, self.cfg.num_clicks, inter / max(union, 1.0)))
