"""One entrance for files: `load`, `save` and `show`, whatever a file holds.

The format of a character or an animation is told by the ending of the file (`understudy.formats`), that of something
learnt by the kind in its header (`understudy.storage`).
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from understudy import cast, formats, storage
from understudy.cast import member_of_cast, open_asset
from understudy.character import Asset, Character, Clip, Curves
from understudy.errors import BadFile, InvalidInput, Unsupported

if TYPE_CHECKING:
    from understudy.character.rig.baking import Bake
    from understudy.deform.skin import Skin
    from understudy.express.face_graph import FaceGraph
    from understudy.perform.pose_model import PoseModel
    from understudy.perform.script_run import Performance
    from understudy.transfer.retargeter import Retargeter

    Learnt: TypeAlias = PoseModel | FaceGraph | Retargeter | Skin
    Moving: TypeAlias = Asset | Character | Clip | Curves | Performance

LEARNT_ENDING = ".understudy"
LEARNT_KINDS = {  # by the kind in the header; to import all of them takes a second, so only the one opened is
    "pose model": "perform.pose_model.PoseModel",
    "face graph": "express.face_graph.FaceGraph",
    "retargeter": "transfer.retargeter.Retargeter",
    "skin": "deform.skin.Skin",
}
VIDEO_ENDINGS = (".mp4", ".webm", ".gif")
SHOW_ENDINGS = (".png", *VIDEO_ENDINGS, ".html")
SHEET_PICTURES = 12  # pictures of a contact sheet
SHEET_PIXELS = (320, 240)  # of each of them
STUDIO_ENDING = ".glb"  # of the file that the studio is given


def load(source: str | Path, **options: Any) -> Any:
    """Open a file or a built-in character.

    Args:
        source: A file of a character or an animation (.glb, .gltf, .vrm, .vrma, .fbx, .usd, .bvh, .asf, .amc, .c3d,
            .csv, .obj, .npz, .curves.json), a character with a deformer or something learnt (.understudy), or the
            name of a built-in character.
        options: `up` and `facing`, the axes ("z", "-x") along which the character of the file stands and looks, where
            they are known better than they are found: it is turned to +Y and +Z. `scale`, metres per unit of a BVH or
            ASF file, a factor for other files. `skeleton`, the ASF of an AMC or the avatar that plays a VRM animation.

    Returns:
        An `Asset`; or for something learnt a `PoseModel`, `FaceGraph`, `Retargeter` or `Skin`.

    Raises:
        BadFile: If there is no such file or character, or the file is damaged.
        Unsupported: If the format is not known.
        InvalidInput: If the format does not know an option.

    Example:
        >>> us.load("lamp").animation("hop").duration
        6.0
        >>> us.load("lamp.understudy").labels
        ('hop', 'curious', 'sad', 'happy')
    """
    path = Path(source)
    ending = path.suffix.lower()
    if (ending == LEARNT_ENDING and not storage.holds_character(path)) or (ending == ".npz" and _is_deformer(path)):
        if options:
            raise InvalidInput(f"{path}: the option {next(iter(options))!r} does not apply to something learnt")
        return _load_learnt(path)
    return open_asset(source, **options)


def _is_deformer(path: Path) -> bool:
    """Whether an .npz is a skin: version 0.1 saved them so. Bakes and examples are .npz files as well."""
    from understudy.deform.deformer import is_deformer_file

    return is_deformer_file(path)


def _load_learnt(path: Path) -> Learnt:
    from importlib import import_module

    kind = "skin" if path.suffix.lower() == ".npz" else storage.read_header(path).get("kind", "pose model")
    if kind not in LEARNT_KINDS:
        raise BadFile(path, f"holds a {kind!r}, which this version does not know; known: {', '.join(LEARNT_KINDS)}")
    module, _, name = LEARNT_KINDS[kind].rpartition(".")
    learnt: Learnt = getattr(import_module(f"understudy.{module}"), name).load(path)
    return learnt


def save(thing: Moving | Bake | Learnt, path: str | Path, character: Character | None = None) -> tuple[str, ...]:
    """Write something to a file, whole or not at all.

    Args:
        thing: An `Asset`, `Character`, `Clip`, `Curves`, a performance or a bake; or something learnt.
        path: The file. Its ending tells the format; something learnt goes into a `.understudy` file.
        character: The character that a `Clip` or `Curves` belongs to. Without it the file holds the animation alone,
            which only .csv and .curves.json can.

    Returns:
        Notes: a line for each thing that the format could not hold.

    Raises:
        Unsupported: If the format is not written, or cannot hold the thing.
        InvalidInput: If a character is needed and not given.

    Example:
        >>> lamp = us.load("lamp")
        >>> notes = us.save(lamp.animation("hop"), "hop.glb", lamp.character())
        >>> us.load("hop.glb").animation().name
        'hop'
    """
    from understudy.character.rig.baking import Bake

    path = Path(path)
    if isinstance(thing, Bake):
        if path.suffix.lower() != ".npz":
            raise Unsupported(path, "a bake is written as .npz")
        from understudy.formats import npz

        npz.write_bake(thing, path)
        return ()
    if hasattr(thing, "settings") and hasattr(thing, "save"):
        thing.save(path)
        return ()
    return _write_asset(_asset_of(thing, character, needs_character=not _holds_bare_animations(path)), path)


def _holds_bare_animations(path: Path) -> bool:
    return formats.ending_of(path) in (".csv", ".curves.json")


def _write_asset(asset: Asset, path: Path) -> tuple[str, ...]:
    """Write an asset; layers and deformers become joints and shapes where the format has neither."""
    from understudy.character.rig.baking import bake
    from understudy.character.rig.flatten import flatten_asset
    from understudy.deform import playable

    ending = formats.ending_of(path)
    if ending == ".npz":
        return save(bake(asset), path)
    layered = any(character.layers is not None for character in asset.characters)
    if layered and ending != ".curves.json":
        asset = flatten_asset(asset, shapes=ending != ".bvh")
    return (*asset.notes, *playable.write(asset, path))


def _asset_of(thing: Moving, character: Character | None, needs_character: bool = True) -> Asset:
    """A thing that is shown or written, with the character that it belongs to."""
    if isinstance(thing, Asset):
        return thing
    if isinstance(thing, Character):
        return Asset([thing])
    if isinstance(thing, Clip | Curves):
        if character is None and needs_character:
            raise InvalidInput(f"animation {thing.name!r} needs the character that it moves; give `character`")
        characters = [] if character is None else [character]
        return Asset(characters, [thing]) if isinstance(thing, Clip) else Asset(characters, curves=[thing])
    asset = getattr(thing, "asset", None)  # a performance
    if not isinstance(asset, Asset):
        known = "an Asset, Character, Clip, Curves, performance, or something learnt"
        raise InvalidInput(f"{known} was expected, but {type(thing).__name__} given")
    return asset


def show(
    thing: Moving,
    path: str | Path | None = None,
    clip: str | None = None,
    *,
    character: Character | None = None,
    time: float | None = None,
    pictures: int = SHEET_PICTURES,
    rate: float | None = None,
    **view: Any,
) -> Any:
    """Look at something: in a notebook, in the studio, or as a picture, a film or a page.

    Without a path, a notebook shows an interactive viewer; anywhere else the studio opens in the browser, and the call
    returns when the studio is closed.

    Args:
        thing: An `Asset`, `Character`, `Clip`, `Curves` or a performance.
        path: A file to write instead: .png for a picture or a contact sheet, .mp4, .webm or .gif for a film, .html for
            a page with an interactive viewer.
        clip: Name of the animation; None takes the first.
        character: The character that a `Clip` or `Curves` belongs to.
        time: Time of a single picture (.png), in seconds; None draws a contact sheet where something moves.
        pictures: Number of pictures on a contact sheet.
        rate: Frames a second of a film or a page; None takes that of the animation, at most 30 for a page.
        view: Fields of `understudy.render.show.ViewSettings`: `size` in pixels, `azimuth` and `elevation` in radians,
            `target` to frame, `zoom`, `background` and others.

    Returns:
        The path that was written, or the display object of a notebook; None for the studio.

    Raises:
        InvalidInput: If there is nothing to draw, or a setting is unknown.
        Unsupported: If the ending is none of those above.

    Example:
        >>> us.show(us.load("lamp"), "hop.png", "hop", pictures=4, size=(80, 60)).name
        'hop.png'
    """
    asset = _asset_of(thing, character)
    if path is None:
        return _display(asset, clip) if in_notebook() else _open_studio(asset, clip)
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in SHOW_ENDINGS:
        raise Unsupported(path, f"is not a picture, a film or a page; written are: {', '.join(SHOW_ENDINGS)}")
    if ending == ".html":
        from understudy.render import html

        html.write_viewer(path, asset, clip, rate=rate or html.MAX_RATE_HZ)
        return path
    _render(asset, path, clip, time, pictures, rate, view)
    return path


def _render(
    asset: Asset, path: Path, clip: str | None, time: float | None, pictures: int, rate: float | None, view: Any
) -> None:
    """Draw one picture, a contact sheet or a film."""
    from understudy.render import show as rendering
    from understudy.render.take import RenderTake

    take = RenderTake.from_asset(asset, clip, rate)
    if path.suffix.lower() in VIDEO_ENDINGS:
        rendering.video(take, path, _view(view))
    elif time is not None or len(take) == 1:
        rendering.picture(take, path, _view({"supersample": 2, **view}), time)
    else:
        settings = _view({"size": SHEET_PIXELS, "supersample": 2, **view})
        rendering.contact_sheet(take, path, settings, min(pictures, len(take)))


def _view(view: dict[str, Any]) -> Any:
    from understudy import checks
    from understudy.render.show import ViewSettings

    for name in view:
        checks.one_of(name, "setting of the view", ViewSettings.__dataclass_fields__)
    return ViewSettings(**view)


def in_notebook() -> bool:
    """Whether the code runs in a notebook, which shows what a call returns."""
    if "IPython" not in sys.modules:
        return False
    shell = sys.modules["IPython"].get_ipython()
    return shell is not None and hasattr(shell, "kernel")


def _display(asset: Asset, clip: str | None) -> Any:
    """The interactive viewer of a notebook."""
    from understudy.render import html

    return html.NotebookViewer(html.viewer_html(asset, clip))


def _open_studio(asset: Asset, clip: str | None) -> None:
    """Open the studio with the asset, and wait until it is closed."""
    with tempfile.TemporaryDirectory() as folder:
        if asset.format == "cast" and clip is None and member_of_cast(asset.character()):
            name = asset.character().name  # with its controls, which a file would lose
        else:
            chosen = asset if clip is None else _only(asset, clip)
            ending = LEARNT_ENDING if any(c.deformer for c in asset.characters) else STUDIO_ENDING
            name = str(Path(folder, f"{asset.character().name or 'character'}{ending}"))
            _write_asset(chosen, Path(name))
        command = [sys.executable, "-m", "understudy", "studio", name, "--project", folder, "--browser"]
        subprocess.run(command, check=False)


def _only(asset: Asset, clip: str) -> Asset:
    animation = asset.animation(clip)
    if isinstance(animation, Clip):
        return Asset(asset.characters, [animation])
    return Asset(asset.characters, curves=[animation])


def cast_names() -> tuple[str, ...]:
    """The names of the built-in characters, which `load` takes.

    Returns:
        The names.

    Example:
        >>> us.cast_names()
        ('dragon', 'face', 'lamp', 'penguin', 'squirrel', 'actor')
    """
    return cast.names()
