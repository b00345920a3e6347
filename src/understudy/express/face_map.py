"""Face map: which shapes of a character show the weights of a performance.

A performance has ARKit's 52 weights, the labels that it acts (`anger`) and, where it speaks, visemes (`viseme_aa`).
These are the sources. A face map names for each source the shapes that show it, with their weight at full strength.
Each shape's weight is the sum over its sources. Shapes are found by name:

1. ARKit's names in any spelling, also one shape for each side of `browInnerUp` and `cheekPuff`;
2. coarse shapes (`mouthOpen`, `eyesClosed`, the vowels of VRM and VRoid), for sources that have no shape of their own;
3. whole expressions (`Angry`, VRM's `happy`, `Fcl_ALL_Joy`) for a label, where fewer than half of ARKit's shapes exist.

An avatar's expressions (VRM) come before plain shapes. Where no name says anything, `express.shape_places` compares
where the shapes move the mesh.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from understudy import files, schema
from understudy.character import Character
from understudy.character.asset import ShapeBind
from understudy.checks import Array
from understudy.errors import BadFile, InvalidInput, join_names
from understudy.formats.arkit_names import SHAPE_NAMES, canonical_name

VISEME_PREFIX = "viseme_"
MAX_MAP_BYTES = 1 << 20
MIN_MOVEMENT = 0.05  # of a weight: a source that moves less is not missed

# Words for the labels, in names of shapes and as cues: the label first.
LABEL_WORDS = {
    "happiness": "happiness happy joy joyful glad smile smiling laugh laughing cheerful",
    "sadness": "sadness sad sorrow sorrowful unhappy cry crying grief",
    "anger": "anger angry mad rage furious annoyed",
    "surprise": "surprise surprised shock shocked amazed astonished",
    "fear": "fear fearful afraid scared terrified frightened",
    "disgust": "disgust disgusted yuck",
    "contempt": "contempt contemptuous scorn smug sneer",
}
LABEL_BY_WORD = {word: label for label, words in LABEL_WORDS.items() for word in words.split()}


def _both(stem: str, weight: float = 0.5) -> dict[str, float]:
    return {f"{stem}Left": weight, f"{stem}Right": weight}


_LOOKS = {
    "up": _both("eyeLookUp"),
    "down": _both("eyeLookDown"),
    "left": {"eyeLookOutLeft": 0.5, "eyeLookInRight": 0.5},
    "right": {"eyeLookInLeft": 0.5, "eyeLookOutRight": 0.5},
}
_VOWELS: dict[str, dict[str, float]] = {
    "aa": {"viseme_aa": 1.0, "jawOpen": 1.0},
    "ih": {"viseme_ih": 1.0},
    "ou": {"viseme_ou": 1.0, "mouthPucker": 1.0},
    "ee": {"viseme_E": 1.0, **_both("mouthStretch")},
    "oh": {"viseme_oh": 1.0, "mouthFunnel": 1.0},
}
# Plain name (lower case, no separators) -> the sources that a coarse shape shows, with their shares.
_COARSE: dict[str, dict[str, float]] = {
    "mouthopen": {"jawOpen": 1.0},
    "mouthsmile": _both("mouthSmile"),
    "eyesclosed": _both("eyeBlink"),
    "blink": _both("eyeBlink"),
    "blinkleft": {"eyeBlinkLeft": 1.0},
    "blinkright": {"eyeBlinkRight": 1.0},
    "blinkl": {"eyeBlinkLeft": 1.0},
    "blinkr": {"eyeBlinkRight": 1.0},
    "fcleyeclose": _both("eyeBlink"),
    "fcleyeclosel": {"eyeBlinkLeft": 1.0},
    "fcleyecloser": {"eyeBlinkRight": 1.0},
    "fcleyespread": _both("eyeWide"),
    "fclbrwangry": _both("browDown"),
    "fclbrwsorrow": {"browInnerUp": 1.0},
    "fclbrwsurprised": _both("browOuterUp"),
    "fclmthfun": _both("mouthSmile"),
    "fclmthdown": _both("mouthFrown"),
    "angledeyebrows": _both("browDown"),
    **{f"look{way}": sources for way, sources in _LOOKS.items()},
    **{f"eyeslook{way}": sources for way, sources in _LOOKS.items()},
    **_VOWELS,
    **{f"fclmth{letter}": _VOWELS[vowel] for letter, vowel in zip("aiueo", ("aa", "ih", "ou", "ee", "oh"))},
    **{word: _VOWELS[vowel] for word, vowel in (("ah", "aa"), ("uu", "ou"), ("a", "aa"), ("i", "ih"), ("u", "ou"))},
    **{word: _VOWELS[vowel] for word, vowel in (("e", "ee"), ("o", "oh"))},
    **{
        f"viseme{name.lower()}": {f"{VISEME_PREFIX}{name}": 1.0}
        for name in ("PP", "FF", "TH", "DD", "kk", "CH", "SS", "nn", "RR", "aa", "E", "I", "ih", "oh", "O", "ou", "U")
    },
    "visemei": {"viseme_ih": 1.0},
    "visemeo": {"viseme_oh": 1.0},
    "visemeu": {"viseme_ou": 1.0},
}
# Viseme -> the vowel, and how much of it, for faces that have vowels only; p, b, m, f and v shut the mouth.
_VOWEL_OF_VISEME = {
    **{"TH": ("ih", 0.5), "DD": ("ih", 0.5), "kk": ("aa", 0.35), "nn": ("ih", 0.4), "SS": ("E", 0.4)},
    **{"CH": ("ou", 0.6), "RR": ("ou", 0.4), "E": ("ih", 1.0), "ih": ("E", 0.8), "oh": ("ou", 0.9), "aa": ("oh", 1.0)},
}
# Region of the face -> prefixes of ARKit's names, for what a character cannot show.
_REGIONS: dict[str, tuple[str, ...]] = {
    "brows": ("brow",),
    "blinks": ("eyeBlink",),
    "eyes": ("eyeLook",),
    "lids": ("eyeSquint", "eyeWide"),
    "cheeks": ("cheek",),
    "nose": ("nose",),
    "jaw": ("jaw",),
    "lips": ("mouth",),
    "tongue": ("tongue",),
}
# Label -> other labels whose expressions, in these shares, are nearest to it where it has none of its own.
_NEAREST_LABELS = {"fear": {"surprise": 0.6, "sadness": 0.4}, "disgust": {"anger": 0.6}, "contempt": {"anger": 0.3}}


@dataclass(frozen=True, eq=False)
class FaceMap:
    """The shapes that show each source.

    Args:
        targets: Source -> shapes and their weights at full strength; a bind without a part is on every part.
        reasons: Source -> how its shapes were found: "name", "coarse", "expression", "nearest expression", "place"
            or "file".
    """

    targets: Mapping[str, tuple[ShapeBind, ...]]
    reasons: Mapping[str, str] = field(default_factory=dict)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that have an expression of their own."""
        return tuple(source for source in self.targets if _is_label(source))

    @property
    def has_visemes(self) -> bool:
        """Whether shapes of visemes speak, and not ARKit's shapes of the mouth."""
        return any(source.startswith(VISEME_PREFIX) for source in self.targets)

    def weights(self, sources: Mapping[str, Array]) -> dict[tuple[str, str], Array]:
        """(part, shape) -> (F,) weights 0 to 1, for sources (F,).

        An expression of a label replaces the coarse shapes, which show the same movements again.
        """
        labels = [np.asarray(sources[label]) for label in self.labels if label in sources]
        rest = 1.0 - np.clip(sum(labels), 0.0, 1.0) if labels else 1.0
        result: dict[tuple[str, str], Array] = {}
        for source, values in sources.items():
            covered = self.reasons.get(source) == "coarse" and not source.startswith(("eyeBlink", "eyeLook", "viseme"))
            for bind in self.targets.get(source, ()):
                key = (bind.part, bind.shape)
                result[key] = result.get(key, 0.0) + bind.weight * (values * rest if covered else values)
        return {key: np.clip(values, 0.0, 1.0) for key, values in result.items()}

    def notes(self, character: Character, sources: Mapping[str, Array]) -> tuple[str, ...]:
        """What the character cannot show of sources that move, and what the result loses by it."""
        moved = [name for name in SHAPE_NAMES if name in sources and np.ptp(sources[name]) > MIN_MOVEMENT]
        missing = [name for name in moved if name not in self.targets]
        if not missing:
            return ()
        still: list[str] = []
        partly: list[str] = []
        for region, prefixes in _REGIONS.items():
            names = [name for name in moved if name.startswith(prefixes)]
            lost = [name for name in names if name in missing]
            if lost:
                (still if len(lost) == len(names) else partly).append(region)
        losses = [f"{', '.join(still)} do not move"] if still else []
        losses += [f"{', '.join(partly)} move less"] if partly else []
        notes = [f"character {character.name!r} has no shape for {join_names(missing)}: {'; '.join(losses)}"]
        shown = [label for label in self.labels if label in sources]
        if shown:
            notes.append(f"character {character.name!r} shows {join_names(shown)} by whole expressions")
        return tuple(notes)

    def text(self, character: Character) -> str:
        """The map as a TOML file for `--map`; sources without a shape are listed as comments."""
        lines = [f"# Face map of {character.name}: source = shape, or a table of shapes and weights."]
        for source, binds in self.targets.items():
            names = [bind.shape if not bind.part else f"{bind.part}/{bind.shape}" for bind in binds]
            if len(binds) == 1 and binds[0].weight == 1.0:
                value = _quote(names[0])
            else:
                value = "{ " + ", ".join(f"{_quote(n)} = {b.weight:g}" for n, b in zip(names, binds)) + " }"
            lines.append(f"{source} = {value}  # by {self.reasons.get(source, 'name')}")
        missing = [name for name in SHAPE_NAMES if name not in self.targets]
        lines += [f'# {name} = ""' for name in missing]
        used = {bind.shape for binds in self.targets.values() for bind in binds}
        unused = [shape for shape in _shape_names(character) if shape not in used]
        lines += ["# Shapes without a source: " + ", ".join(unused)] if unused else []
        return "\n".join(lines) + "\n"


