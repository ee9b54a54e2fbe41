"""Cloud Scheduler's gRPC services over an emulated world, for Google's client."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import grpc
from google.cloud import scheduler_v1, scheduler_v1beta1
from google.cloud.scheduler_v1.services.cloud_scheduler.transports.grpc import (
    CloudSchedulerGrpcTransport,
)
from google.cloud.scheduler_v1beta1.services.cloud_scheduler.transports.grpc import (
    CloudSchedulerGrpcTransport as BetaTransport,
)
from google.protobuf import any_pb2, json_format
from google.rpc import code_pb2, error_details_pb2, status_pb2
from grpc_status import rpc_status

from emulator.wire import CutOff, Request
from migrate.scheduler import GoogleApi

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emulator.world import World

VERBS = {
    "ListJobs": "GET",
    "GetJob": "GET",
    "CreateJob": "POST",
    "UpdateJob": "PATCH",
    "DeleteJob": "DELETE",
    "PauseJob": "POST",
    "ResumeJob": "POST",
}


class Service(grpc.GenericRpcHandler):
    """Answers each call as the world's REST API would, in gRPC's words."""

    def __init__(self, world: World) -> None:
        self.world = world

    def service(self, details: Any) -> Any:
        _, service, method = details.method.split("/")
        version = service.split(".")[3]
        types = scheduler_v1 if version == "v1" else scheduler_v1beta1
        request_type = getattr(types, f"{method}Request")

        def handle(request: Any, context: Any) -> bytes:
            return self._reply(version, method, types, request, context)

        return grpc.unary_unary_rpc_method_handler(
            handle, request_deserializer=request_type.deserialize
        )

    def _reply(
        self, version: str, method: str, types: Any, request: Any, context: Any
    ) -> bytes:
        said = json_format.MessageToDict(type(request).pb(request))
        job = said.get("job", {})
        name = said.get("name", job.get("name", ""))
        query = {k: str(said[k]) for k in ("pageSize", "pageToken") if k in said}
        if said.get("legacyAppEngineCron"):
            query["legacyAppEngineCron"] = "true"
        path, body = name, None
        match method:
            case "ListJobs":
                path = f"{said['parent']}/jobs"
            case "CreateJob":
                path, body = f"{said['parent']}/jobs", job
            case "UpdateJob":
                body, query["updateMask"] = job, said["updateMask"]
            case "PauseJob" | "ResumeJob":
                path = f"{name}:{method.removesuffix('Job').lower()}"
        asked = Request(VERBS[method], f"/{version}/{path}", query, body)
        reply = self.world.reply(asked)
        if isinstance(reply, CutOff):
            context.abort(grpc.StatusCode.UNAVAILABLE, "Socket closed")
        if reply.status != 200:
            context.abort_with_status(rpc_status.to_status(_status(reply.body)))
        if method == "DeleteJob":
            return b""
        kind = types.ListJobsResponse if method == "ListJobs" else types.Job
        answer = kind()
        json_format.ParseDict(reply.body, kind.pb(answer))
        return kind.serialize(answer)


def _status(body: dict[str, Any]) -> Any:
    told = body["error"]
    code = code_pb2.Code.Value(told["status"])
    status = status_pb2.Status(code=code, message=told["message"])
    for detail in told.get("details", ()):
        info = error_details_pb2.ErrorInfo(
            reason=detail["reason"],
            domain=detail["domain"],
            metadata=detail["metadata"],
        )
        packed = any_pb2.Any()
        packed.Pack(info)
        status.details.append(packed)
    return status


@contextmanager
def grpc_api(world: World, timeout: float = 5) -> Iterator[GoogleApi]:
    """Give our API over Google's client, by gRPC without credentials."""
    server = grpc.server(ThreadPoolExecutor(8), handlers=(Service(world),))
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    api = GoogleApi(timeout)
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        api.__dict__["_client"] = scheduler_v1.CloudSchedulerClient(
            transport=CloudSchedulerGrpcTransport(channel=channel)
        )
        api.__dict__["_beta"] = scheduler_v1beta1.CloudSchedulerClient(
            transport=BetaTransport(channel=channel)
        )
        yield api
    server.stop(None).wait()
