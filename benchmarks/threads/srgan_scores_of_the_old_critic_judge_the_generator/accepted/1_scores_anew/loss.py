import torch
from torch import nn


class GeneratorLoss(nn.Module):
    """adversarial + image + edge + TV loss"""

    def __init__(self):
        super(GeneratorLoss, self).__init__()
        self.mse_loss = nn.MSELoss()
        self.tv_loss = TVLoss()
        kernel = torch.tensor([[-1., 0., 1.], [-2., 0., 2.], [-1., 0., 1.]])
        self.register_buffer('sobel', kernel.view(1, 1, 3, 3).repeat(3, 1, 1, 1))

    def edges(self, x):
        return nn.functional.conv2d(x, self.sobel, padding=1, groups=3)

    def forward(self, out_labels, out_images, target_images):
        # Adversarial Loss
        adversarial_loss = torch.mean(1 - out_labels)
        # Edge Loss
        perception_loss = self.mse_loss(self.edges(out_images), self.edges(target_images))
        # Image Loss
        image_loss = self.mse_loss(out_images, target_images)
        # TV Loss
        tv_loss = self.tv_loss(out_images)
        return image_loss + 0.1 * adversarial_loss + 0.006 * perception_loss + 2e-6 * tv_loss


class TVLoss(nn.Module):
    def forward(self, x):
        h_tv = (x[:, :, 1:, :] - x[:, :, :-1, :]).pow(2).mean()
        w_tv = (x[:, :, :, 1:] - x[:, :, :, :-1]).pow(2).mean()
        return 2 * (h_tv + w_tv)
