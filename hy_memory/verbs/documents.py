"""Documents: files of several formats become memories that can be searched."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hy_memory import answers
from hy_memory.aio import twin
from hy_memory.documents.read import read_document
from hy_memory.values import check
from hy_memory.verbs.arguments import Metadata, Moment
from hy_memory.verbs.writing import Writing
from hy_memory.writing.messages import parse_metadata


class Documents(Writing):
    """The verb that stores documents."""

    def add_document(
        self,
        document: str | Path | bytes,
        *,
        user_id: str,
        format: str | None = None,
        title: str | None = None,
        agent_id: str = "default_agent",
        session_id: str = "default_session",
        source: str = "default",
        metadata: Metadata | None = None,
        memory_at: Moment | None = None,
        request_id: str | None = None,
        tags: Sequence[str] | None = None,
        layer: str = "l5_knowledge",
    ) -> answers.WriteAnswer:
        """Store what stands in a file, or in bytes: text, Markdown, HTML, PDF or DOCX (extra `documents`).

        `format` is recognised unless it is given. Title and file name go into the metadata; a long document
        is stored in sections too. Nothing is fetched: a URL is an error.

        Raises as `add_extracted` does, and:
            InvalidArgumentError: the document cannot be read, is encrypted, or holds no text.
            MissingExtraError: its format needs the extra `documents`.
        """
        own = parse_metadata("metadata", metadata)
        named = None if title is None else check.text("title", title)
        read = read_document(document, format)
        about = {"title": named or read.title, "file": read.name, "format": read.format}
        return self.add_extracted(
            [read.text],
            user_id=user_id,
            agent_id=agent_id,
            session_id=session_id,
            source=source,
            metadata={**{key: value for key, value in about.items() if value}, **own},
            memory_at=memory_at,
            request_id=request_id,
            tags=tags,
            layer=layer,
        )

    async_add_document = twin(add_document)