def find_face_map(character: Character) -> FaceMap:
    """The map of a character by the names of its shapes and expressions."""
    targets: dict[str, tuple[ShapeBind, ...]] = {}
    reasons: dict[str, str] = {}
    faces = list(_faces(character))
    for name, binds in faces:  # 1: ARKit's own names
        source = _arkit_name(name)
        if source is not None:
            if source not in targets or canonical_name(name) is None:  # a shape for each side adds up
                targets[source] = (*targets.get(source, ()), *binds)
            reasons[source] = "name"
    exact = set(targets)
    shares: dict[str, float] = {}
    for name, binds in faces:  # 2: coarse shapes; of several, the one with the greatest share of the source
        plain = re.sub(r"[^a-z0-9]", "", name.lower())
        for source, share in _COARSE.get(plain, {}).items():
            spoken = source.startswith(VISEME_PREFIX) and "jawOpen" in exact  # speech then moves ARKit's shapes
            if source not in exact and not spoken and share > shares.get(source, 0.0):
                targets[source] = tuple(ShapeBind(bind.part, bind.shape, share * bind.weight) for bind in binds)
                reasons[source], shares[source] = "coarse", share
    for viseme, (vowel, share) in _VOWEL_OF_VISEME.items():
        source, like = VISEME_PREFIX + viseme, VISEME_PREFIX + vowel
        if source not in targets and like in targets:
            targets[source] = tuple(ShapeBind(bind.part, bind.shape, share * bind.weight) for bind in targets[like])
            reasons[source] = "coarse"
    whole = len(exact) >= len(SHAPE_NAMES) // 2
    for name, binds in () if whole else faces:  # 3: whole expressions
        label = _label_of(name)
        if label is not None and label not in targets and binds:
            targets[label], reasons[label] = tuple(binds), "expression"
    for label, shares in _NEAREST_LABELS.items():
        if reasons.get(label) is None and all(reasons.get(other) == "expression" for other in shares):
            mixed = ((bind, share) for other, share in shares.items() for bind in targets[other])
            targets[label] = tuple(ShapeBind(bind.part, bind.shape, share * bind.weight) for bind, share in mixed)
            reasons[label] = "nearest expression"
    return FaceMap(targets, reasons)


