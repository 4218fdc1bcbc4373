class Config:
    seed = 2021
    n_source_classes = 6
    n_target_classes = 3
    pretrain_epochs = 3
    finetune_epochs = 5
    batch_size = 24
    lr_pretrain = 5e-3
    lr_finetune = 2e-3
    n_trainable_blocks = 2      # 最后几层参与微调 (含分类头)
