# SPDX-License-Identifier: MIT
"""Authorization: security and refer rules."""
import pytest

from rtmpclient import Closed, Rejected

# rules, then which of the three addresses may publish and play
CASES = [
    ("", "", ""),
    ("allow publish all; allow play all;", "123", "123"),
    ("deny publish 127.0.0.2;", "13", "123"),
    ("deny play 127.0.0.2; deny publish all;", "", "13"),
    ("allow publish 127.0.0.1;", "1", ""),
    ("allow publish 127.0.0.0/30; allow play 127.0.0.3;", "123", "3"),
    ("allow play all; deny play 127.0.0.2/32; allow publish 127.0.0.2/31;", "23", "13"),
    ("allow publish all; deny publish 127.0.0.1; allow play all;", "23", "123"),
]


def may(s, n, what):
    c = s.client(bind=f"127.0.0.{n}", timeout=20)
    try:
        if what == "publish":
            c.publish(f"p{n}")
        else:
            c.play(f"x{n}")
        return True
    except (Rejected, Closed, TimeoutError):
        return False
    finally:
        c.close()


@pytest.mark.parametrize("rules,publish,play", CASES, ids=[c[0] or "no rule" for c in CASES])
def test_security(srs, rules, publish, play):
    s = srs(f"security {{ enabled on; {rules} }}")
    got = ["".join(str(n) for n in (1, 2, 3) if may(s, n, what)) for what in ("publish", "play")]
    assert got == [publish, play]
    if publish != "123" or play != "123":
        assert s.wait_log(r"code=2048", 2)


def test_security_off_lets_in(srs):
    s = srs("security { enabled off; deny publish all; deny play all; }")
    assert may(s, 1, "publish") and may(s, 1, "play")


def test_rejection_is_reported(srs):
    """An error status, then a close; not a silent hang."""
    s = srs("security { enabled on; deny publish all; deny play all; }")
    for what in ("publish", "play"):
        c = s.client()
        with pytest.raises((Rejected, Closed)):
            getattr(c, what)("s")
        assert c.closed(3)


def page(s, url, what):
    c = s.client(timeout=20)
    try:
        c.connect(pageUrl=url)
        getattr(c, what)("s" + what)
        return True
    except (Rejected, Closed, TimeoutError):
        return False
    finally:
        c.close()


def test_refer(srs):
    s = srs("refer { enabled on; all github.io github.com; publish upload.github.com; }")
    assert page(s, "http://x.github.io/a.html", "play")
    assert page(s, "http://github.com/a.html", "play")
    assert not page(s, "http://github.com.evil.org/a.html", "play")
    assert not page(s, "http://evil.org/?github.com", "play")
    assert page(s, "http://upload.github.com/a", "publish")
    assert not page(s, "http://github.com/a", "publish")
    assert s.wait_log(r"code=2049", 2)


def test_refer_off(srs):
    s = srs("refer { enabled off; all github.io; }")
    assert page(s, "http://evil.org/", "play") and page(s, None, "publish")


def test_old_spelling_of_refer(srs):
    s = srs("refer github.io; refer_publish up.github.io;")
    assert not page(s, "http://evil.org/", "play")
    assert page(s, "http://github.io/", "play")
