from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from understudy.errors import BadFile, InvalidInput, UnderstudyError
from understudy.express import speech_audio
from understudy.express.speech_audio import Phone, Speech, listen, read_audio, speak, write_wav
from understudy.formats.arkit_names import VISEMES

SENTENCE = "My mother bakes bread and butter pudding every morning."


def need(module: str) -> None:
    pytest.importorskip(module, reason=f"{module} is not installed: {speech_audio.INSTALL}")


def test_phones_become_visemes_silence_and_accents() -> None:
    loud, quiet = np.full(2000, 8000, np.int16), np.full(2000, 100, np.int16)
    phones = (
        Phone(0.0, 0.1, "m", ("PP",)),
        Phone(0.1, 0.3, "aɪ", ("aa", "ih"), True),
        Phone(0.6, 0.8, "ə", ("E",)),
    )
    speech = Speech(phones, np.concatenate([loud, quiet, quiet, quiet]), 10_000)
    assert [(round(s.time, 3), s.viseme) for s in speech.sounds] == [
        *((0.0, "PP"), (0.1, "aa"), (0.2, "ih"), (0.3, "sil"), (0.6, "E"), (0.8, "sil")),
    ]
    assert speech.sounds[1].strength == 1.0 > speech.sounds[4].strength
    assert speech.accents == (0.1,) and speech.duration == 0.8


def test_every_phone_has_a_known_viseme() -> None:
    used = {*speech_audio.VISEME_BY_IPA.values(), *speech_audio.VISEME_BY_ARPABET.values()}
    assert used <= set(VISEMES) and {"PP", "FF", "aa", "ou", "CH"} <= used
    assert set(speech_audio.ARPABET_BY_IPA.values()) <= set(speech_audio.VISEME_BY_ARPABET)


def test_audio_survives_a_file(tmp_path: Path) -> None:
    tone = (8000 * np.sin(np.arange(22_050) * 0.05)).astype(np.int16)
    write_wav(tmp_path / "tone.wav", tone, 22_050)
    samples, rate = read_audio(tmp_path / "tone.wav")
    assert rate == 22_050 and np.array_equal(samples, tone)
    (tmp_path / "no.wav").write_text("no audio")
    with pytest.raises(BadFile, match="cannot be read as audio"):
        read_audio(tmp_path / "no.wav")
    with pytest.raises(BadFile, match="no such file"):
        read_audio(tmp_path / "missing.wav")


def test_without_the_extra_one_sentence_says_how_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "espeakng_loader", None)
    monkeypatch.setitem(sys.modules, "pocketsphinx", None)
    monkeypatch.setattr(speech_audio._Synthesiser, "_one", None)
    with pytest.raises(UnderstudyError, match=r"pip install 'understudy\[speech\]'"):
        speak("hello")
    with pytest.raises(UnderstudyError, match=r"pip install 'understudy\[speech\]'"):
        speech_audio.align(np.zeros(1000, np.int16), 16_000, "hello")


def test_a_text_is_spoken_in_order() -> None:
    need("espeakng_loader")
    speech = speak(SENTENCE)
    starts = [phone.start for phone in speech.phones]
    assert starts == sorted(starts) and speech.phones[-1].end <= speech.duration + 1e-6
    assert sum(phone.visemes == ("PP",) for phone in speech.phones) == 7, "my mother bakes bread butter pudding morning"
    assert np.abs(speech.samples).max() > 3000
    again = speak(SENTENCE)
    assert [phone.symbol for phone in again.phones] == [phone.symbol for phone in speech.phones]
    assert np.allclose([phone.start for phone in again.phones], starts, atol=0.005), "eSpeak rounds by its own state"
    with pytest.raises(InvalidInput, match="no language 'xx-none'"):
        speak("hello", "xx-none")
    with pytest.raises(InvalidInput, match="text to say should have"):
        speak("  ")


def test_another_language() -> None:
    need("espeakng_loader")
    german = speak("Mein Bruder möchte Äpfel.", "de")
    assert german.phones[0].visemes == ("PP",) and "FF" in {v for p in german.phones for v in p.visemes}


def test_a_recording_is_aligned_with_its_text(tmp_path: Path) -> None:
    need("espeakng_loader")
    need("pocketsphinx")
    spoken = speak(SENTENCE)
    write_wav(tmp_path / "take.wav", spoken.samples, spoken.rate)
    heard = listen(tmp_path / "take.wav", SENTENCE)
    closures = [[phone.start for phone in speech.phones if phone.visemes == ("PP",)] for speech in (spoken, heard)]
    assert len(closures[0]) == len(closures[1])
    assert np.median(np.abs(np.subtract(*closures))) < 0.05
    alone = listen(tmp_path / "take.wav")
    assert len(alone.phones) > 10 and "rough" in alone.notes[0]
    with pytest.raises(InvalidInput, match="words in Latin letters"):
        listen(tmp_path / "take.wav", "123")
