// SPDX-License-Identifier: MIT
// decodes.js - checks whether this browser can decode a stream, from its codecs in the API.

import { cannotDecode, codecName } from "./words.js";

// By the names in the API. No browser supports other codecs.
const TYPES = {
    H264: 'video/mp4; codecs="avc1.64001f"', HEVC: 'video/mp4; codecs="hvc1.1.6.L93.B0"', AV1: 'video/mp4; codecs="av01.0.05M.08"',
    VP9: 'video/mp4; codecs="vp09.00.10.08"', VP8: 'video/webm; codecs="vp8"', AAC: 'audio/mp4; codecs="mp4a.40.2"', MP3: "audio/mpeg",
    Opus: 'audio/mp4; codecs="opus"', FLAC: 'audio/mp4; codecs="flac"', AC3: 'audio/mp4; codecs="ac-3"', EAC3: 'audio/mp4; codecs="ec-3"',
};
const OF_RTC = { HEVC: "video/h265", H264: "video/h264" };

function byRtc(codec) {
    const all = window.RTCRtpReceiver?.getCapabilities?.("video")?.codecs;
    const mime = OF_RTC[codec] ?? `video/${codec.toLowerCase()}`;
    return !all || all.some(c => c.mimeType.toLowerCase() === mime);
}

function bySource(codec) {
    const source = window.ManagedMediaSource ?? window.MediaSource;
    if (!TYPES[codec])
        return false;
    return source ? source.isTypeSupported(TYPES[codec]) : document.createElement("video").canPlayType(TYPES[codec]) !== "";
}

// Returns a sentence about the codec that cannot be decoded, or null. For WebRTC the server converts audio.
export function undecodable(kind, { video, audio }) {
    if (video && !(kind === "rtc" ? byRtc : bySource)(video.codec))
        return cannotDecode(codecName(video.codec) ?? video.codec);
    if (audio && kind !== "rtc" && !bySource(audio.codec))
        return cannotDecode(codecName(audio.codec) ?? audio.codec);
    return null;
}
