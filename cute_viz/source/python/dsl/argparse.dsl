from types import SimpleNamespace


class ArgumentParser:
    def __init__(self, *args, **kwargs):
        self.found = {}

    def add_argument(self, *names, **options):
        name = names[-1].replace("--", "").replace("-", "_")
        default = options["default"] if "default" in options else False if "action" in options else None
        self.found[name] = __given__(name, default)

    def parse_args(self):
        return SimpleNamespace(**self.found)

    def error(self, message):
        raise ValueError(message)
