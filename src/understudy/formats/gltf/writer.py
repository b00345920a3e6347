"""Writing an asset as one .glb, or as one .gltf with everything embedded.

Animations are written as they are where glTF can hold them, and re-fitted (`hermite_fit`) where it cannot, with notes.
"""

from __future__ import annotations

import base64
import json
import struct
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from understudy import __version__
from understudy.character import Asset, Channel, Channels, Clip, Curve, Curves, Texture
from understudy.character.asset import Avatar
from understudy.character.curve import BEZIER, LINEAR, STEP
from understudy.character.curves import natural_rate
from understudy.character.key_insertion import merge_split_curves
from understudy.checks import NEAR_UNIT, Array, unit_quaternions
from understudy.errors import Unsupported
from understudy.formats.gltf.document import BINARY_CHUNK, JSON_CHUNK, MAGIC
from understudy.formats.gltf.hermite_fit import refit
from understudy.formats.gltf.nodes import NodeWriter
from understudy.formats.gltf.write_meshes import Builder
from understudy.maths import euler, quaternion

INTERPOLATION_NAMES = {STEP: "STEP", LINEAR: "LINEAR", BEZIER: "CUBICSPLINE"}
# Channel kinds, the unit in which the note gives the error of re-fitted curves, and its factor.
ERROR_UNITS = (
    (("translation",), "mm", 1e3),
    (("rotation", "euler"), "rad", 1.0),
    (("scale",), "of scale", 1.0),
    (("weights",), "of weight", 1.0),
)
TYPE_PER_PATH = {"translation": "VEC3", "rotation": "VEC4", "scale": "VEC3", "weights": "SCALAR"}

# The order of the lists in a file, for people who read it.
DOCUMENT_KEY_ORDER = (
    *("scenes", "nodes", "skins", "meshes", "materials", "textures", "images", "samplers", "animations"),
    *("accessors", "bufferViews", "buffers"),
)


def write(asset: Asset, path: str | Path) -> list[str]:
    """Write characters, clips and curves; the path's ending decides between .glb and .gltf. Returns what was lost."""
    path = Path(path)
    asset = _prepare_avatar(asset, path)
    if asset.animations and not asset.characters:
        raise Unsupported(path, "glTF holds animation only on the nodes of a character, but there is no character here")
    builder = Builder()
    nodes = NodeWriter(builder)
    roots = [root for character in asset.characters for root in nodes.character(character)]
    animations = AnimationWriter(builder, nodes)
    for animation in asset.animations:
        animations.animation(animation)
    animations.finish()
    for character in asset.characters:
        if character.avatar is not None:
            _write_avatar(builder, nodes, character.avatar)
    if roots:
        named = {"name": asset.characters[0].name} if len(asset.characters) == 1 else {}
        builder.add("scenes", named | {"nodes": roots})
    data = builder.buffer()
    if path.suffix.lower() == ".gltf":
        path.write_bytes(_text(_document(builder, data, embed=True)))
    else:
        path.write_bytes(_container(_text(_document(builder, data, embed=False)), data))
    return builder.notes


def _prepare_avatar(asset: Asset, path: Path) -> Asset:
    """The asset as its ending asks for: VRM needs an avatar, a VRM animation a bare skeleton."""
    ending = path.suffix.lower()
    if ending == ".vrma":
        from understudy.formats.gltf import vrm_animation

        return vrm_animation.animation_asset(asset, path)
    if ending != ".vrm" or not asset.characters or any(character.avatar is not None for character in asset.characters):
        return asset
    from understudy.formats.gltf import vrm

    first, *others = asset.characters
    return replace(asset, characters=(replace(first, avatar=vrm.make_avatar(first, path)), *others))


