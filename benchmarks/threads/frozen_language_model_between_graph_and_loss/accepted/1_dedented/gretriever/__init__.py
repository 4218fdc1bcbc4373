from .data import toy_questions
from .model import GraphPromptLM
from .trainer import Trainer
