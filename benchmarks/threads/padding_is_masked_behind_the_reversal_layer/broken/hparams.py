# configs/grl (cpu smoke test)
hparams = dict(
    seed=1234,
    n_symbols=12,
    symbols_embedding_dim=16,
    encoder_dim=24,
    n_speakers=4,
    n_prosody=3,
    speaker_hidden_dim=16,
    grl_lambda=0.5,
    speaker_loss_weight=1.0,
    learning_rate=4e-3,
    batch_size=32,
    iters=120,
    iters_per_log=30,
)
