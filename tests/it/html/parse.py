"""Reads an HTML document as browsers do, and prints what matters of it as JSON: what runs, what is asked for, the order of
headings, what has a place, and the data inside."""

import json
import sys

import html5lib

with open(sys.argv[1], "rb") as page:
    whole = page.read()
document = html5lib.parse(whole, treebuilder="etree", namespaceHTMLElements=False, transport_encoding="utf-8")
requests = ["src", "srcset", "data", "action", "formaction", "poster", "background", "ping", "cite", "manifest", "style", "{http://www.w3.org/1999/xlink}href"]
found = {"scripts": [], "inside": [], "asked": [], "handlers": [], "headings": [], "ids": [], "elements": [], "nameless": [], "style": ""}
labels = []
for element in document.iter():
    name = element.tag if isinstance(element.tag, str) else "comment"
    name = name.split("}")[-1]
    found["elements"].append(name)
    if name == "script":
        inert = element.get("type") == "application/json" and element.get("src") is None
        found["inside" if inert else "scripts"].append(element.text or "")
    if name == "style":
        found["style"] += element.text or ""
    if name in ["link", "base", "iframe", "object", "embed", "img", "image", "form", "video", "audio", "use", "foreignObject"]:
        found["asked"].append(name)
    if name == "meta" and (element.get("http-equiv") or "").lower() == "refresh":
        found["asked"].append("refresh")
    for attribute, value in element.attrib.items():
        if attribute in requests or (attribute == "href" and not value.startswith("#")):
            found["asked"].append(f"{name} {attribute}={value}")
        if attribute.lower().startswith("on"):
            found["handlers"].append(f"{name} {attribute}")
        if attribute == "id":
            found["ids"].append(value)
    if name in ["h1", "h2", "h3", "h4"]:
        found["headings"].append(int(name[1]))
    if name == "svg":
        links = any(child.tag.split("}")[-1] == "a" for child in element.iter())
        named = [element.get("aria-labelledby"), element.get("aria-describedby")]
        if element.get("role") != ("group" if links else "img") or None in named:
            found["nameless"].append(str(named))
        labels += named
found["nameless"] += [str(label) for label in labels if label not in found["ids"]]
body = document.find("body")
found["text"] = "".join(t for e in body for t in e.itertext() if e.tag != "script")
found["policy"] = [m.get("content") for m in document.iter("meta") if m.get("http-equiv") == "Content-Security-Policy"]
json.dump(found, sys.stdout)
