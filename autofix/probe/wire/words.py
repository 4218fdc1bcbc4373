"""What host and probe call things alike: packages, and the words of notes."""

SHOWING = (
    "matplotlib", "mpl_toolkits", "seaborn", "tensorboardX", "tensorboard", "tensorboard_logger", "wandb", "visdom",
    "mlflow", "comet_ml", "neptune", "imageio", "PIL", "cv2", "termcolor", "colorama", "torchsummary", "torchinfo",
    "torchviz", "plotly", "livelossplot", "IPython", "progressbar", "pygame", "moviepy", "skimage",
    "pandas", "sklearn", "scipy", "tqdm", "argcomplete", "setproctitle", "loguru", "coloredlogs", "tabulate",
    "prettytable", "psutil", "GPUtil", "pynvml", "thop", "ptflops", "clearml", "swanlab", "ipdb",
)  # fmt: skip
"""Packages that show, log or measure: what a stand-in for them gives is nothing, which no tensor can be made of."""
GIVING = ("torchvision", "datasets", "gym", "gymnasium")
"""Packages that a stand-in gives random data for."""
AHEAD = (
    "PIL", "einops", "numpy", "pandas", "scipy", "torchaudio", "torchvision", "tqdm", "yaml",
    "torch.fx.experimental.symbolic_shapes",
)  # fmt: skip
"""What the server may import outside of any fence: the import writes nothing and starts no thread.

The last one torch imports, with all of sympy, when a derivative is first given the gradient of its outputs.
"""
PYTHON_2 = frozenset((
    "ConfigParser", "Queue", "StringIO", "Tkinter", "__builtin__", "cPickle", "cStringIO", "commands", "urllib2",
))  # fmt: skip
"""Modules of another Python: what needs them needs that."""
NONE_GIVEN = ("none_given", "none_among")
"""The kinds of a derivative that gave None for all its inputs, or for some: nothing that they lead to was used."""
MISSING = " is missing: "
"""What a note says of a file, a folder or a data set, before what stands in for it."""
LEFT_OUT = "what it does is left out"
"""How it is told that a stand-in for a package does nothing."""
COLUMNS = 10_000
"""A marked statement is reported as line * COLUMNS + column: several may stand on one line."""
