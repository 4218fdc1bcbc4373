from .loss import clip_loss


def train_one_epoch(model, stream, optimizer, clamp):
    for i, (images, texts) in enumerate(stream):
        optimizer.zero_grad()
        loss = clip_loss(*model(images, texts))
        loss.backward()
        optimizer.step()
        # Note: we clamp to 4.6052 = ln(100), as in the original paper.
        model.logit_scale.data.clamp_(0, clamp)
        print('Train %d  loss: %.6f  logit scale: %.6f' % (i, loss.item(), model.logit_scale.exp().item()))
