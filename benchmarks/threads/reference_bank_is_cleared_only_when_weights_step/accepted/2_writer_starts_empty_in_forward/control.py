"""Lets the denoising network attend to what the reference network saw."""


class ReferenceAttentionControl:
    def __init__(self, unet, mode: str):
        self.unet = unet
        self.mode = mode
        for block in unet.blocks:
            block.mode = mode
            block.bank = []

    def update(self, writer: "ReferenceAttentionControl"):
        for reader_block, writer_block in zip(self.unet.blocks, writer.unet.blocks):
            reader_block.bank = [v.clone() for v in writer_block.bank]

    def clear(self):
        for block in self.unet.blocks:
            block.bank = []
