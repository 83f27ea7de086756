# SPDX-License-Identifier: MIT
"""A server with WebRTC, and Chromium as its client."""
import browser
from procs import free_port

# Fake camera and microphone, without a permission prompt.
FLAGS = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream", "--autoplay-policy=no-user-gesture-required"]

SCRIPT = """
window.peers = {};
async function gathered(pc) {
    if (pc.iceGatheringState !== 'complete')
        await new Promise(r => { pc.onicegatheringstatechange = () => pc.iceGatheringState === 'complete' && r(); });
}
async function exchange(name, pc, url, codec) {
    window.peers[name] = pc;
    if (codec)
        for (const t of pc.getTransceivers().filter(t => t.receiver.track.kind === 'video')) {
            const all = RTCRtpReceiver.getCapabilities('video').codecs;
            const want = c => c.mimeType.toLowerCase() === 'video/' + codec || c.mimeType === 'video/rtx';
            t.setCodecPreferences(all.filter(want));
        }
    await pc.setLocalDescription();
    const r = await fetch(url, { method: 'POST', body: pc.localDescription.sdp,
                                 headers: { 'Content-Type': 'application/sdp' } });
    const text = await r.text();
    if (r.status !== 201)
        return r.status + ' ' + text;
    pc.where = r.headers.get('Location');
    await pc.setRemoteDescription({ type: 'answer', sdp: text });
    return 'ok';
}
function camera() {
    return navigator.mediaDevices.getUserMedia({ audio: true, video: { width: 640, height: 360, frameRate: 25 } });
}
async function publish(name, url, codec, from = camera) {
    const pc = new RTCPeerConnection(), media = await from();
    media.getTracks().forEach(t => pc.addTransceiver(t, { direction: 'sendonly' }));
    return exchange(name, pc, url, codec);
}
async function play(name, url) {
    const pc = new RTCPeerConnection(), video = document.createElement('video');
    video.autoplay = video.playsInline = true;
    video.muted = true;
    document.body.append(video);
    video.srcObject = new MediaStream();
    pc.ontrack = e => video.srcObject.addTrack(e.track);
    pc.addTransceiver('audio', { direction: 'recvonly' });
    pc.addTransceiver('video', { direction: 'recvonly' });
    pc.video = video;
    return exchange(name, pc, url);
}
async function stats(name) {
    const all = {};
    (await window.peers[name].getStats()).forEach(s => {
        if (['inbound-rtp', 'outbound-rtp', 'candidate-pair', 'transport'].includes(s.type))
            all[s.type + (s.kind ? '-' + s.kind : '')] = s;
    });
    all.state = window.peers[name].connectionState;
    return all;
}
"""


def rtc_server(srs, tmp_path, rtc="", server="", vhost="", glob="", host="127.0.0.1", candidate=None, **how):
    """Starts a server of the fixture `srs` at this address, with WebRTC and a start page."""
    udp, api, web = free_port(), free_port(), free_port()
    root = tmp_path / "html"
    root.mkdir(exist_ok=True)
    (root / "empty.html").write_text("<!doctype html><title>empty</title><body>")
    s = srs(vhost=f"rtc {{ enabled on; {rtc} }}\nhttp_remux {{ enabled on; }}\n{vhost}",
            glob=f"""{glob}
rtc_server {{ enabled on; listen {udp}; candidate {candidate or host}; {server} }}
http_api {{ enabled on; listen {host}:{api}; }}
http_server {{ enabled on; listen {host}:{web}; dir {root}; }}""", **how)
    s.rtc_port, s.api_port, s.web_port, s.host = udp, api, web, host
    s.whip = lambda stream="s", more="": f"http://{host}:{api}/rtc/v1/whip/?app=live&stream={stream}{more}"
    s.whep = lambda stream="s", more="": f"http://{host}:{api}/rtc/v1/whep/?app=live&stream={stream}{more}"
    return s


class Browser(browser.Page):
    """Chromium on a page of the server, with the functions of SCRIPT."""

    def __init__(self, tmp, s):
        super().__init__(tmp, flags=[*FLAGS, f"--unsafely-treat-insecure-origin-as-secure=http://{s.host}:{s.web_port}"])
        self.open(f"http://{s.host}:{s.web_port}/empty.html")
        self.run(SCRIPT)

    def publish(self, url, name="out", codec="h264", source="camera"):
        return self.run(f"publish({name!r}, {url!r}, {codec!r}, {source})")

    def play(self, url, name="in"):
        return self.run(f"play({name!r}, {url!r})")

    def stats(self, name="in"):
        return self.run(f"stats({name!r})")

    def decoded(self, name="in"):
        return self.stats(name).get("inbound-rtp-video", {}).get("framesDecoded", 0)