def _write_avatar(builder: Builder, nodes: NodeWriter, avatar: Avatar) -> None:
    """Put the extensions of VRM onto the root and the nodes."""
    from understudy.formats.gltf import vrm

    joints = {name: found[-1][0] for name, found in nodes.joints.items()}
    parts = {item["name"]: node for node, item in enumerate(builder.lists["nodes"]) if "mesh" in item}
    writer = vrm.AvatarWriter(builder.lists, joints, parts)

    def texture(thing: Texture) -> int | None:
        info = nodes.materials.info(thing)
        return None if info is None else int(info["index"])

    builder.root_extensions |= writer.extensions(avatar, texture, nodes.materials.image)
    builder.extensions.update(builder.root_extensions)
    if vrm.CONSTRAINT in avatar.settings:
        builder.extensions.add(vrm.CONSTRAINT)
    builder.count("references of the avatar (VRM) to things that were not written were lost ({})", writer.lost)


def _document(builder: Builder, data: bytes, embed: bool) -> dict[str, Any]:
    if data:
        buffer: dict[str, Any] = {"byteLength": len(data)}
        if embed:
            buffer["uri"] = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
        builder.add("buffers", buffer)
    root: dict[str, Any] = {"asset": {"version": "2.0", "generator": f"understudy {__version__}"}}
    if builder.extensions:
        root["extensionsUsed"] = sorted(builder.extensions)
    if builder.required:
        root["extensionsRequired"] = sorted(builder.required)
    if "scenes" in builder.lists:
        root["scene"] = 0
    root |= {"extensions": builder.root_extensions} if builder.root_extensions else {}
    return root | {name: builder.lists[name] for name in DOCUMENT_KEY_ORDER if builder.lists.get(name)}


def _text(root: dict[str, Any]) -> bytes:
    try:
        return json.dumps(root, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:  # half a surrogate pair, kept in some `extras`: JSON can spell it, UTF-8 cannot
        return json.dumps(root, separators=(",", ":"), allow_nan=False).encode()


def _container(text: bytes, data: bytes) -> bytes:
    """Header and chunks, each filled up to a multiple of four bytes: JSON with spaces, binary with zeros."""
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), JSON_CHUNK) + text
    if data:
        data += b"\0" * (-len(data) % 4)
        chunks += struct.pack("<II", len(data), BINARY_CHUNK) + data
    return MAGIC + struct.pack("<II", 2, 12 + len(chunks)) + chunks


@dataclass(frozen=True)
class Keys:
    """One sampler: times (K,), values (K, n), for CUBICSPLINE (K, 3, n): arriving slope, value, leaving slope."""

    interpolation: str
    times: Array
    values: Array


