"""PDF: the text of its pages, as far as they hold any."""

from __future__ import annotations

from io import BytesIO

from pypdf import PdfReader
from pypdf.errors import PyPdfError


def read(data: bytes) -> tuple[str, str]:
    """Return the text of all pages, and the title that the document names."""
    try:
        document = PdfReader(BytesIO(data))
        if document.is_encrypted and not document.decrypt(""):
            raise ValueError("it is encrypted; store it without a password")
        pages = [page.extract_text() for page in document.pages]
        title = document.metadata.title if document.metadata is not None else None
    except PyPdfError as error:
        raise ValueError(str(error)) from error
    return "\n\n".join(page.strip() for page in pages if page.strip()), title or ""
