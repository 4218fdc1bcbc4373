import argparse


class opts(object):
    def __init__(self):
        self.parser = argparse.ArgumentParser()
        self.parser.add_argument('--seed', type=int, default=317)
        self.parser.add_argument('--num_classes', type=int, default=2)
        self.parser.add_argument('--head_conv', type=int, default=12)
        self.parser.add_argument('--num_stacks', type=int, default=2)
        self.parser.add_argument('--lr', type=float, default=3e-3)
        self.parser.add_argument('--batch_size', type=int, default=8)
        self.parser.add_argument('--num_images', type=int, default=48)
        self.parser.add_argument('--num_epochs', type=int, default=5)
        self.parser.add_argument('--hm_weight', type=float, default=1)
        self.parser.add_argument('--wh_weight', type=float, default=0.1)

    def parse(self, args=None):
        return self.parser.parse_args(args)
