import functools


def run_if_any_none(attr):
    """Decorator for methods without arguments: run once, afterwards hand out what is stored in `attr`."""

    def decorate(func):
        @functools.wraps(func)
        def wrapper(self):
            if getattr(self, attr, None) is None:
                setattr(self, attr, func(self))
            return getattr(self, attr)

        return wrapper

    return decorate
