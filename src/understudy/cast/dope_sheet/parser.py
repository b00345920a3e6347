"""Reading dope sheets line by line. The grammar is `docs/sheets.md`; `sheet` reads the words of a key."""

from __future__ import annotations

from collections.abc import Mapping

from understudy.cast.dope_sheet.sheet import (
    AMOUNT_PATTERN,
    EASES,
    RESERVED,
    KeyInterpolation,
    Pose,
    Sheet,
    SheetContact,
    Vocabulary,
    Words,
    read_delay,
    read_key_time,
    read_number,
    read_span,
    read_words,
)
from understudy.cast.dope_sheet.tracks import Entry, Track, range_error, spread_tracks
from understudy.errors import BadFile, InvalidInput

TEXT_SETTINGS = ("about", "labels", "clip")  # settings whose text may hold a colon


def parse(
    text: str,
    path: str,
    vocabulary: Vocabulary,
    poses: Mapping[str, Pose] | None = None,
    faces: Mapping[str, Pose] | None = None,
) -> Sheet:
    """The sheet that a text describes.

    Args:
        text: the sheet; the grammar is `docs/sheets.md`.
        path: the file that errors name, with the line.
        vocabulary: what the sheet may set.
        poses, faces: poses that the sheet may use besides its own.
    """
    sheet = Sheet(path, poses=dict(poses or {}), faces=dict(faces or {}))
    reader = _Reader(sheet, vocabulary)
    place = "line 1"
    try:
        for number, line in enumerate(text.splitlines(), 1):
            reader.place = place = f"line {number}"
            content = line.split("#", 1)[0].strip()
            if content:
                reader.read(content)
    except InvalidInput as error:
        raise BadFile(path, str(error), place) from None
    for place, frame, what in reader.frames:
        if sheet.frames and not 0 <= frame <= sheet.frames:
            raise BadFile(path, f"{what} at frame {frame:g} is outside the clip (0 to {sheet.frames:g})", place)
    spread_tracks(sheet, reader.tracks.values(), vocabulary)
    return sheet


