"""What a browser sends for a form of a page, unchanged: names, values, line ends."""

from html.parser import HTMLParser


class _Fields(HTMLParser):
    """Collects the successful controls of the form with an id."""

    def __init__(self, form_id):
        super().__init__(convert_charrefs=True)
        self.form_id, self.data, self.is_inside = form_id, {}, False
        self.textarea = self.select = None
        self.chosen = []

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag == "form":
            self.is_inside = values.get("id") == self.form_id
        belongs = values.get("form") == self.form_id if "form" in values else self.is_inside
        name = values.get("name")
        if tag == "option" and self.select and "selected" in values:
            self.chosen.append(values.get("value", ""))
        if not belongs or not name or "disabled" in values:
            return
        if tag == "textarea":
            self.textarea, self.data[name] = name, ""
        elif tag == "select":
            self.select, self.chosen, self.first = name, [], None
        elif tag == "input" and values.get("type") in {"checkbox", "radio"}:
            if "checked" in values:
                self.data.setdefault(name, []).append(values.get("value", "on"))
        elif tag == "input":
            self.data[name] = values.get("value", "")

    def handle_data(self, text):
        if self.textarea:
            self.data[self.textarea] += text

    def handle_endtag(self, tag):
        if tag == "form":
            self.is_inside = False
        elif tag == "textarea" and self.textarea:
            # Django writes a line end after the tag, which HTML drops; browsers send CRLF.
            text = self.data[self.textarea].removeprefix("\n").replace("\r\n", "\n")
            self.data[self.textarea], self.textarea = text.replace("\n", "\r\n"), None
        elif tag == "select" and self.select:
            self.data[self.select], self.select = self.chosen or "", None


def sent_by_browser(html, form_id):
    """Return the data that the form of a page sends when nothing is changed."""
    fields = _Fields(form_id)
    fields.feed(html)
    return fields.data
