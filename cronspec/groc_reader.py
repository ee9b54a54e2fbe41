"""The words of a groc text, read one by one, and errors that say what stands there."""

from __future__ import annotations

import re

from cronspec.groc_words import Token, tokenize
from cronspec.kinds import ScheduleError


class Reader:
    """A text's tokens, and which of them comes next."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokenize(text)
        self._next = 0

    @property
    def _token(self) -> Token:
        return self._tokens[self._next]

    def _take(self) -> Token:
        token = self._token
        self._next += 1
        return token

    def _at(self, *words: str) -> bool:
        return self._token.kind == "word" and self._token.text in words

    def _accept(self, word: str) -> bool:
        found = self._at(word)
        self._next += found
        return found

    def _expect(self, word: str, after: str) -> None:
        if not self._accept(word):
            raise self._error(f"expected {word!r} after {after}, {self._found()}")

    def _error(self, reason: str, token: Token | None = None) -> ScheduleError:
        return ScheduleError(self._text, (token or self._token).column, reason)

    def _found(self) -> str:
        if self._token.kind == "end":
            return "but it ends"
        whole = self._whole_word()
        inside = f" (in {whole!r})" if whole not in {"", self._token.text} else ""
        return f"found {self._token}{inside}"

    def _whole_word(self) -> str:
        """Give the letters that the next word stands among, as in `days`, `tues`."""
        at = self._token.column - 1
        before, after = self._text[max(at - 20, 0) : at], self._text[at : at + 20]
        letters = re.compile(r"[a-z]*", re.IGNORECASE | re.ASCII)
        lead = letters.match(before[::-1])
        rest = letters.match(after)
        return (lead[0][::-1] + rest[0]).lower() if lead and rest and rest[0] else ""

    def _said(self) -> str:
        """Give the last word read, for a message."""
        return repr(self._tokens[self._next - 1].text)
