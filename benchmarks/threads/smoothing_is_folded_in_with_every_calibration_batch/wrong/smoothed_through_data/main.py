# Block-wise calibration: learned smoothing + learned clipping, one block at a time
import torch
import torch.nn.functional as F

from block import FFN, QuantFFN
from calib import calibration_set
from config import get_config


def calibrate(cfg, fp_block, q_block, inps):
    with torch.no_grad():
        fp_outs = fp_block(inps)
    opt = torch.optim.AdamW([
        {'params': [q_block.log_scale], 'lr': cfg.let_lr},
        {'params': [q_block.clip1, q_block.clip2], 'lr': cfg.lwc_lr},
    ], weight_decay=0.)
    for epoch in range(cfg.epochs):
        total = 0.
        for i in range(0, cfg.nsamples, cfg.batch_size):
            out = q_block(inps[i:i + cfg.batch_size])
            loss = F.mse_loss(out, fp_outs[i:i + cfg.batch_size])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * cfg.batch_size / cfg.nsamples
        print('epoch %d  loss %.6f  scale %.6f..%.6f' % (
            epoch, total, q_block.log_scale.exp().min().item(), q_block.log_scale.exp().max().item()))
    with torch.no_grad():
        print('block error %.6f' % F.mse_loss(q_block(inps), fp_outs).item())


if __name__ == '__main__':
    cfg = get_config()
    torch.manual_seed(cfg.seed)
    inps = calibration_set(cfg)
    layers = [FFN(cfg.dim, cfg.hidden) for _ in range(cfg.n_layers)]
    for i, layer in enumerate(layers):
        print('=== quantize layer %d: w%da%d ===' % (i, cfg.wbits, cfg.abits))
        layer.requires_grad_(False)
        q_layer = QuantFFN(layer, cfg, inps)
        calibrate(cfg, layer, q_layer, inps)
        with torch.no_grad():
            inps = layer(inps)
