import torch
from torch.utils.data import DataLoader, Dataset

from losses import BCEDiceLoss
from metrics import Meter
from model import UNet


class NodulesDataset(Dataset):
    """dark discs on a noisy background"""

    def __init__(self, n, size=24, seed=0):
        g = torch.Generator().manual_seed(seed)
        ys, xs = torch.meshgrid(torch.arange(size), torch.arange(size), indexing='ij')
        self.images, self.masks = [], []
        for _ in range(n):
            cy, cx = torch.randint(6, size - 6, (2,), generator=g).tolist()
            r = torch.randint(3, 6, (1,), generator=g).item()
            mask = ((ys - cy) ** 2 + (xs - cx) ** 2 <= r ** 2).float().unsqueeze(0)
            image = 0.7 + 0.15 * torch.randn(3, size, size, generator=g) - 0.5 * mask
            self.images.append(image)
            self.masks.append(mask)

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.images[i], self.masks[i]


class Trainer(object):
    """This class takes care of training and validation of our model"""

    def __init__(self, model, num_epochs=3, lr=5e-3, batch_size=8):
        self.net = model
        self.num_epochs = num_epochs
        self.phases = ['train', 'val']
        self.criterion = BCEDiceLoss()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=lr)
        self.device = torch.device('cpu')
        self.dataloaders = {
            'train': DataLoader(NodulesDataset(32, seed=1), batch_size=batch_size, shuffle=True),
            'val': DataLoader(NodulesDataset(8, seed=2), batch_size=batch_size),
        }

    def forward(self, images, targets):
        images = images.to(self.device)
        masks = targets.to(self.device)
        outputs = torch.sigmoid(self.net(images))
        loss = self.criterion(outputs, masks)
        return loss, outputs

    def iterate(self, epoch, phase):
        meter = Meter(phase, epoch)
        self.net.train(phase == 'train')
        running_loss = 0.0
        for images, targets in self.dataloaders[phase]:
            loss, outputs = self.forward(images, targets)
            if phase == 'train':
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            running_loss += loss.item()
            meter.update(targets, outputs.cpu())
        epoch_loss = running_loss / len(self.dataloaders[phase])
        dice, iou = meter.get_metrics()
        print(f'{epoch} {phase:5s} Loss: {epoch_loss:0.4f} | dice: {dice:0.4f} | IoU: {iou:0.4f}')
        return epoch_loss

    def start(self):
        for epoch in range(self.num_epochs):
            self.iterate(epoch, 'train')
            self.iterate(epoch, 'val')


if __name__ == '__main__':
    torch.manual_seed(69)
    Trainer(UNet()).start()
