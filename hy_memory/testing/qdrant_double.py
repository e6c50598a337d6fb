"""A Qdrant server for tests: the REST calls that our URL form makes, answered by the real engine.

Real HTTP on loopback, and Qdrant Edge behind it, which shares its search code with the server.
What is imitated is the wire alone; faults are made on demand with `fail_next`.
"""

from __future__ import annotations

import json
import tempfile
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, cast
from urllib.parse import urlsplit

import qdrant_edge as qd

# The wire is JSON; its values are checked by the engine they are handed to.
Wire = dict[str, Any]

_MEMORY = "/dev/shm"  # making a shard syncs some dozen files, which takes seconds on a disk
_DISTANCES = {"Cosine": qd.Distance.Cosine, "Dot": qd.Distance.Dot, "Euclid": qd.Distance.Euclid}


class Refusal(Exception):
    """An answer that is no success: an HTTP status and what was wrong."""

    def __init__(self, status: int, reason: str) -> None:
        self.status = status
        super().__init__(reason)


@dataclass(slots=True)
class _Collection:
    shard: qd.EdgeShard
    params: Wire
    schema: Wire = field(default_factory=dict[str, Any])


class QdrantDouble:
    """A server on a free port of the loopback interface, from construction until `close`.

    Args:
        version: The version it says it is.
        api_key: What a client must send; None lets everybody in.
        folder: Where the shards go; by default a temporary folder, in memory where the system has one.
    """

    def __init__(
        self, version: str = "1.20.0", api_key: str | None = None, folder: Path | None = None
    ) -> None:
        self.version = version
        self.api_key = api_key
        self.requests = 0
        """How many requests came in, failed ones included."""
        self._lock = threading.Lock()
        self._faults: deque[int] = deque()
        self._collections: dict[str, _Collection] = {}
        memory = _MEMORY if Path(_MEMORY).is_dir() else None
        self._temporary = None if folder else tempfile.TemporaryDirectory(dir=memory)
        self._folder = folder or Path(cast("tempfile.TemporaryDirectory[str]", self._temporary).name)
        self._made = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The address to give to a client."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def fail_next(self, status: int, times: int = 1) -> None:
        """Answer the next `times` requests with `status`; 0 drops the connection without an answer."""
        with self._lock:
            self._faults.extend([status] * times)

    def close(self) -> None:
        """Stop serving and let go of every shard."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        for collection in self._collections.values():
            collection.shard.close()
        self._collections.clear()
        if self._temporary is not None:
            self._temporary.cleanup()

    def __enter__(self) -> QdrantDouble:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def next_fault(self) -> int | None:
        """Count a request and return the status it shall fail with, if it shall."""
        with self._lock:
            self.requests += 1
            return self._faults.popleft() if self._faults else None

    def answer(self, method: str, path: str, body: Wire) -> object:
        """Return the `result` of one call; raises Refusal."""
        parts = [part for part in urlsplit(path).path.split("/") if part]
        if not parts:
            return None
        if parts[0] != "collections" or len(parts) < 2:
            raise Refusal(404, f"no such call: {method} {path}")
        name, rest = parts[1], "/".join(parts[2:])
        verbs: dict[tuple[str, str], Callable[[str, Wire], object]] = {
            ("PUT", ""): self._create,
            ("DELETE", ""): self._drop,
            ("GET", "exists"): lambda name, _: {"exists": name in self._collections},
        }
        if (method, rest) in verbs:
            return verbs[method, rest](name, body)
        collection = self._collections.get(name)
        if collection is None:
            raise Refusal(404, f"Collection `{name}` doesn't exist!")
        call = _CALLS.get((method, rest))
        if call is None:
            raise Refusal(404, f"no such call: {method} {path}")
        try:
            return call(collection, body)
        except Refusal:
            raise
        except Exception as error:  # whatever the engine refuses, in its one type of error
            raise Refusal(400, f"{error!r}") from error

    def _create(self, name: str, body: Wire) -> bool:
        with self._lock:
            if name in self._collections:
                raise Refusal(409, f"Collection `{name}` already exists!")
            self._made += 1
            config = qd.EdgeConfig(
                vectors={
                    key: qd.EdgeVectorParams(size=one["size"], distance=_DISTANCES[one["distance"]])
                    for key, one in body["vectors"].items()
                },
                sparse_vectors={
                    key: qd.EdgeSparseVectorParams(
                        modifier=qd.Modifier.Idf if one.get("modifier") == "idf" else None
                    )
                    for key, one in (body.get("sparse_vectors") or {}).items()
                },
            )
            shard = qd.EdgeShard.create(str(self._folder / str(self._made)), config)
            self._collections[name] = _Collection(
                shard,
                {
                    "vectors": body["vectors"],
                    "sparse_vectors": body.get("sparse_vectors"),
                    "shard_number": body.get("shard_number") or 1,
                },
            )
        return True

    def _drop(self, name: str, body: Wire) -> bool:
        del body
        with self._lock:
            collection = self._collections.pop(name, None)
            if collection is not None:
                collection.shard.close()
        return collection is not None


def _describe(collection: _Collection, body: Wire) -> object:
    del body
    return {
        "status": "green",
        "optimizer_status": "ok",
        "points_count": collection.shard.info().points_count,
        "segments_count": 1,
        "config": {
            "params": collection.params,
            "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10_000},
            "optimizer_config": {
                "deleted_threshold": 0.2,
                "vacuum_min_vector_number": 1000,
                "default_segment_number": 0,
                "flush_interval_sec": 5,
            },
        },
        "payload_schema": collection.schema,
    }


def _index(collection: _Collection, body: Wire) -> object:
    name, schema = body["field_name"], body["field_schema"]
    options: Wire = schema if isinstance(schema, dict) else {"type": schema}
    if options["type"] == "keyword":
        params = qd.KeywordIndexParams(is_tenant=options.get("is_tenant"), nested=options.get("nested"))
    elif options["type"] == "float":
        params = qd.FloatIndexParams(nested=options.get("nested"))
    else:
        raise Refusal(400, f"this server knows keyword and float indexes, not {options['type']}")
    collection.shard.update(qd.UpdateOperation.create_field_index(name, params))
    collection.schema[name] = {"data_type": options["type"], "points": 0}
    return _done()


def _upsert(collection: _Collection, body: Wire) -> object:
    points = [
        qd.Point(
            id=one["id"],
            vector={key: _vector(value) for key, value in one["vector"].items()},
            payload=one.get("payload"),
        )
        for one in body["points"]
    ]
    collection.shard.update(qd.UpdateOperation.upsert_points(points))
    return _done()


def _delete(collection: _Collection, body: Wire) -> object:
    if "points" in body:
        operation = qd.UpdateOperation.delete_points(body["points"])
    else:
        operation = qd.UpdateOperation.delete_points_by_filter(_filter(body["filter"]))
    collection.shard.update(operation)
    return _done()


def _query_batch(collection: _Collection, body: Wire) -> object:
    found = [collection.shard.query(_request(one)) for one in body["searches"]]
    return [
        {"points": [{"id": str(one.id), "version": one.version, "score": one.score} for one in answer]}
        for answer in found
    ]


def _count(collection: _Collection, body: Wire) -> object:
    where = _filter(body["filter"]) if body.get("filter") else None
    return {"count": collection.shard.count(qd.CountRequest(exact=body.get("exact", True), filter=where))}


def _retrieve(collection: _Collection, body: Wire) -> object:
    found = collection.shard.retrieve(body["ids"], body.get("with_payload", True), False)
    return [{"id": str(one.id), "payload": one.payload} for one in found]


def _scroll(collection: _Collection, body: Wire) -> object:
    request = qd.ScrollRequest(
        offset=body.get("offset"),
        limit=body.get("limit", 10),
        filter=_filter(body["filter"]) if body.get("filter") else None,
        with_payload=body.get("with_payload", True),
    )
    found, following = collection.shard.scroll(request)
    return {
        "points": [{"id": str(one.id), "payload": one.payload} for one in found],
        "next_page_offset": None if following is None else str(following),
    }


_CALLS: dict[tuple[str, str], Callable[[_Collection, Wire], object]] = {
    ("GET", ""): _describe,
    ("PUT", "index"): _index,
    ("PUT", "points"): _upsert,
    ("POST", "points"): _retrieve,
    ("POST", "points/delete"): _delete,
    ("POST", "points/query/batch"): _query_batch,
    ("POST", "points/count"): _count,
    ("POST", "points/scroll"): _scroll,
}


def _done() -> Wire:
    return {"operation_id": 0, "status": "completed"}


def _vector(value: Any) -> list[float] | qd.SparseVector:
    if isinstance(value, dict):
        sparse = cast("Wire", value)
        return qd.SparseVector(indices=sparse["indices"], values=sparse["values"])
    return cast("list[float]", value)


def _request(body: Wire) -> qd.QueryRequest:
    query = body.get("query")
    if isinstance(query, dict) and "nearest" in query:
        query = query["nearest"]
    nearest = None if query is None else qd.Query.Nearest(_vector(query), using=body.get("using"))
    idf = (body.get("params") or {}).get("idf")
    params = qd.SearchParams(
        exact=bool((body.get("params") or {}).get("exact")),
        idf=qd.IdfParams(corpus=_filter(idf["corpus"])) if isinstance(idf, dict) else None,
    )
    return qd.QueryRequest(
        limit=body.get("limit", 10),
        query=nearest,
        filter=_filter(body["filter"]) if body.get("filter") else None,
        params=params,
    )


def _filter(body: Wire) -> qd.Filter:
    def conditions(clause: str) -> list[qd.ConditionType] | None:
        listed = body.get(clause)
        return None if listed is None else [_condition(one) for one in listed]

    unknown = body.keys() - {"must", "should", "must_not", "min_should"}
    if unknown:
        raise Refusal(400, f"unknown parts of a filter: {sorted(unknown)}")
    return qd.Filter(must=conditions("must"), should=conditions("should"), must_not=conditions("must_not"))


def _condition(body: Wire) -> qd.ConditionType:
    if "has_id" in body:
        return qd.HasIdCondition(point_ids=set(body["has_id"]))
    if "is_empty" in body:
        return qd.IsEmptyCondition(key=body["is_empty"]["key"])
    if "nested" in body:
        return qd.NestedCondition(body["nested"]["key"], _filter(body["nested"]["filter"]))
    if body.get("match"):
        match = body["match"]
        wanted = qd.MatchAny(any=match["any"]) if "any" in match else qd.MatchValue(value=match["value"])
        return qd.FieldCondition(key=body["key"], match=wanted)
    if body.get("range"):
        bounds = {name: body["range"].get(name) for name in ("gt", "gte", "lt", "lte")}
        return qd.FieldCondition(key=body["key"], range=qd.RangeFloat(**bounds))
    return _filter(body)


def _handler(double: QdrantDouble) -> type[BaseHTTPRequestHandler]:
    """Return the handler class of one server: the standard library wants a class, not an object."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            fault = double.next_fault()
            if fault == 0:
                self.close_connection = True
                return
            try:
                if fault is not None:
                    raise Refusal(fault, "told to fail")
                if double.api_key is not None and self.headers.get("api-key") != double.api_key:
                    raise Refusal(401, "Must provide an API key or an Authorization bearer token")
                if self.path == "/":
                    self._send(200, {"title": "qdrant double", "version": double.version})
                    return
                result = double.answer(self.command, self.path, json.loads(body) if body else {})
                self._send(200, {"result": result, "status": "ok", "time": 0.0})
            except Refusal as refusal:
                self._send(refusal.status, {"status": {"error": str(refusal)}, "time": 0.0})

        do_GET = do_PUT = do_POST = do_DELETE = _serve

        def _send(self, status: int, content: Wire) -> None:
            data = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: a library writes no log to stderr."""

    return Handler
