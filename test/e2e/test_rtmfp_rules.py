# SPDX-License-Identifier: MIT
"""What RTMFP's clients are held to as all others are: homes of streams, takeover, callbacks, who may, reloads, ends."""
import pytest

pytest.importorskip("cryptography")

import flv                      # noqa: E402
import httpapi                  # noqa: E402
import rtmfp_client as rc       # noqa: E402
from procs import free_port     # noqa: E402
from rtmfp_serve import clients, frames, rtmfp_server  # noqa: E402

FOUR = {"env": {"SRS_WORKERS": "4"}}


def test_published_from_another_worker(srs, source):
    """Its stream is at home where somebody waits for it; it may come to any worker, and no frame is lost."""
    port = free_port()
    s = rtmfp_server(srs, glob=httpapi.conf(port), **FOUR)
    tags = flv.cut(source, 300)
    names = [f"s{i}" for i in range(8)]
    viewers = [s.watch(n) for n in names]
    with clients(s, len(names)) as several:
        streams = []
        for c, name in zip(several, names):
            streams.append(c.publish(name))
            for t in tags:
                streams[-1].send_tag(t)
        assert rc.run(several, lambda: all(x.sent() for x in streams))
        for v in viewers:
            assert v.wait(lambda got: len(flv.frames(got)) >= len(flv.frames(tags)), 5)
            assert frames(v.stop()) == frames(tags)
        rows = httpapi.Api(port).get("workers")["workers"]
        assert sum(row["moved_in"] for row in rows) > 0, "some of them came to another worker"
        several[0].delete(streams[0])
        streams[1].command("FCUnpublish", names[1])
        for stream in streams[:2]:
            stream.status("NetStream.Unpublish.Success")
        assert several[0].publish(names[0]), "it is free again"
