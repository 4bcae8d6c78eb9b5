"""Renders shop pages from templates that include one another; templates are found in the folders of a theme."""

import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import frame

LAYERS = ["brand", "base"]
PARTIALS = 16


def write_theme(root):
    """A theme of two folders, in which most templates are in the last."""
    for layer in LAYERS:
        os.mkdir(os.path.join(root, layer))
    for number in range(PARTIALS):
        layer = "brand" if number % 12 == 5 else "base"
        with open(os.path.join(root, layer, f"partial{number}.html"), "w", encoding="utf-8") as file:
            file.write(f"<div class=part{number}>{{title}} costs {{price}} in {{town}}</div>\n")


class Template:
    def __init__(self, path):
        self.path = path
        self.changed = os.stat(path).st_mtime_ns
        with open(path, encoding="utf-8") as file:
            self.parts = file.read()

    def render(self, values):
        return self.parts.format(**values)


class Environment:
    """Keeps compiled templates; with auto_reload it looks whether each is still the newest of its name."""

    def __init__(self, root, auto_reload):
        self.folders = [os.path.join(root, layer) for layer in LAYERS]
        self.auto_reload = auto_reload
        self.templates = {}

    def locate(self, name):
        for folder in self.folders:
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                return path
        raise FileNotFoundError(name)

    def get(self, name):
        template = self.templates.get(name)
        if template is not None:
            if not self.auto_reload:
                return template
            path = self.locate(name)
            if path == template.path and os.stat(path).st_mtime_ns == template.changed:
                return template
        template = self.templates[name] = Template(self.locate(name))
        return template


def page(environment, number):
    values = {"title": f"article {number % 977}", "price": f"{number % 90}.{number % 100:02}", "town": "Bern" if number % 3 else "Genf"}
    parts = [environment.get(f"partial{part}.html").render(values) for part in range(PARTIALS)]
    rows = [f"<tr><td>{row}</td><td>{number * 31 % (row + 7)}</td><td>{values['town']}</td></tr>" for row in range(120)]
    body = "".join(parts + rows)
    return body.replace("<div", '<section role="listitem"').replace("</div>", "</section>").upper().encode()


frame.begin()
frame.EVERY = 0.1
with tempfile.TemporaryDirectory(dir=os.environ.get("SCRATCH")) as root:
    write_theme(root)
    environment = Environment(root, auto_reload=frame.SLOW)
    number = 0

    def request(_index):
        global number
        number += 1
        return page(environment, number)

    frame.run(1, request)
frame.lost_share(1)
