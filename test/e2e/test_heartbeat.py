# SPDX-License-Identifier: MIT
"""heartbeat: its content and interval, and that a dead url disturbs nothing."""
import time

import httpapi
from httpapi import Api, Backend
from procs import comes_to_rest, free_port, wait_for


def beats(b):
    with b.lock:
        return list(b.events)


def test_identity_summaries_and_ports(srs):
    b = Backend()
    api, web = free_port(), free_port()
    s = srs("", httpapi.conf(api, more=f"""http_server {{ enabled on; listen 127.0.0.1:{web}; }}
        heartbeat {{ enabled on; interval 0.5; url {b.url('/api/v1/servers?x=y')}; device_id my-device;
                     summaries on; ports on; }}"""))
    assert wait_for(lambda: len(beats(b)) >= 3, 5)
    first, second = beats(b)[1:3]
    assert 0.1 < second["_at"] - first["_at"] < 10
    versions = Api(api).get("versions")
    assert second["_path"] == "/api/v1/servers?x=y" and second["_method"] == "POST"
    assert second["device_id"] == "my-device" and second["ip"]
    assert (second["server"], second["service"], second["pid"]) == tuple(
        versions[k] for k in ("server", "service", "pid"))
    assert second["rtmp"] == [f"127.0.0.1:{s.port}"] and second["http"] == [f"127.0.0.1:{web}"]
    assert second["api"] == [f"127.0.0.1:{api}"] and not {"srt", "rtmfp", "rtc"} & set(second)
    assert second["summaries"]["data"]["self"]["pid"] == s.pid
    b.close()


def test_token(srs):
    """heartbeat.auth: sent in Authorization; a reload changes it."""
    b = Backend()
    beat = f"enabled on; interval 0.2; url {b.url()};"
    s = srs("", f"heartbeat {{ {beat} }}", env={"SRS_HEARTBEAT_AUTH_ENABLED": "on", "SRS_HEARTBEAT_AUTH_TYPE": "bearer",
                                               "SRS_HEARTBEAT_AUTH_TOKEN": "of.env"})
    assert wait_for(lambda: beats(b), 5)
    assert beats(b)[0]["_headers"]["Authorization"] == "Bearer of.env"
    assert "of.env" not in s.log()
    b.close()
    b = Backend()
    s = srs("", f"heartbeat {{ enabled on; interval 0.2; url {b.url()}; auth {{ enabled on; token one; }} }}", name="two")
    assert wait_for(lambda: beats(b), 5)
    s.reload("", glob=f"heartbeat {{ enabled on; interval 0.2; url {b.url()}; auth {{ enabled on; type bearer; token two; }} }}")
    assert wait_for(lambda: beats(b)[-1]["_headers"]["Authorization"] == "Bearer two", 5)
    assert beats(b)[0]["_headers"]["Authorization"] == "Bearer one"
    s.reload("", glob=f"heartbeat {{ enabled on; interval 0.2; url {b.url()}; }}")
    assert wait_for(lambda: "Authorization" not in beats(b)[-1]["_headers"], 5)
    b.close()


def test_plain_and_its_address(srs):
    b = Backend(lambda e: (500, "whatever"))
    s = srs("", f"heartbeat {{ enabled on; interval 0.3; url {b.url()}; }}", env={"SRS_DEVICE_IP": "9.8.7.6"})
    assert wait_for(lambda: len(beats(b)) >= 2, 5)
    e = beats(b)[0]
    assert e["ip"] == "9.8.7.6" and "summaries" not in e and "rtmp" not in e
    assert "heartbeat" not in s.log(), "the response matters"
    b.close()


def test_dead_url_and_reload(srs):
    dead = free_port()
    s = srs("", f"heartbeat {{ enabled on; interval 0.2; url http://127.0.0.1:{dead}/x; }}")
    assert s.wait_log("heartbeat", 5)
    time.sleep(1)
    assert s.log().count("heartbeat: code") == 1, "not one line, but one for each"
    b = Backend()
    s.reload("", glob=f"heartbeat {{ enabled on; interval 0.2; url {b.url()}; }}")
    assert wait_for(lambda: beats(b), 5)
    assert s.wait_log("answers again", 3)
    s.reload("", glob="heartbeat { enabled off; }")
    assert comes_to_rest(lambda: len(beats(b)))
    s.allow_errors = True
    b.close()


def test_datagram_ports_as_the_proxy_of_srs_reads_them(srs):
    """scheme://host:port, because proxies of 2024 reject a scheme with a bare port."""
    b = Backend()
    rtc, srt = free_port(), free_port()
    srs("", f"""heartbeat {{ enabled on; interval 0.2; url {b.url()}; ports on; }}
rtc_server {{ enabled on; listen {rtc} [::]:{rtc}; tcp {{ enabled on; listen {rtc}; }} }}
srt_server {{ enabled on; listen {srt}; }}""")
    assert wait_for(lambda: beats(b), 5)
    beat = beats(b)[0]
    assert beat["srt"] == [f"udp://0.0.0.0:{srt}"]
    assert beat["rtc"] == [f"udp://0.0.0.0:{rtc}", f"udp://[::]:{rtc}", f"tcp://0.0.0.0:{rtc}"]
    b.close()
