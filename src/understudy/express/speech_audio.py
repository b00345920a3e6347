"""Speech audio: phones with times from text, from a recording with its text, or from a recording alone.

- Text is spoken by eSpeak NG (`espeakng-loader`), which tells the time of every phone that it synthesises.
- A recording with its text is aligned by PocketSphinx and its American English model: words first, then the phones in
  them. Words that its dictionary does not know are spelt by eSpeak's phones.
- A recording alone goes through PocketSphinx's phone loop. That is rough: about half of the phones are right.

Both come with the extra `speech`. Phones become visemes by their class of articulation; vowels without stress are
weaker. Prominence of a stressed syllable is its loudness times its length.
"""

from __future__ import annotations

import ctypes
import re
import threading
import wave
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.errors import BadFile, InvalidInput, UnderstudyError
from understudy.express.acting.speech import Viseme, choose_accents

INSTALL = "pip install 'understudy[speech]'"
SPHINX_RATE = 16_000  # samples a second of PocketSphinx's model
# PocketSphinx has no model of digital silence and loses its way in it, so noise is added: the first level at which all
# words are found. Levels are the deviation in samples of 16 bits whose peak is LISTENING_PEAK.
LISTENING_PEAK, NOISE_LEVELS = 8000.0, (15.0, 40.0, 5.0, 100.0)
MAX_TEXT_CHARACTERS = 20_000
MAX_AUDIO_SECONDS = 1800.0
UNSTRESSED_STRENGTH = 0.75  # of a vowel without stress
MARGIN_SECONDS = 0.2  # silence before and after a recording: PocketSphinx's words need some
PAUSE_SECONDS = 0.15  # a longer gap between phones is silence

# First sound of a phone in IPA -> viseme; length marks and stress are cut off.
VISEME_BY_IPA = {
    **dict.fromkeys("pbm", "PP"),
    **dict.fromkeys("fvɱʋ", "FF"),
    **dict.fromkeys("θð", "TH"),
    **dict.fromkeys("tdʈɖɾ", "DD"),
    **dict.fromkeys("kɡgqxɣhɦŋχʁʔç", "kk"),
    **dict.fromkeys("ʃʒɕʑ", "CH"),
    **dict.fromkeys("sz", "SS"),
    **dict.fromkeys("nlɲʎɫɭɬ", "nn"),
    **dict.fromkeys("ɹrɻʀɚɝɜ", "RR"),
    **dict.fromkeys("aɑæʌɐɒ", "aa"),
    **dict.fromkeys("eɛəø", "E"),
    **dict.fromkeys("iɪjyᵻɨ", "ih"),
    **dict.fromkeys("oɔɵœ", "oh"),
    **dict.fromkeys("uʊwɯʉɥ", "ou"),
}
IPA_VOWELS = "aɑæʌɐɒeɛəøiɪyᵻɨoɔɵœuʊɯʉɚɝɜ"
VISEME_BY_ARPABET = {
    **dict.fromkeys(("P", "B", "M"), "PP"),
    **dict.fromkeys(("F", "V"), "FF"),
    **dict.fromkeys(("TH", "DH"), "TH"),
    **dict.fromkeys(("T", "D"), "DD"),
    **dict.fromkeys(("K", "G", "HH", "NG"), "kk"),
    **dict.fromkeys(("CH", "JH", "SH", "ZH"), "CH"),
    **dict.fromkeys(("S", "Z"), "SS"),
    **dict.fromkeys(("N", "L"), "nn"),
    **dict.fromkeys(("R", "ER"), "RR"),
    **dict.fromkeys(("AA", "AE", "AH", "AY", "AW"), "aa"),
    **dict.fromkeys(("EH", "EY"), "E"),
    **dict.fromkeys(("IH", "IY", "Y"), "ih"),
    **dict.fromkeys(("AO", "OW", "OY"), "oh"),
    **dict.fromkeys(("UH", "UW", "W"), "ou"),
}
SECOND_SOUNDS = {"AY": "ih", "EY": "ih", "OY": "ih", "AW": "ou", "OW": "ou"}  # of diphthongs
ARPABET_VOWELS = {"AA", "AE", "AH", "AY", "AW", "EH", "EY", "IH", "IY", "AO", "OW", "OY", "UH", "UW", "ER"}
# For words that the dictionary lacks: IPA as eSpeak writes it -> ARPABET, the longest first.
ARPABET_BY_IPA = {
    **{"tʃ": "CH", "dʒ": "JH", "aɪ": "AY", "aʊ": "AW", "eɪ": "EY", "oʊ": "OW", "əʊ": "OW", "ɔɪ": "OY", "ɜː": "ER"},
    **{"ɚ": "ER", "ɝ": "ER", "p": "P", "b": "B", "m": "M", "f": "F", "v": "V", "θ": "TH", "ð": "DH", "t": "T"},
    **{"d": "D", "ɾ": "D", "k": "K", "ɡ": "G", "g": "G", "h": "HH", "ŋ": "NG", "ʃ": "SH", "ʒ": "ZH", "s": "S"},
    **{"z": "Z", "n": "N", "l": "L", "ɹ": "R", "r": "R", "ɑ": "AA", "a": "AA", "æ": "AE", "ʌ": "AH", "ə": "AH"},
    **{"ɐ": "AH", "ɛ": "EH", "e": "EH", "ɪ": "IH", "ᵻ": "IH", "i": "IY", "j": "Y", "ɔ": "AO", "o": "AO", "ɒ": "AA"},
    **{"ʊ": "UH", "u": "UW", "w": "W", "x": "K", "ʔ": "T"},
}


