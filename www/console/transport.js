// SPDX-License-Identifier: MIT
// transport.js - describes the transport of a client: packets lost, retransmitted, late.

import { many } from "./format.js";
import { ADVICE } from "./rtc.js";

const roundTrip = ms => `round trip ${ms.toFixed(ms < 10 ? 1 : 0)} ms`;

// RTSP.
function ofRtp(c) {
    return [c.lost_packets && `${many(c.lost_packets, "packet")} lost`, c.jitter_ms >= 1 && `jitter ${Math.round(c.jitter_ms)} ms`];
}

function ofSrt({ srt: s, publish }) {
    const [latency, lost, again, late] = publish ?
        [s.msRcvTsbPdDelay, s.pktRcvLoss, s.pktRcvRetrans, s.pktRcvDrop] :
        [s.msSndTsbPdDelay, s.pktSndLoss, s.pktRetrans, s.pktSndDrop];
    return [`latency ${latency} ms`, roundTrip(s.msRTT), lost && `${many(lost, "packet")} lost`, again && `${again} retransmitted`,
        late && `${late} too late`, s.keyLength && `AES-${s.keyLength * 8}`];
}

function ofRtc({ rtc: r }) {
    if (r.state !== "connected")
        return [];
    return [roundTrip(r.rtt_ms), r.packets_lost && `${many(r.packets_lost, "packet")} lost`, r.packets_repeated && `${r.packets_repeated} retransmitted`,
        `${[r.video, r.audio].filter(Boolean).join(" + ")} over ${r.transport.toUpperCase()}`, r.video_left_out && `${r.video_left_out}; ${ADVICE}`];
}

function ofRtmfp({ rtmfp: r, publish }) {
    return [roundTrip(r.rtt_ms), r.fragments_again && `${r.fragments_again} retransmitted`,
        !publish && r.messages_abandoned && `${r.messages_abandoned} too late`, r.address_changes && "moved", r.hmac && "HMAC"];
}

export function transport(c) {
    return [...ofRtp(c), ...c.srt ? ofSrt(c) : [], ...c.rtc ? ofRtc(c) : [], ...c.rtmfp ? ofRtmfp(c) : []].filter(Boolean);
}
