"""What unquoted YAML words mean to gcloud."""

import math
from datetime import date, datetime
from functools import partial

import pytest

from cronspec import scalars

# Without a zone, as gcloud has them: the time in UTC.
moment = partial(datetime, tzinfo=None)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *((word, True) for word in "y Y yes Yes YES true True TRUE on On ON".split()),
        *(
            (word, False)
            for word in "n N no No NO false False FALSE off Off OFF".split()
        ),
        *((word, None) for word in ["", "~", "null", "Null", "NULL"]),
        *(
            (word, word)
            for word in "yEs nULL every a:b 1.2.3 0o7 09 0:3 +_x <a =a".split()
        ),
        *((word, word) for word in "2001-1-1 ٣ tr 1e .e5 -".split()),
        ("0", 0),
        ("-0", 0),
        ("4", 4),
        ("+4", 4),
        ("-1_000", -1000),
        ("010", 8),
        ("0b101", 5),
        ("-0x1F", -31),
        ("12:30", 750),
        ("-1:30", -90),
        ("1.5", 1.5),
        ("1.", 1.0),
        (".5", 0.5),
        ("1e3", 1000.0),
        ("-1_0.5e+1", -105.0),
        ("1:30.5", 90.5),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        ("2001-02-03", date(2001, 2, 3)),
        ("2001-2-3 4:05:06", moment(2001, 2, 3, 4, 5, 6)),
        ("2001-02-03T04:05:06.5Z", moment(2001, 2, 3, 4, 5, 6, 500_000)),
        ("2001-02-03 04:05:06 +1:30", moment(2001, 2, 3, 2, 35, 6)),
        ("2001-02-03 04:05:06-1", moment(2001, 2, 3, 5, 5, 6)),
    ],
)
def test_a_plain_word_means(text: str, value: scalars.Value) -> None:
    found = scalars.plain(text)
    assert found == value
    assert type(found) is type(value)


def test_not_a_number_is_one() -> None:
    found = scalars.plain(".nan")
    assert isinstance(found, float)
    assert math.isnan(found)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on", "on"),
        ("y", "y"),
        ("true", True),
        ("010", 10),
        ("0o10", 8),
        ("12:30", "12:30"),
        ("1:30.5", "1:30.5"),
        ("-.5", -0.5),
        ("1.5", 1.5),
        ("2001-02-03", date(2001, 2, 3)),
    ],
)
def test_yaml_1_2_has_fewer_special_words(text: str, value: scalars.Value) -> None:
    assert scalars.plain(text, yaml_1_2=True) == value


@pytest.mark.parametrize(
    "text",
    ["=", "<<", "2001-13-01", "2001-01-01 25:00:00", "0001-01-01 00:00:00+1", "+_",
     "9" * 5000, "1" + ":1" * 3000, "0b_"],
)  # fmt: skip
def test_these_words_mean_nothing(text: str) -> None:
    with pytest.raises(ValueError, match=r"quote it|whole number|is none"):
        scalars.plain(text)


@pytest.mark.parametrize(
    ("text", "tag", "value"),
    [
        ("on", "str", "on"),
        ("x", "null", None),
        ("on", "bool", True),
        ("0x10", "int", 16),
        ("3", "float", 3.0),
    ],
)
def test_a_tag_decides(text: str, tag: str, value: scalars.Value) -> None:
    found = scalars.tagged(text, f"tag:yaml.org,2002:{tag}")
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("text", "tag"),
    [("x", "!foo"), ("x", "!"), ("x", "tag:yaml.org,2002:int"),
     ("x", "tag:yaml.org,2002:float"), ("x", "tag:yaml.org,2002:bool"),
     ("", "tag:yaml.org,2002:int"), ("YQ==", "tag:yaml.org,2002:binary")],
)  # fmt: skip
def test_a_tag_that_does_not_fit_is_refused(text: str, tag: str) -> None:
    with pytest.raises(ValueError, match=r"tag|number|true or false"):
        scalars.tagged(text, tag)
