"""Which release of the host this is; `/healthz` tells it."""

from typing import Final

VERSION: Final = "0.1.0"
