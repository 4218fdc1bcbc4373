# 超参数
START_TAG = '<START>'
STOP_TAG = '<STOP>'
tag2id = {'B': 0, 'I': 1, 'O': 2, START_TAG: 3, STOP_TAG: 4}
vocab_size = 30
embedding_dim = 12
hidden_dim = 16
batch_size = 16
lr = 0.02
epochs = 4
seed = 2020