class _Reader:
    """Reads line by line into a sheet; `place` is the current line."""

    def __init__(self, sheet: Sheet, vocabulary: Vocabulary) -> None:
        self.sheet, self.vocabulary = sheet, vocabulary
        self.place, self.title = "line 1", ""
        self.tracks: dict[str, Track] = {}
        self.frames: list[tuple[str, float, str]] = []  # to be compared with the length when that is known

    def read(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        if line.startswith("|"):
            if not self.title:
                raise InvalidInput("a line that begins with a bar goes on with a track, but there is none above")
            self.track(self.title, line[1:])
        elif word in ("pose", "face", "contact") and ":" in rest:
            name, _, body = rest.partition(":")
            {"pose": self.pose, "face": self.face, "contact": self.contact}[word](name.strip(), body)
        elif ":" in line and word not in TEXT_SETTINGS:
            self.title, _, body = line.partition(":")
            self.track(self.title, body)
        elif word == "blink" and self.vocabulary.blink:
            self.blink(rest.split())
        else:
            self.setting(word, rest.strip())

    def setting(self, word: str, value: str) -> None:
        sheet = self.sheet
        if word == "clip":
            sheet.name = value
        elif word in ("frames", "rate"):
            number = read_number(value)
            if number <= 0:
                raise InvalidInput(f"{word} should be above zero, but is {value}")
            setattr(sheet, word, number)
        elif word == "order":
            if sorted(value) != ["x", "y", "z"]:
                raise InvalidInput(f"order should be x, y and z in some order, but is {value!r}")
            sheet.order = value
        elif word == "labels":
            sheet.labels = tuple(label.strip() for label in value.split(","))
        elif word == "about":
            sheet.about = f"{sheet.about} {value}".strip()
        elif word == "moment":
            self.moment(value.split())
        elif word == "hold":
            for part in value.split(","):
                sheet.holds.append(read_span(part, "hold"))
                self.frames += [(self.place, frame, "the hold") for frame in sheet.holds[-1]]
        else:
            raise InvalidInput(f"expected a track (name: keys), a pose or a setting, but found {word!r}")

    def moment(self, given: list[str]) -> None:
        if len(given) != 2:
            raise InvalidInput("a moment should be written moment FRAME NAME")
        frame, name = read_number(given[0]), given[1]
        if name in self.sheet.moments:
            raise InvalidInput(f"the moment {name!r} was already given, at frame {self.sheet.moments[name]:g}")
        self.sheet.moments[name] = frame
        self.frames.append((self.place, frame, f"the moment {name!r}"))

    def pose(self, title: str, body: str) -> None:
        """`pose GROUP NAME: words` belongs to a group; `pose NAME: OWNER words, OWNER words` to none."""
        group, _, name = title.rpartition(" ")
        group = group.strip()
        values: Pose = {}
        for section in [f"{group} {body}"] if group else body.split(","):
            owner, _, rest = section.strip().partition(" ")
            self.vocabulary.names(owner)
            values |= self.values(rest.split(), owner, self.sheet.poses)
        self.define(self.sheet.poses, "pose", f"{group}.{name}" if group else name, values)

    def face(self, name: str, body: str) -> None:
        self.define(self.sheet.faces, "face", name, self.values(body.split(), "", self.sheet.poses | self.sheet.faces))

    def values(self, given: list[str], owner: str, poses: Mapping[str, Pose]) -> Pose:
        values = read_words(given, owner, poses, self.vocabulary, key=False).column_values(self.vocabulary)
        for column, value in values.items():
            reason = range_error(self.vocabulary, column, value)
            if reason:
                raise InvalidInput(reason)
        return values

    def define(self, known: dict[str, Pose], what: str, name: str, values: Pose) -> None:
        plain = name.rpartition(".")[2]
        if not plain.isidentifier() or plain in RESERVED:
            raise InvalidInput(f"a {what} cannot be called {plain!r}: names are one word, and no ease")
        if (what, name) in self.sheet.definitions:
            raise InvalidInput(f"the {what} {name!r} was already given")
        self.sheet.definitions.add((what, name))
        known[name] = values

    def contact(self, name: str, body: str) -> None:
        self.vocabulary.names(name)
        for part in body.split(","):
            self.sheet.contacts.append(SheetContact(name, *read_span(part, "contact")))

    def track(self, title: str, body: str) -> None:
        name, *options = title.split() or [""]
        if self.vocabulary.whole:
            self.vocabulary.names(name)
        delays = dict(read_delay(option, self.vocabulary) for option in options if option != "still")
        track = self.tracks.setdefault(" ".join([name, *options]), Track(title.strip(), name, "still" in options))
        for text in body.split("|"):
            if not text.strip():
                continue
            when, *given = text.split()
            departure, frame = read_key_time(when)
            words = read_words(given, name, self.sheet.poses, self.vocabulary)
            if not (words.uses or words.values or words.arc is not None):
                raise InvalidInput(f"the key at {when} sets nothing")
            if words.arc is not None and self.vocabulary.arc.partition(".")[0] != name:
                raise InvalidInput(f"arc= dips the nod of a head, but stands in the track {name!r}")
            track.entries.append(Entry(self.place, f"{self.place}, key {when}", departure, frame, words, delays))

    def blink(self, given: list[str]) -> None:
        """`blink FRAME close/shut/open [*amount] [L+n] [R+n]`: shut fast, open slower."""
        parts = given[1].split("/") if len(given) > 1 else []
        if len(parts) != 3:
            raise InvalidInput("a blink should be written blink FRAME close/shut/open, as in blink 18 3/1/4")
        start = read_number(given[0])
        close, shut, opening = (read_number(part) for part in parts)
        if min(close, opening) <= 0 or shut < 0:
            raise InvalidInput(f"a blink should take time to close and to open, but is {given[1]}")
        amounts = (1.0, 1.0)
        delays: dict[str, float] = {}
        for option in given[2:]:
            if amount := AMOUNT_PATTERN.match(option):
                amounts = (float(amount[1]), float(amount[2] or amount[1]))
            else:
                delays.update([read_delay(option, self.vocabulary)])
        track = self.tracks.setdefault("blink", Track("blink", "blink"))
        down, up = start + close, start + close + shut
        for departure, frame, values, ease in (
            (start, down, amounts, "hit"),
            (up, up + opening, (0.0, 0.0), "glide"),
        ):
            words = Words(values=dict(zip(self.vocabulary.blink, values)), interpolation=KeyInterpolation(EASES[ease]))
            track.entries.append(Entry(self.place, f"{self.place}, blink {given[0]}", departure, frame, words, delays))
