"""A parsed HTML page, for tests that ask what it says."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "input", "br", "rect", "path"}


class Page(HTMLParser):
    """Collects elements, attributes and text, and insists on balanced tags."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.ids: list[str] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self.styles: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == [], self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        assert len(given) == len(attrs), f"<{tag}> has an attribute twice"
        self.elements.append((tag, given))
        if "id" in given:
            self.ids.append(given["id"])
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("script", "style"):
            (self.scripts if self.open[-1] == "script" else self.styles).append(data)
        else:
            self.texts.append(data)

    @property
    def text(self) -> str:
        """All text, white space collapsed."""
        return " ".join("".join(self.texts).split())

    def all(self, tag: str, **wanted: str) -> list[dict[str, str]]:
        """The attributes of every ``tag`` whose attributes include ``wanted`` (class as word)."""
        found = []
        for name, given in self.elements:
            words = given.get("class", "").split()
            cls = wanted.get("cls")
            rest = {key: value for key, value in wanted.items() if key != "cls"}
            if name == tag and (cls is None or cls in words) and rest.items() <= given.items():
                found.append(given)
        return found