def read_face_map(path: str | Path, character: Character) -> FaceMap:
    """The map of a TOML file: `jawOpen = "ah"` or `anger = { brows = 1.0, "Face/ah" = 0.25 }`, checked."""
    table = schema.parse_toml(files.read_text(path, MAX_MAP_BYTES), str(path), MAX_MAP_BYTES)
    targets: dict[str, tuple[ShapeBind, ...]] = {}
    for key, value in table.items():
        source = canonical_name(key) or key
        shapes = {value: 1.0} if isinstance(value, str) else value
        if not isinstance(shapes, dict) or not all(map(schema.is_number, shapes.values())):
            raise BadFile(path, f'a shape, or shapes with weights as {{ "shape" = 0.5 }}, was expected for {key!r}')
        binds = []
        for name, weight in shapes.items():
            if not name:
                continue
            part, _, shape = name.rpartition("/")
            known = [s for p, names in character.shapes.items() if part in ("", p) for s in names]
            if shape not in known and name in _shape_names(character):
                part, shape = "", name
            elif shape not in known:
                available = join_names(_shape_names(character)) or "none"
                raise BadFile(path, f"character {character.name!r} has no shape {name!r}; available: {available}")
            binds.append(ShapeBind(part, shape, float(weight)))
        if binds:
            targets[source] = tuple(binds)
    if not targets:
        raise BadFile(path, "it maps no source to a shape")
    return FaceMap(targets, dict.fromkeys(targets, "file"))


