# SPDX-License-Identifier: MIT
"""The numbered media contain what they should, which the tests of files on demand rely on."""
import pytest

import numbered

pytestmark = pytest.mark.needs("ffmpeg", "ffprobe")


@pytest.mark.parametrize("kind", [pytest.param(k, marks=[] if k == "bframes.mp4" else [pytest.mark.long])
                                  for k in numbered.KINDS if k != "sound.mp4"])
def test_numbers(kind):
    """Each frame is read back, at its time; audio and video are in sync."""
    path = numbered.path(kind)
    got = numbered.frames(path)
    assert len(got) == numbered.RATE * numbered.SECONDS
    numbered.check(got, 0)
    if kind != "mute.mp4":
        behind = numbered.sound_behind(got, numbered.beeps(path))
        assert len(behind) >= numbered.SECONDS - 1 and max(map(abs, behind)) < 0.03, behind


def test_damage_is_seen():
    assert numbered.number([0] * 20) is None and numbered.number([255] * 20) is None
    fields = [v for v in numbered.picture(1234)[:320:16]]
    assert numbered.number(fields) == 1234
    for i in range(20):
        assert numbered.number([255 - v if k == i else v for k, v in enumerate(fields)]) != 1234
    assert numbered.number_of_gray(numbered.picture(999), 320, 96) == 999