class AnimationWriter:
    """Writes clips and curves onto the nodes of the characters that were written before."""

    def __init__(self, builder: Builder, nodes: NodeWriter) -> None:
        self.builder, self.nodes = builder, nodes
        self._refits: list[tuple[str, int, int, float]] = []  # kind, keys before and after, error

    def animation(self, animation: Clip | Curves) -> None:
        """Write one animation; nothing is written where it moves nothing of the characters."""
        channels: dict[tuple[int, str], tuple[Keys, Channel]] = {}
        tracks = self._clip(animation) if isinstance(animation, Clip) else self._curves(animation)
        for channel, keys in tracks:
            for node, path, placed in self._targets(channel, keys):
                if (node, path) in channels:
                    self.builder.count("channels on a target that another channel moves were lost ({})")
                channels[node, path] = (placed, channel)
        if not channels:
            self.builder.note(f"animation {animation.name!r} was lost: it moves nothing of the characters here")
            return
        self._write(animation, channels)

    def finish(self) -> None:
        """The notes that sum up all animations."""
        if not self._refits:
            return
        before = sum(keys for _, keys, _, _ in self._refits)
        after = sum(keys for _, _, keys, _ in self._refits)
        errors = []
        for kinds, unit, scale in ERROR_UNITS:
            of_kinds = [error for kind, _, _, error in self._refits if kind in kinds]
            if of_kinds:
                errors.append(f"{max(of_kinds) * scale:.1g} {unit}")
        self.builder.note(
            f"curves that CUBICSPLINE does not hold as they are were re-fitted ({len(self._refits)}): "
            f"{after - before} keys were added to {before}, error at most {', '.join(errors)}"
        )

    def _clip(self, clip: Clip) -> list[tuple[Channel, Keys]]:
        """Linear keys at the frames. A column that never changes keeps its first and last."""
        tracks = []
        for channel, columns in _merge_channels(clip.channels):
            values = clip.values[:, columns]
            if not self._can_hold(channel):
                continue
            times, ends = clip.times, [0, len(clip) - 1]
            if (values == values[0]).all():
                if channel.kind == "scale" and self._is_rest_scale(channel, values[0]):
                    continue
                chosen = ends if len(clip) > 1 else [0]
                times, values = times[chosen], values[chosen]
            tracks.append(_as_rotation(channel, Keys("LINEAR", times, values)))
        return tracks

    def _is_rest_scale(self, channel: Channel, value: Array) -> bool:
        """Whether a scale is that of the joint at rest."""
        joints = self.nodes.joints.get(channel.target, [])
        return bool(joints) and all(np.abs(value - rest).max() < 1e-9 for _, rest in joints)

    def _can_hold(self, channel: Channel) -> bool:
        if channel.kind in TYPE_PER_PATH or channel.kind == "euler":
            return True
        self.builder.count(f"channels of kind {channel.kind} were lost ({{}})")
        return False

    def _curves(self, curves: Curves) -> list[tuple[Channel, Keys]]:
        tracks = []
        held = [curve for curve in curves.curves if self._can_hold(curve.channel)]
        whole = merge_split_curves(held)
        self.builder.count("curves of weights with keys of their own became one a part ({})", len(held) - len(whole))
        for curve in whole:
            if curve.extrapolation != ("hold", "hold"):
                self.builder.count("extrapolation of curves beyond their keys was lost ({})")
            if curve.channel.kind == "euler":
                self.builder.count("curves of angles became quaternions ({})")
            tracks.append((curve.channel, self._keys(curve)))
        return tracks

    def _keys(self, curve: Curve) -> Keys:
        """The keys themselves where all segments are of one kind that glTF has; re-fitted where not."""
        kinds = np.unique(curve.segments)
        same, angles = len(kinds) == 1, curve.channel.kind == "euler"
        if len(curve) == 1 or (same and (kinds[0] == STEP or (kinds[0] == LINEAR and not angles))):
            plain = Keys("LINEAR" if len(curve) == 1 else INTERPOLATION_NAMES[int(kinds[0])], curve.times, curve.values)
            return _as_rotation(curve.channel, plain)[1]
        if same and not angles and curve.is_hermite and _is_unit(curve):
            slopes = (_slopes(curve.before), curve.values, _slopes(curve.after))
            return Keys("CUBICSPLINE", curve.times, np.stack(slopes, axis=1))
        spline = refit(curve)
        self._refits.append((curve.channel.kind, len(curve), len(spline.times), spline.error))
        return Keys("CUBICSPLINE", spline.times, np.stack([spline.arriving, spline.values, spline.leaving], axis=1))

    def _targets(self, channel: Channel, keys: Keys) -> list[tuple[int, str, Keys]]:
        """The nodes that a channel moves: node, path, keys."""
        if channel.kind == "weights":
            targets = [
                (node, "weights", _expand_weights(channel, keys, names, defaults))
                for part, node, names, defaults in self.nodes.shaped
                if channel.target in ("", part) and set(channel.columns) & set(names)
            ]
        else:
            path = "rotation" if channel.kind == "euler" else channel.kind
            targets = [(node, path, keys) for node, _ in self.nodes.joints.get(channel.target, [])]
        if not targets:
            self.builder.count("channels without a joint or shape here were lost ({})")
        return targets

    def _write(self, animation: Clip | Curves, channels: dict[tuple[int, str], tuple[Keys, Channel]]) -> None:
        start = min(float(keys.times[0]) for keys, _ in channels.values())
        shift = max(0.0, -start)
        if shift:
            self.builder.note(f"animation {animation.name!r} began at {start:g} s and was shifted to 0 s")
        samplers: list[dict[str, Any]] = []
        known: dict[tuple[int, str], int] = {}  # curves that move several nodes are written once
        items = []
        for (node, path), (keys, _) in channels.items():
            if (id(keys), path) not in known:
                known[id(keys), path] = len(samplers)
                samplers.append(self._sampler(keys, path, shift))
            items.append({"sampler": known[id(keys), path], "target": {"node": node, "path": path}})
        item: dict[str, Any] = {"name": animation.name, "channels": items, "samplers": samplers}
        moments = {name: time + shift for name, time in animation.moments.items()}
        fields = {"labels": list(animation.labels), "about": animation.about, "moments": moments}
        extras: dict[str, Any] = {key: value for key, value in fields.items() if value}
        if isinstance(animation, Curves) and any(curve.fitted.any() for curve in animation.curves):
            posed = [curve.times[~curve.fitted] + shift for curve in animation.curves if len(curve) > 1]
            extras |= {"fitted": True, "posed": np.unique(np.concatenate([np.zeros(0), *posed])).tolist()}
        if natural_rate(keys.times for keys, _ in channels.values()) != animation.rate:
            extras["rate"] = animation.rate
        self.builder.add("animations", item | ({"extras": extras} if extras else {}))

    def _sampler(self, keys: Keys, path: str, shift: float) -> dict[str, Any]:
        times = (keys.times + shift).astype(np.float32)
        values = keys.values
        kept = np.append(np.diff(times) > 0, True)
        if not kept.all():
            self.builder.count("keys closer together than float32 can tell were left out ({})", int(np.sum(~kept)))
            times, values = times[kept], values[kept]
        if path == "rotation" and keys.interpolation != "CUBICSPLINE":
            values = unit_quaternions(values, "rotation keys", ("K", 4))
        columns = {"VEC3": 3, "VEC4": 4, "SCALAR": 1}[TYPE_PER_PATH[path]]
        table = np.ascontiguousarray(values, np.float32).reshape(-1, columns)
        return {
            "input": self.builder.pool_accessor(times, "SCALAR", "times", bounds=True),
            "interpolation": keys.interpolation,
            "output": self.builder.pool_accessor(table, TYPE_PER_PATH[path], "values"),
        }