def canonical_label(word: str, labels: Sequence[str]) -> str:
    """The label among `labels` that a word means: itself, or a synonym ("joy" for happiness)."""
    if word in labels:
        return word
    meant = LABEL_BY_WORD.get(word.strip().lower())
    if meant is None:
        return word
    return next((label for label in labels if LABEL_BY_WORD.get(label.lower()) == meant), word)


def _faces(character: Character) -> Iterator[tuple[str, list[ShapeBind]]]:
    """Names with the shapes that they move: expressions of an avatar, then the shapes themselves."""
    if character.avatar is not None:
        for expression in character.avatar.expressions:
            yield expression.name, list(expression.shapes)
    for shape in _shape_names(character):
        yield shape, [ShapeBind("", shape, 1.0)]


def _arkit_name(name: str) -> str | None:
    """ARKit's name of a shape; a shape of one side of an unsided one (`browInnerUp_L`) counts as that."""
    known = canonical_name(name)
    if known is None:
        stem = canonical_name(re.sub(r"[_.]?([LR]|Left|Right)$", "", name))
        known = stem if stem in ("browInnerUp", "cheekPuff") else None
    return known if known in SHAPE_NAMES else None


def _label_of(name: str) -> str | None:
    """The label that a whole expression shows; `Fcl_BRW_Angry`, which moves the brows only, shows none."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)
    lower = [word.lower() for word in words]
    if {"brw", "mth", "eye", "brow", "mouth", "eyes", "brows"} & set(lower):
        return None
    return next((LABEL_BY_WORD[word] for word in lower if word in LABEL_BY_WORD), None)


def _is_label(source: str) -> bool:
    return source not in SHAPE_NAMES and not source.startswith(VISEME_PREFIX)


def _shape_names(character: Character) -> list[str]:
    return list(dict.fromkeys(shape for shapes in character.shapes.values() for shape in shapes))


def _quote(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def require_targets(face_map: FaceMap, character: Character, sources: Iterable[str]) -> None:
    """Raise where the map shows none of the sources, with what to do about it."""
    if any(source in face_map.targets for source in sources):
        return
    raise InvalidInput(
        f"character {character.name!r} has none of the shapes that the graph moves: it has "
        f"{join_names(_shape_names(character)) or 'none'}. `understudy express map` writes a map to fill in, for --map"
    )
