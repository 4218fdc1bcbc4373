import torch
import torch.nn as nn
import torch.nn.functional as F


def gram_matrix(x):
    b, c, h, w = x.size()
    f = x.view(b * c, h * w)
    return f @ f.t() / (b * c * h * w)


class StyleTransfer:
    def __init__(self, cnn, content, style, style_weight=1e3, content_weight=1.0):
        self.layers = cnn
        for p in self.layers.parameters():
            p.requires_grad = False
        self.sw, self.cw = style_weight, content_weight
        self.content_target = self.features(content)[-1]
        self.style_targets = [gram_matrix(f) for f in self.features(style)]

    def features(self, x):
        feats = []
        for layer in self.layers:
            x = layer(x)
            if isinstance(layer, nn.Conv2d):
                feats.append(x)
        return feats

    def run(self, input_img, num_steps=4):
        optimizer = torch.optim.LBFGS([input_img.requires_grad_()], max_iter=5)
        log = [0]

        def closure():
            # correct the values of updated input image
            input_img.data.clamp_(0, 1)
            optimizer.zero_grad()
            feats = self.features(input_img)
            style = sum(F.mse_loss(gram_matrix(f), t) for f, t in zip(feats, self.style_targets))
            content = F.mse_loss(feats[-1], self.content_target)
            loss = self.sw * style + self.cw * content
            loss.backward()
            log[0] += 1
            if log[0] % 5 == 0:
                print("run %d: style %.8f content %.6f" % (log[0], style.item(), content.item()))
            return loss

        for _ in range(num_steps):
            optimizer.step(closure)
        # a last correction
        input_img.data.clamp_(0, 1)
        return input_img


if __name__ == "__main__":
    torch.manual_seed(1508)
    cnn = nn.Sequential(nn.Conv2d(3, 5, 3, padding=1), nn.Tanh(), nn.Conv2d(5, 6, 3, padding=1), nn.AvgPool2d(2), nn.Conv2d(6, 6, 3, padding=1))
    content, style = torch.rand(1, 3, 8, 8), torch.rand(1, 3, 8, 8) ** 3
    out = StyleTransfer(cnn, content, style).run(content.clone())
    print("image %.6f" % out.mean().item())
