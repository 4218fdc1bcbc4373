"""The report as a page that shows what went wrong: graphs, gradients, the diff. It loads nothing from anywhere."""

from autofix.render.report.layout import LayoutMissingError
from autofix.render.report.page import PageError, as_html, check, save

__all__ = ["LayoutMissingError", "PageError", "as_html", "check", "save"]
