"""Documents of each format, as text; what cannot be read says why."""

from __future__ import annotations

import sys
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import docx
import pytest
from pypdf import PdfReader, PdfWriter

from hy_memory import HyMemoryClient
from hy_memory.documents.read import read_document
from hy_memory.errors import InvalidArgumentError, MissingExtraError
from tests.support.stores import config_for


def pdf(*pages: str) -> bytes:
    """Return a PDF written by hand: a page for each text, "" for one that holds nothing."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(pages):
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET" if text else ""
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >>"
            f" /Contents {5 + 2 * number} 0 R >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    made, places = "%PDF-1.4\n", list[int]()
    for number, one in enumerate(objects, 1):
        places.append(len(made))
        made += f"{number} 0 obj\n{one}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    start = len(made)
    made += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    made += f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF"
    return made.encode("latin-1")


def encrypted() -> bytes:
    writer = PdfWriter(clone_from=PdfReader(BytesIO(pdf("secret"))))
    writer.encrypt("password", algorithm="RC4-128")
    kept = BytesIO()
    writer.write(kept)
    return kept.getvalue()


def word(title: str = "") -> bytes:
    made = docx.Document()
    made.core_properties.title = title
    made.add_paragraph("The first paragraph.")
    table = made.add_table(rows=1, cols=2)
    table.cell(0, 0).text, table.cell(0, 1).text = "left", "right"
    made.add_paragraph("最后一段。")
    kept = BytesIO()
    made.save(kept)
    return kept.getvalue()


def broken_docx() -> bytes:
    kept = BytesIO()
    with zipfile.ZipFile(kept, "w") as file:
        file.writestr("x.txt", "no document")
    return kept.getvalue()


MARKDOWN = b"""# The *title*

A paragraph with a [link](http://example.org/x), `code` and ![a picture](x.png).

- one
- two

| a | b |
|---|---|
| 1 | 2 |

```python
print("hello")
```
"""
HTML = b"""<!DOCTYPE html><html><head><title>A  page</title><style>p {color: red}</style></head>
<body><script>alert(1)</script><h1>Head</h1><p>One<br>line &amp; <b>more</b>.</p><ul><li>a</li><li>b</li></ul>
</body></html>"""

READ: list[tuple[str, bytes, str, str, list[str]]] = [
    ("a.txt", "Ein Text über Äpfel".encode(), "text", "", ["Ein Text über Äpfel"]),
    ("a.log", "Grüße".encode("utf-16"), "text", "", ["Grüße"]),
    ("a.md", MARKDOWN, "markdown", "The title", ["link, code and a picture", "one", "1", 'print("hello")']),
    ("a.html", HTML, "html", "A page", ["Head", "One\nline & more.", "a\n\nb"]),
    ("noname", HTML, "html", "A page", ["Head"]),
    ("a.pdf", pdf("Hello from page one", "", "And page three"), "pdf", "", ["page one", "page three"]),
    ("misnamed.txt", pdf("Hello"), "pdf", "", ["Hello"]),
    ("a.docx", word("Minutes"), "docx", "Minutes", ["The first paragraph.", "left | right", "最后一段。"]),
]


@pytest.mark.parametrize(("name", "data", "kind", "title", "parts"), READ)
def test_each_format_is_read_as_text(
    tmp_path: Path, name: str, data: bytes, kind: str, title: str, parts: list[str]
) -> None:
    (tmp_path / name).write_bytes(data)
    read = read_document(tmp_path / name)
    assert (read.format, read.title, read.name) == (kind, title, name)
    place = -1
    for part in parts:
        assert part in read.text
        assert read.text.index(part) > place
        place = read.text.index(part)
    for hidden in ("alert(1)", "color: red", "example.org", "```", "<b>"):
        assert hidden not in read.text
    assert read_document(data, kind).text == read.text


BAD: list[tuple[Any, str]] = [
    (Path("missing.txt"), "cannot be read"),
    (Path(), "cannot be read"),
    ("https://example.org/a.pdf", "nothing is fetched"),
    ("", "path"),
    (7, "path"),
    (b"  \n ", "no text"),
    (b"\xff\x00\x81", "UTF-8"),
    (b"a\x00b", "NUL"),
    (pdf(""), "recognition"),
    (b"%PDF-1.4 nonsense", "no pdf"),
    (encrypted(), "encrypted"),
    (broken_docx(), "no docx"),
    (b"PK\x03\x04 nonsense", "no docx"),
]


@pytest.mark.parametrize(("given", "reason"), BAD)
def test_what_cannot_be_read_says_why(tmp_path: Path, given: Any, reason: str) -> None:
    with pytest.raises(InvalidArgumentError, match=reason):
        read_document(tmp_path / given if isinstance(given, Path) else given)


def test_an_unknown_format_names_the_known_ones() -> None:
    with pytest.raises(InvalidArgumentError, match="markdown"):
        read_document(b"x", "epub")


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pypdf", None)
    monkeypatch.delitem(sys.modules, "hy_memory.documents.pdf", raising=False)
    with pytest.raises(MissingExtraError, match="documents"):
        read_document(pdf("Hello"))
    assert read_document(b"plain").text == "plain"


def test_a_document_is_a_memory_with_its_title(folder: Path) -> None:
    """Found by what stands in it; said again it is the same one; nothing is stored of what cannot be read."""
    with HyMemoryClient({**config_for("faiss", folder), "embedder": {"provider": "hashed"}}) as client:
        (folder / "minutes.docx").write_bytes(word("Minutes of May"))
        made = client.add_document(folder / "minutes.docx", user_id="u", metadata={"year": 2024})
        stored = client.get(made["memory_id"])
        assert stored is not None
        assert stored["layer"] == "l5_knowledge"
        about = {"title": "Minutes of May", "file": "minutes.docx", "format": "docx", "year": 2024}
        assert stored["meta"] == about
        hits = client.search("the first paragraph", user_ids=["u"])["memories"]["normal"]
        assert [one["memory_id"] for one in hits] == made["memory_ids"]
        titled = client.search("minutes of may", user_ids=["u"], reader="hybrid")["memories"]["normal"]
        assert [one["memory_id"] for one in titled] == made["memory_ids"]
        again = client.add_document(str(folder / "minutes.docx"), user_id="u", metadata={"year": 2024})
        assert again["deduplicated"] == made["memory_ids"]
        with pytest.raises(InvalidArgumentError):
            client.add_document(b"%PDF-1.4 nonsense", user_id="u")
        assert client.list_memories(user_id="u")["total"] == 1
        own = client.add_document(b"plain words", user_id="u", title="My title", layer="l2_fact")
        kept = client.get(own["memory_id"])
        assert kept is not None
        assert (kept["meta"], kept["layer"]) == ({"title": "My title", "format": "text"}, "l2_fact")
