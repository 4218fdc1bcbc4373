import functools


def run_if_any_none(attr):
    """Decorator for methods without arguments: run once, afterwards hand out what is stored in `attr`."""

    def decorate(func):
        @functools.wraps(func)
        def wrapper(self):
            if getattr(self, attr, None) is None:
                value = func(self)
                if value.requires_grad:
                    return value
                setattr(self, attr, value)
            return getattr(self, attr)

        return wrapper

    return decorate