class Phone(NamedTuple):
    """A speech sound and its time."""

    start: float  # seconds
    end: float
    symbol: str  # IPA, or ARPABET from PocketSphinx
    visemes: tuple[str, ...]  # one, or two for a diphthong
    stress: bool = False


class Speech(NamedTuple):
    """What is said, and when."""

    phones: tuple[Phone, ...]
    samples: Array  # (n,) int16, one channel
    rate: int  # samples a second
    notes: tuple[str, ...] = ()

    @property
    def duration(self) -> float:
        """Seconds."""
        return len(self.samples) / self.rate

    @property
    def sounds(self) -> tuple[Viseme, ...]:
        """The visemes with their times, and silence where nothing is said."""
        result: list[Viseme] = []
        for phone, after in zip(self.phones, (*self.phones[1:], None)):
            strength = 1.0 if phone.stress or not _is_vowel(phone.symbol) else UNSTRESSED_STRENGTH
            step = (phone.end - phone.start) / len(phone.visemes)
            result += [Viseme(phone.start + i * step, name, strength) for i, name in enumerate(phone.visemes)]
            if after is None or after.start - phone.end > PAUSE_SECONDS:
                result.append(Viseme(phone.end, "sil"))
        return tuple(result)

    @property
    def accents(self) -> tuple[float, ...]:
        """Times at which brows and head stress what is said."""
        stresses = []
        for phone in self.phones:
            if phone.stress:
                part = self.samples[int(phone.start * self.rate) : int(phone.end * self.rate)].astype(np.float64)
                loud = float(np.sqrt(np.mean(part**2))) if len(part) else 0.0
                stresses.append((phone.start, loud * (phone.end - phone.start)))
        return choose_accents(stresses)


def speak(text: str, language: str = "en-us") -> Speech:
    """Text as synthesised speech with the times of its phones."""
    text = text.strip()
    if not text or len(text) > MAX_TEXT_CHARACTERS:
        raise InvalidInput(
            f"the text to say should have 1 to {MAX_TEXT_CHARACTERS:,} characters, but has {len(text):,}"
        )
    samples, rate, events = _Synthesiser.shared().speak(text, language)
    phones = []
    for (start, symbol), (end, _) in zip(events, [*events[1:], (len(samples) / rate, "")]):
        visemes = _visemes_of_ipa(symbol)
        if visemes and end > start:
            phones.append(Phone(start, end, symbol.strip("ˈˌ"), visemes, symbol.startswith("ˈ") and _is_vowel(symbol)))
    if not phones:
        raise InvalidInput(f"there is nothing to say in {text[:40]!r}")
    return Speech(tuple(phones), samples, rate)


def listen(path: str | Path, text: str | None = None) -> Speech:
    """A recording with the times of its phones; without its `text`, which PocketSphinx aligns, they are rough."""
    samples, rate = read_audio(path)
    return align(samples, rate, text)


def align(samples: Array, rate: int, text: str | None = None) -> Speech:
    """As `listen`, for samples (n,) int16."""
    silence = np.zeros(round(MARGIN_SECONDS * SPHINX_RATE))
    heard = np.concatenate([silence, _resample(samples, rate, SPHINX_RATE), silence])
    heard *= LISTENING_PEAK / max(float(np.abs(heard).max()), 1.0)
    phones, notes = _align_text(heard, text) if text else _phone_loop(heard)
    if not phones:
        raise InvalidInput("no speech was found in the recording")
    return Speech(tuple(phones), samples, rate, notes)


