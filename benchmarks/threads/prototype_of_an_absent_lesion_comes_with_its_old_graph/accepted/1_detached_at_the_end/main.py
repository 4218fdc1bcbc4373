import torch
from dataset import SliceLoader
from losses import SegLoss
from net import TinyUNet
from utils import AverageMeter, class_dice

# ---------------- config ----------------
NUM_CLASSES = 3      # 0 background, 1 organ, 2 lesion
EMB_DIM = 8
EPOCHS = 3
LR = 5e-3
LAMBDA_PROTO = 0.5
TEMPERATURE = 0.2
# ----------------------------------------


def train_one_epoch(model, criterion, loader, optimizer):
    model.train()
    meters = [AverageMeter(), AverageMeter()]
    for images, labels in loader:
        logits, emb = model(images)
        ce, proto = criterion(logits, emb, labels)
        loss = ce + LAMBDA_PROTO * proto
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        meters[0].update(ce.item())
        meters[1].update(proto.item())
    return [m.avg for m in meters]


@torch.no_grad()
def validate(model, loader):
    model.eval()
    pred, true = [], []
    for images, labels in loader:
        pred.append(model(images)[0].argmax(1))
        true.append(labels)
    return class_dice(torch.cat(pred), torch.cat(true), NUM_CLASSES)


if __name__ == '__main__':
    torch.manual_seed(17)
    train_loader = SliceLoader(n_batches=8, batch_size=3, seed=1)
    val_loader = SliceLoader(n_batches=2, batch_size=3, seed=2)
    model = TinyUNet(NUM_CLASSES, EMB_DIM)
    criterion = SegLoss(NUM_CLASSES, EMB_DIM, TEMPERATURE)
    optimizer = torch.optim.Adam(model.parameters(), lr=LR)
    for epoch in range(EPOCHS):
        ce, proto = train_one_epoch(model, criterion, train_loader, optimizer)
        dice = validate(model, val_loader)
        print('Epoch %d ce %.6f proto %.6f dice %s' % (epoch, ce, proto, ' '.join('%.6f' % d for d in dice)))
