"""Google's error answers: a canonical code, its HTTP status, a message, details."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

Json = dict[str, Any]
"""An object of the API, as JSON has it: keys in camelCase."""

# google.rpc.Code and its mapping to HTTP (google/rpc/code.proto). Where two codes
# share a status, the one that stands last is the status's own.
HTTP_STATUS: Final = {
    "FAILED_PRECONDITION": 400,
    "INVALID_ARGUMENT": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409,
    "RESOURCE_EXHAUSTED": 429,
    "INTERNAL": 500,
    "UNIMPLEMENTED": 501,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
}
_CODE: Final = {status: code for code, status in HTTP_STATUS.items()}


class ApiError(Exception):
    """An answer other than success; `code` is one of HTTP_STATUS."""

    def __init__(self, code: str, message: str, details: Sequence[Json] = ()) -> None:
        self.code = code
        self.message = message
        self.details = details
        super().__init__(f"{code}: {message}")

    @classmethod
    def of_status(
        cls, status: int, message: str, details: Sequence[Json] = ()
    ) -> ApiError:
        """Give the error for an HTTP status. Raises ValueError for one of no code."""
        if status not in _CODE:
            known = ", ".join(map(str, _CODE))
            raise ValueError(f"status {status!r}: expected one of {known}")
        return cls(_CODE[status], message, details)

    @property
    def status(self) -> int:
        """The HTTP status."""
        return HTTP_STATUS[self.code]

    def to_json(self) -> Json:
        """Give the body that Google's servers send with this error."""
        error: Json = {
            "code": self.status,
            "message": self.message,
            "status": self.code,
        }
        if self.details:
            error["details"] = list(self.details)
        return {"error": error}


def invalid(message: str) -> ApiError:
    """Give the error for a request that can never succeed."""
    return ApiError("INVALID_ARGUMENT", message)


def error_info(reason: str, **metadata: str) -> Json:
    """Give the detail that names an error for programs."""
    return {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": reason,
        "domain": "googleapis.com",
        "metadata": metadata,
    }