def read_audio(path: str | Path) -> tuple[Array, int]:
    """(n,) int16 samples of one channel and their rate, of any audio file that FFmpeg reads."""
    import av

    try:
        with av.open(str(path)) as container:
            if not container.streams.audio:
                raise BadFile(path, "there is no audio in it")
            stream = container.streams.audio[0]
            rate = int(stream.rate)
            resampler = av.AudioResampler(format="s16", layout="mono", rate=rate)
            pieces = [out.to_ndarray()[0] for frame in container.decode(stream) for out in resampler.resample(frame)]
    except FileNotFoundError:
        raise BadFile(path, "there is no such file") from None
    except av.error.FFmpegError as error:
        raise BadFile(path, f"cannot be read as audio: {error}") from None
    samples = np.concatenate(pieces) if pieces else np.zeros(0, np.int16)
    if not len(samples) or len(samples) > MAX_AUDIO_SECONDS * rate:
        raise BadFile(path, f"it should last up to {MAX_AUDIO_SECONDS:g} s, but lasts {len(samples) / rate:.1f} s")
    return samples.astype(np.int16), rate


def write_wav(path: str | Path, samples: Array, rate: int) -> None:
    """Write samples (n,) int16 as a WAV file of one channel."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.asarray(samples, "<i2").tobytes())


def _is_vowel(symbol: str) -> bool:
    plain = symbol.lstrip("ˈˌ")
    return plain[:1] in IPA_VOWELS if plain[:1] and not plain[:1].isupper() else plain in ARPABET_VOWELS


def _visemes_of_ipa(symbol: str) -> tuple[str, ...]:
    """The visemes of a phone in IPA: the first and the last of its sounds, such as `a` and `ɪ` of `aɪ`."""
    if symbol.lstrip("ˈˌ").startswith(("tʃ", "dʒ")):
        return ("CH",)
    names = [VISEME_BY_IPA[letter] for letter in symbol if letter in VISEME_BY_IPA]
    return tuple(dict.fromkeys((names[0], names[-1]))) if names else ()


class _Event(ctypes.Structure):
    class Id(ctypes.Union):
        _fields_ = (("number", ctypes.c_int), ("name", ctypes.c_char_p), ("string", ctypes.c_char * 8))

    _fields_ = (
        ("type", ctypes.c_int),
        ("identifier", ctypes.c_uint),
        ("text_position", ctypes.c_int),
        ("length", ctypes.c_int),
        ("milliseconds", ctypes.c_int),
        ("sample", ctypes.c_int),
        ("user_data", ctypes.c_void_p),
        ("id", Id),
    )


class _Synthesiser:
    """eSpeak NG, which is one for the whole process."""

    _one: _Synthesiser | None = None
    _lock = threading.Lock()

    def __init__(self) -> None:
        try:
            import espeakng_loader
        except ImportError:
            raise UnderstudyError(f"saying a text needs eSpeak NG: {INSTALL}") from None
        self.library = ctypes.CDLL(espeakng_loader.get_library_path())
        retrieval, phonemes_in_ipa, no_exit = 1, 0x0003, 0x8000
        data = espeakng_loader.get_data_path().encode()
        self.rate = int(self.library.espeak_Initialize(retrieval, 0, data, phonemes_in_ipa | no_exit))
        if self.rate <= 0:
            raise UnderstudyError("eSpeak NG could not be started: its data are missing or damaged")
        self.pieces: list[bytes] = []
        self.events: list[tuple[float, str]] = []
        kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(_Event))
        self.callback = kind(self._receive)
        self.library.espeak_SetSynthCallback(self.callback)

    @classmethod
    def shared(cls) -> _Synthesiser:
        with cls._lock:
            cls._one = cls._one or cls()
            return cls._one

    def _receive(self, samples: int | None, count: int, events: Any) -> int:
        if samples and count:
            self.pieces.append(ctypes.string_at(samples, 2 * count))
        phoneme, number = 7, 0
        while events[number].type:
            if events[number].type == phoneme:
                symbol = bytes(events[number].id.string).split(b"\0")[0].decode("utf-8", "ignore")
                self.events.append((events[number].milliseconds / 1000.0, symbol))
            number += 1
        return 0

    def speak(self, text: str, language: str) -> tuple[Array, int, list[tuple[float, str]]]:
        """Samples (n,) int16, their rate, and the start and IPA of every phone."""
        with self._lock:
            if self.library.espeak_SetVoiceByName(language.encode()) != 0:
                raise InvalidInput(f"eSpeak NG has no language {language!r}; it knows en-us, en-gb, de, fr, es, ...")
            self.pieces, self.events = [], []
            data = text.encode() + b"\0"
            self.library.espeak_Synth(ctypes.c_char_p(data), ctypes.c_size_t(len(data)), 0, 1, 0, 1, None, None)
            self.library.espeak_Synchronize()
            samples = np.frombuffer(b"".join(self.pieces), np.int16)
            return samples, self.rate, list(self.events)


def _sphinx() -> Any:
    try:
        import pocketsphinx
    except ImportError:
        raise UnderstudyError(f"listening to a recording needs PocketSphinx: {INSTALL}") from None
    return pocketsphinx


def _align_text(heard: Array, text: str) -> tuple[list[Phone], tuple[str, ...]]:
    words = re.findall(r"[a-z']+", text.lower().replace("’", "'"))
    words = [word.strip("'") for word in words if word.strip("'")]
    if not words:
        raise InvalidInput("the text of a recording should have words in Latin letters; numbers are written out")
    sphinx = _sphinx()
    spelt: dict[str, str] = {}
    for level in NOISE_LEVELS:
        decoder = sphinx.Decoder(samprate=SPHINX_RATE, lm=None, loglevel="FATAL")
        for word in dict.fromkeys(words):
            if decoder.lookup_word(word) is None:
                spelt[word] = spelt.get(word) or _spell(word)
                decoder.add_word(word, spelt[word], True)
        decoder.set_align_text(" ".join(words))
        try:
            _decode(decoder, heard, level)
            if decoder.hyp() is not None and len(decoder.hyp().hypstr.split()) == len(words):
                decoder.set_alignment()
                _decode(decoder, heard, level)
                break
        except RuntimeError:  # the beam lost all words
            continue
    else:
        raise InvalidInput("the recording could not be aligned with its text; is it the same text, in English?")
    phones = []
    for word in decoder.get_alignment():
        stressed = False
        for phone in word:
            name = phone.name
            visemes = _visemes_of_arpabet(name)
            if visemes:
                accent = name in ARPABET_VOWELS and not stressed and len(word.name) > 3
                stressed |= accent
                phones.append(_sphinx_phone(phone.start, phone.duration, name, visemes, accent))
    notes = (f"words that the dictionary lacks were spelt by rule: {', '.join(spelt)}",) if spelt else ()
    return phones, notes


def _phone_loop(heard: Array) -> tuple[list[Phone], tuple[str, ...]]:
    sphinx = _sphinx()
    model = sphinx.get_model_path("en-us/en-us-phone.lm.bin")
    decoder = sphinx.Decoder(
        samprate=SPHINX_RATE, allphone=model, lm=None, lw=2.0, beam=1e-10, pbeam=1e-10, loglevel="FATAL"
    )
    _decode(decoder, heard, NOISE_LEVELS[0])
    phones = []
    for segment in decoder.seg():
        visemes = _visemes_of_arpabet(segment.word)
        if visemes:
            length = segment.end_frame - segment.start_frame + 1
            vowel = segment.word in ARPABET_VOWELS
            phones.append(_sphinx_phone(segment.start_frame, length, segment.word, visemes, vowel))
    return phones, ("the sounds were guessed without a text, which is rough; --text says what is spoken",)


def _sphinx_phone(start: int, frames: int, name: str, visemes: tuple[str, ...], stress: bool) -> Phone:
    """A phone of PocketSphinx, whose frames are 10 ms long."""
    began = max(0.01 * start - MARGIN_SECONDS, 0.0)
    return Phone(began, max(0.01 * (start + frames) - MARGIN_SECONDS, began + 0.01), name, visemes, stress)


def _visemes_of_arpabet(name: str) -> tuple[str, ...]:
    first = VISEME_BY_ARPABET.get(name)
    if first is None:
        return ()
    return (first, SECOND_SOUNDS[name]) if name in SECOND_SOUNDS else (first,)


def _spell(word: str) -> str:
    """ARPABET of a word that the dictionary lacks, by eSpeak."""
    _, _, events = _Synthesiser.shared().speak(word, "en-us")
    result: list[str] = []
    for _, symbol in events:
        plain = re.sub("[ˈˌː]", "", symbol)
        while plain:
            key = next((key for key in (plain[:2], plain[:1]) if key in ARPABET_BY_IPA), None)
            result += [ARPABET_BY_IPA[key]] if key else []
            plain = plain[len(key or "x") :]
    if not result:
        raise InvalidInput(f"the word {word!r} is not in the dictionary and cannot be spelt")
    return " ".join(result)


def _decode(decoder: Any, heard: Array, noise: float) -> None:
    """Let a decoder hear samples (n,) with noise of that deviation, the same each time."""
    noisy = heard + np.random.default_rng(0).normal(0.0, noise, len(heard))
    decoder.start_utt()
    decoder.process_raw(np.rint(noisy).astype(np.int16).tobytes(), full_utt=True)
    decoder.end_utt()


def _resample(samples: Array, rate: int, wanted: int) -> Array:
    """(m,) int16 at another rate."""
    if rate == wanted:
        return np.asarray(samples, np.int16)
    from scipy.signal import resample_poly

    divisor = int(np.gcd(rate, wanted))
    moved = resample_poly(samples.astype(np.float64), wanted // divisor, rate // divisor)
    return np.clip(np.rint(moved), -32768, 32767).astype(np.int16)
