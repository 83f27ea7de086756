// SPDX-License-Identifier: MIT
// rtc.js - a session of WebRTC with a server that speaks WHIP and WHEP: an offer by POST, its end by DELETE.
//
// The offer has no candidates: such servers answer to wherever the browser's checks come from.

const PATIENCE = 10000; // milliseconds until media have a way
export const ADVICE = "set the encoder to 0 B-frames";

const WHY = {
    400: "the server cannot take what this browser offers",
    401: "the server does not let you: a token or a rule of it",
    403: "WebRTC is off for that stream: rtc_server, and rtc of its vhost, in the configuration",
    404: "there is no such stream, or this server does not speak WebRTC",
    405: "this server does not speak WebRTC there",
    409: "the stream has another publisher already",
    415: "the server wants another kind of offer",
    429: "too many requests: wait a moment",
    503: "the server has no room for one more now: try again in a moment",
};

export class Refused extends Error {
    constructor(status, body) {
        const said = body.trim().split("\n").slice(0, 2).join(", ").slice(0, 300);
        super(`${WHY[status] ?? `the server answers ${status}`}${said && !said.startsWith("<") ? ` (${said})` : ""}`);
        this.status = status;
    }
}

export class Rtc {
    // fail(why): it ended without being asked to, or never began.
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
            this.end(this.wasUp ? "the way of the media broke" : this.noWay());
        this.wasUp ||= state === "connected";
    }

    noWay() {
        const places = [...this.answer.matchAll(/^a=candidate:\S+ 1 (\w+) \d+ (\S+) (\d+)/gm)];
        const list = places.map(([, kind, host, port]) => `${kind.toUpperCase()} ${host}:${port}`).join(", ");
        return `no answer from ${list || "the server, which names no address"}: the server's candidate must be an ` +
            "address that this browser reaches, and its port open in firewalls";
    }

    end(why) {
        if (this.over)
            return;
        this.close();
        this.fail(why);
    }

    // A browser that only plays knows no round trip, and asks late again for what is lost, but for this line of the
    // offer: then it tells its clock (RFC 3611), and servers that know that answer.
    async offer() {
        const { type, sdp } = await this.pc.createOffer();
        const more = sdp.replace(/^a=rtpmap:(\d+) (H26[45]|AV1|VP[89]|opus)\/.*$/gm, "$&\na=rtcp-fb:$1 rrtr");
        await this.pc.setLocalDescription({ type, sdp: this.plays ? more : sdp }).catch(() => this.pc.setLocalDescription());
    }

    // Tracks were added before. Throws Refused, or what fetch() throws.
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
            way?.addEventListener("statechange", () => way.state === "closed" && this.end("the server has ended it"));
        }
    }

    // What the server leaves out of the stream for this player, in words; "" if nothing, or if the server does not tell.
    async leftOut() {
        const place = this.place && new URL(this.place);
        if (place?.searchParams.get("action") !== "delete") // a server of another kind
            return "";
        place.searchParams.set("action", "status");
        const got = await fetch(place, { credentials: "omit", cache: "no-store" });
        const { video_left_out: what } = got.ok ? await got.json() : {};
        return what ? `${what}; ${ADVICE}` : "";
    }

    // It is told now; after this page has gone, too.
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

// To play: what comes is in `video`.
export function receive(rtc, video) {
    const media = new MediaStream();
    rtc.pc.addEventListener("track", e => media.addTrack(e.track));
    for (const kind of ["audio", "video"])
        rtc.pc.addTransceiver(kind, { direction: "recvonly" });
    video.srcObject = media;
    rtc.plays = true;
}

// To publish. `codec`: "" or that of the pictures, as "h264"; kbps 0: as much as the network takes.
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

// What this browser can encode, "h264" and so on.
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