def _merge_channels(channels: Channels) -> list[tuple[Channel, slice]]:
    """One channel for each target and kind, with its columns in a clip: weights may come in several channels."""
    names: dict[tuple[str, str], tuple[str, ...]] = {}
    for channel in channels:
        pair = (channel.target, channel.kind)
        names[pair] = (*names.get(pair, ()), *channel.columns)
    merged = ((Channel(*pair, columns), channels.slice(*pair)) for pair, columns in names.items())
    return [(channel, columns) for channel, columns in merged if columns is not None]


def _as_rotation(channel: Channel, keys: Keys) -> tuple[Channel, Keys]:
    """Angles to quaternions, continuous in time; every other channel as it is."""
    if channel.kind != "euler":
        return channel, keys
    turned = quaternion.unroll(euler.from_euler(keys.values, "".join(channel.columns)))
    return channel, Keys(keys.interpolation, keys.times, turned)


def _is_unit(curve: Curve) -> bool:
    """Whether rotation keys are of unit length, or near it, as glTF wants them."""
    if curve.channel.kind != "rotation":
        return True
    length = np.sqrt(np.einsum("ki,ki->k", curve.values, curve.values))
    return bool((np.abs(length - 1) <= NEAR_UNIT).all())


def _slopes(handles: Array) -> Array:
    """(K, n) value per second of handles (K, n, 2); 0 where a handle has no length."""
    run = handles[..., 0]
    return np.where(run > 0, handles[..., 1] / np.where(run > 0, run, 1.0), 0.0)


def _expand_weights(channel: Channel, keys: Keys, names: tuple[str, ...], defaults: Array) -> Keys:
    """Weights of all shapes of a mesh: those of the channel, and the default of every other shape."""
    if channel.columns == names:
        return keys
    values = np.zeros((*keys.values.shape[:-1], len(names)))
    at_rest = values[:, 1] if keys.interpolation == "CUBICSPLINE" else values
    at_rest[...] = defaults
    for i, name in enumerate(channel.columns):
        if name in names:
            values[..., names.index(name)] = keys.values[..., i]
    return Keys(keys.interpolation, keys.times, values)
