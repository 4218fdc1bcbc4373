# 用 LSTM 预测多变量传感器的下一时刻
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(2024)

EPOCH = 3
batch_size = 8
embedding_dim = 6
hidden_dim = 16
num_layers = 2
seq_len = 10


class SensorDataset(Dataset):
    """把一段很长的序列切成 batch_size 条并行的流，每个批次沿时间向前走 seq_len 步"""

    def __init__(self, n_steps=50):
        t = torch.arange(batch_size * n_steps + 1).float()
        freq = torch.linspace(0.05, 0.3, embedding_dim)
        series = torch.sin(t[:, None] * freq) + 0.05 * torch.randn(len(t), embedding_dim)
        self.x = series[:-1].view(batch_size, n_steps, embedding_dim)
        self.y = series[1:].view(batch_size, n_steps, embedding_dim)
        self.n = n_steps // seq_len

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        s = slice(i * seq_len, (i + 1) * seq_len)
        return self.x[:, s], self.y[:, s]


class LSTM(nn.Module):
    def __init__(self, input_dim, hidden_dim, num_layers, output_dim):
        super().__init__()
        self.lstm = nn.LSTM(input_dim, hidden_dim, num_layers, batch_first=True)
        self.norm = nn.LayerNorm(hidden_dim)
        self.fc = nn.Linear(hidden_dim, output_dim)

    def forward(self, x, h0, c0):
        out, (hn, cn) = self.lstm(x, (h0, c0))
        return self.fc(self.norm(out)), (hn, cn)


dataset = SensorDataset()
# 顺序不能打乱：后一个批次接着前一个批次的时间
data_loader = DataLoader(dataset, batch_size=None, shuffle=False)
batch_count = len(data_loader)

lstm = LSTM(embedding_dim, hidden_dim, num_layers, embedding_dim)
loss_fn = nn.MSELoss()
optimizer = torch.optim.Adam(lstm.parameters(), lr=0.01)

for epoch in range(EPOCH):
    batch_num = 0
    total = 0.
    # 每个 epoch 从头开始
    h0 = torch.randn((num_layers, batch_size, hidden_dim), requires_grad=False)
    c0 = torch.randn((num_layers, batch_size, hidden_dim), requires_grad=False)

    for batch in data_loader:
        optimizer.zero_grad()
        h0 = torch.randn((num_layers, batch_size, hidden_dim))
        c0 = torch.randn((num_layers, batch_size, hidden_dim))

        output, (h0, c0) = lstm(batch[0], h0, c0)

        loss = loss_fn(output.reshape(-1, embedding_dim), batch[1].reshape(-1, embedding_dim))
        loss.backward(retain_graph=True)
        optimizer.step()

        total += loss.item()
        batch_num += 1
        if batch_num % min(10, batch_count // 2) == 0:
            print(f'epoch {epoch} : batch {batch_num} : {loss.item():.6f}')
    print(f'epoch {epoch} 平均损失 {total / batch_count:.6f}')

# 自由运行 5 步
with torch.no_grad():
    x = dataset.y[:, -1:]
    for _ in range(5):
        x, (h0, c0) = lstm(x, h0, c0)
    print('预测均值', round(x.mean().item(), 5))
