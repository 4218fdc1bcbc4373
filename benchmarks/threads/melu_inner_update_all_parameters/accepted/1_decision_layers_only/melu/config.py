config = {
    # item
    'num_rate': 5, 'num_genre': 8,
    # user
    'num_gender': 2, 'num_age': 6,
    # model
    'embedding_dim': 6, 'first_fc_hidden_dim': 16, 'second_fc_hidden_dim': 12,
    'inner': 2, 'lr': 5e-3, 'local_lr': 5e-2,
}
