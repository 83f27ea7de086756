// SPDX-License-Identifier: MIT
// rtc.js - a WebRTC session over WHIP or WHEP: POST sends the offer, DELETE ends the session.
//
// The offer has no candidates: the server replies to the address from which the browser's checks arrive.

const PATIENCE = 10000; // milliseconds to establish a connection
export const ADVICE = "set the encoder to 0 B-frames";

const WHY = {
    400: "the server does not support what this browser offers",
    401: "the server rejected you because of a token or a rule",
    403: "WebRTC is off for this stream: see rtc_server, and rtc of its vhost, in the configuration",
    404: "the stream does not exist, or WebRTC is off on this server",
    405: "this server does not offer WebRTC at this address",
    409: "the stream already has a publisher",
    415: "the server expects another kind of offer",
    429: "too many requests: wait a moment",
    503: "the server is at its limit: try again in a moment",
};

export class Refused extends Error {
    constructor(status, body) {
        const said = body.trim().split("\n").slice(0, 2).join(", ").slice(0, 300);
        super(`${WHY[status] ?? `the server answered ${status}`}${said && !said.startsWith("<") ? ` (${said})` : ""}`);
        this.status = status;
    }
}

export class Rtc {
    // fail(why): called if the session ends unexpectedly or never starts.
    constructor(url, fail) {
        Object.assign(this, { url, fail, place: null, over: false, pc: new RTCPeerConnection() });
        this.leave = () => this.close();
        this.pc.addEventListener("connectionstatechange", () => this.changed());
    }

    changed() {
        const state = this.pc.connectionState;
        if (state === "connected")
            clearTimeout(this.timer);
        else if (state === "failed")
            this.end(this.wasUp ? "the media connection was lost" : this.noWay());
        this.wasUp ||= state === "connected";
    }

    noWay() {
        const places = [...this.answer.matchAll(/^a=candidate:\S+ 1 (\w+) \d+ (\S+) (\d+)/gm)];
        const list = places.map(([, kind, host, port]) => `${kind.toUpperCase()} ${host}:${port}`).join(", ");
        return `no answer from ${list || "the server, which offered no address"}: the server's candidate must be an ` +
            "address that this browser reaches, and its port open in firewalls";
    }

    end(why) {
        if (this.over)
            return;
        this.close();
        this.fail(why);
    }

    // A browser that only plays does not know the round trip time, and repeats requests for lost packets late. This line of the
    // offer makes it send its clock (RFC 3611), and servers that support this answer.
    async offer() {
        const { type, sdp } = await this.pc.createOffer();
        const more = sdp.replace(/^a=rtpmap:(\d+) (H26[45]|AV1|VP[89]|opus)\/.*$/gm, "$&\na=rtcp-fb:$1 rrtr");
        await this.pc.setLocalDescription({ type, sdp: this.plays ? more : sdp }).catch(() => this.pc.setLocalDescription());
    }

    // The tracks are already added. Throws Refused, or the error of fetch().
    async open() {
        await this.offer();
        const got = await fetch(this.url, {
            method: "POST", body: this.pc.localDescription.sdp, headers: { "Content-Type": "application/sdp" },
            credentials: "omit", cache: "no-store",
        }).catch(e => { throw new Error(`no answer from ${new URL(this.url).host}: ${e.message}`); });
        this.answer = await got.text();
        if (!got.ok)
            throw new Refused(got.status, this.answer);
        const place = got.headers.get("Location");
        this.place = place && new URL(place, got.url).href;
        if (this.over)
            return this.forget();
        window.addEventListener("pagehide", this.leave);
        await this.pc.setRemoteDescription({ type: "answer", sdp: this.answer });
        this.timer = setTimeout(() => this.wasUp || this.end(this.noWay()), PATIENCE);
        for (const t of this.pc.getTransceivers()) {
            const way = (t.sender ?? t.receiver).transport;
            way?.addEventListener("statechange", () => way.state === "closed" && this.end("the server ended the session"));
        }
    }

    // Returns what the server leaves out for this player, as a text; "" for nothing, or if the server does not report it.
    async leftOut() {
        const place = this.place && new URL(this.place);
        if (place?.searchParams.get("action") !== "delete") // not this kind of server
            return "";
        place.searchParams.set("action", "status");
        const got = await fetch(place, { credentials: "omit", cache: "no-store" });
        const { video_left_out: what } = got.ok ? await got.json() : {};
        return what ? `${what}; ${ADVICE}` : "";
    }

    // Ends the session; works while the page is closing, too.
    forget() {
        if (this.place)
            fetch(this.place, { method: "DELETE", keepalive: true, credentials: "omit" }).catch(() => { });
        this.place = null;
    }

    close() {
        this.over = true;
        clearTimeout(this.timer);
        window.removeEventListener("pagehide", this.leave);
        this.pc.close();
        this.forget();
    }
}

// Plays the session's media in `video`.
export function receive(rtc, video) {
    const media = new MediaStream();
    rtc.pc.addEventListener("track", e => media.addTrack(e.track));
    for (const kind of ["audio", "video"])
        rtc.pc.addTransceiver(kind, { direction: "recvonly" });
    video.srcObject = media;
    rtc.plays = true;
}

// Publishes `media`. `codec`: video codec such as "h264", or ""; kbps 0: as much as the network allows.
export async function send(rtc, media, codec, kbps) {
    for (const track of media.getTracks()) {
        const t = rtc.pc.addTransceiver(track, { direction: "sendonly", streams: [media] });
        if (track.kind === "video" && codec)
            prefer(t, codec);
    }
    await rtc.open();
    for (const sender of kbps ? rtc.pc.getSenders().filter(s => s.track?.kind === "video") : []) {
        const set = sender.getParameters();
        for (const e of set.encodings)
            e.maxBitrate = kbps * 1000;
        await sender.setParameters(set);
    }
}

// Returns the codecs that this browser can encode, such as "h264".
export function codecs() {
    const all = window.RTCRtpSender?.getCapabilities?.("video")?.codecs ?? [];
    return new Set(all.map(c => c.mimeType.toLowerCase().replace("video/", "")));
}

function prefer(transceiver, codec) {
    const all = RTCRtpSender.getCapabilities("video").codecs;
    const some = all.filter(c => ["video/rtx", `video/${codec}`].includes(c.mimeType.toLowerCase()));
    if (some.some(c => c.mimeType.toLowerCase() !== "video/rtx"))
        transceiver.setCodecPreferences(some);
}
