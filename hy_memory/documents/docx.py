"""DOCX: paragraphs and tables, in their order."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from zipfile import BadZipFile

from docx import Document
from docx.opc.exceptions import PackageNotFoundError
from docx.table import Table


def read(data: bytes) -> tuple[str, str]:
    """Return the text, and the title that the document names."""
    try:
        document = Document(BytesIO(data))
    except (PackageNotFoundError, BadZipFile, KeyError) as error:
        raise ValueError(f"it is damaged, or no DOCX: {error}") from error
    parts = [
        "\n".join(_rows(one)) if isinstance(one, Table) else one.text for one in document.iter_inner_content()
    ]
    return "\n\n".join(part for part in parts if part.strip()), document.core_properties.title or ""


def _rows(table: Table) -> Iterator[str]:
    for row in table.rows:
        yield " | ".join(cell.text.strip() for cell in row.cells)
