// SPDX-License-Identifier: MIT
// rtc_stats.js - statistics of a WebRTC connection each second: codec, rate, latency, loss, freezes.

import { el, sync, text } from "./dom.js";
import { many, rate } from "./format.js";

const PERIOD = 1000, SERVER_PERIOD = 3000; // milliseconds between polls of the browser and of the server

const codecName = (all, s) => (all.get(s.codecId)?.mimeType.split("/")[1] ?? "").replace("opus", "Opus");
const ms = seconds => `${Math.round(seconds * 1000)} ms`;

export class RtcStats {
    constructor(pc) {
        this.pc = pc;
        this.before = new Map();
    }

    // Returns the increase of `key` since the last poll, or null.
    since(s, ...keys) {
        const old = this.before.get(s.id);
        return old ? keys.map(k => (s[k] ?? 0) - (old[k] ?? 0)) : null;
    }

    kbps(s, key) {
        const got = this.since(s, key, "timestamp");
        return got && got[1] > 0 ? got[0] * 8 / got[1] : null;
    }

    // Statistics of a received track: loss in percent since the last poll, delay from arrival to display.
    inbound(all, s) {
        const got = this.since(s, "packetsReceived", "packetsLost"), held = this.since(s, "totalProcessingDelay", "framesDecoded");
        const audio = this.since(s, "jitterBufferDelay", "jitterBufferEmittedCount");
        const wait = s.kind === "video" ? held : audio;
        return {
            codec: codecName(all, s), width: s.frameWidth, height: s.frameHeight, fps: s.framesPerSecond, kbps: this.kbps(s, "bytesReceived"),
            lost: Math.max(0, s.packetsLost ?? 0), loss: got && got[0] + got[1] > 0 ? Math.max(0, 100 * got[1] / (got[0] + got[1])) : 0,
            wait: wait && wait[1] > 0 ? wait[0] / wait[1] : null, freezes: s.freezeCount ?? 0, frozen: s.totalFreezesDuration ?? 0,
            frames: s.framesDecoded ?? 0, moves: !held || held[1] > 0, dropped: s.framesDropped ?? 0,
        };
    }

    outbound(all, s) {
        const told = [...all.values()].find(r => r.type === "remote-inbound-rtp" && r.localId === s.id);
        return {
            codec: codecName(all, s), width: s.frameWidth, height: s.frameHeight, fps: s.framesPerSecond, kbps: this.kbps(s, "bytesSent"),
            lost: Math.max(0, told?.packetsLost ?? 0), loss: 100 * (told?.fractionLost ?? 0), limited: s.qualityLimitationReason,
            again: s.retransmittedPacketsSent ?? 0, keys: s.keyFramesEncoded ?? 0,
        };
    }

    // Returns { video, audio, rtt, way }; video and audio may be null.
    async read() {
        const all = await this.pc.getStats(), found = { video: null, audio: null, rtt: null, way: "" };
        for (const s of all.values()) {
            if (s.type === "inbound-rtp")
                found[s.kind] = this.inbound(all, s);
            else if (s.type === "outbound-rtp")
                found[s.kind] = this.outbound(all, s);
            else if (s.type === "candidate-pair" && s.nominated && s.state === "succeeded") {
                const to = all.get(s.remoteCandidateId);
                found.rtt = s.currentRoundTripTime ?? null;
                found.way = to ? `${to.protocol.toUpperCase()} ${to.address ?? "?"}:${to.port}` : "";
            }
        }
        this.before = new Map([...all.values()].map(s => [s.id, s]));
        return found;
    }
}

// Approximate time from the network to the display, as far as this end can know it.
export const delay = ({ video, audio, rtt }) => {
    const wait = video?.wait ?? audio?.wait;
    return wait === null || wait === undefined ? null : wait + (rtt ?? 0) / 2;
};

export const lossText = r => `${r.loss.toFixed(r.loss > 0 && r.loss < 10 ? 1 : 0)} %`;

// One short line.
export function line(found) {
    const { video: v, audio: a } = found, one = v ?? a, late = delay(found);
    if (!one || one.kbps === null)
        return "";
    return [v?.width && `${v.width}×${v.height}`, [v?.codec, a?.codec].filter(Boolean).join(" + "),
        v?.fps !== undefined && `${Math.round(v.fps)} fps`, late !== null && `delay ${ms(late)}`, `${lossText(one)} lost`,
        v?.freezes ? many(v.freezes, "freeze") : "", found.leftOut].filter(Boolean).join(", ");
}

function rows(found) {
    const { video: v, audio: a, rtt, way } = found, late = delay(found), list = [];
    const add = (name, value) => value && list.push([name, value]);
    if (v) {
        add("Video", [v.codec, v.width && `${v.width}×${v.height}`, v.fps !== undefined && `${Math.round(v.fps)} fps`].filter(Boolean).join(", "));
        add("Video rate", v.kbps === null ? "" : rate(v.kbps));
    }
    if (a)
        add("Audio", [a.codec, a.kbps === null ? "" : rate(a.kbps)].filter(Boolean).join(", "));
    add("Local latency", late === null ? "" : ms(late));
    add("Round trip", rtt === null ? "" : ms(rtt));
    if (v ?? a)
        add("Lost", `${lossText(v ?? a)}, ${many((v?.lost ?? 0) + (a?.lost ?? 0), "packet")} in total`);
    if (v?.freezes !== undefined)
        add("Freezes", v.freezes ? `${v.freezes}, ${v.frozen.toFixed(1)} s in total` : "none");
    if (v?.again !== undefined)
        add("Retransmitted", many(v.again, "packet"));
    if (v?.limited && v.limited !== "none")
        add("Limited by", v.limited === "cpu" ? "this computer" : v.limited === "bandwidth" ? "the network" : v.limited);
    add("Transport", way);
    add("Left out", found.leftOut);
    return list;
}

// Calls tell(found) each second until the returned function is called. Shows all values in `box`, a <dl>, if given.
// found.leftOut is what the server leaves out; `rtc` polls it every few seconds once media flow.
export function watch(rtc, tell, box = null) {
    const { pc } = rtc, stats = new RtcStats(pc);
    let leftOut = "";
    const ask = async () => {
        if (rtc.plays && pc.connectionState === "connected")
            leftOut = await rtc.leftOut().catch(() => "");
    };
    const look = async () => {
        const found = await stats.read().catch(() => null);
        if (!found || pc.connectionState === "closed")
            return;
        found.leftOut = leftOut;
        if (box)
            sync(box, rows(found), r => r[0], r => el("div", {}, el("dt", {}, r[0]), el("dd")), (e, r) => text(e.lastChild, r[1]));
        tell(found);
    };
    const timers = [setInterval(look, PERIOD), setInterval(ask, SERVER_PERIOD)];
    void look();
    return () => {
        timers.forEach(clearInterval);
        box?.replaceChildren();
    };
}
