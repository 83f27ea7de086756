// SPDX-License-Identifier: MIT
// capture.js - camera, microphone and screen of whoever looks at the page.

import { el, sync } from "./dom.js";

const WHY = {
    NotAllowedError: "the browser was not allowed to: look at the sign beside its address",
    NotFoundError: "there is no camera or microphone such as that was asked for",
    NotReadableError: "another program has the camera or the microphone",
    OverconstrainedError: "the camera cannot do that size",
    AbortError: "that was not chosen",
};

// Why there is none here, or "".
export function missing() {
    if (!window.isSecureContext)
        return "Browsers give camera, microphone and screen only to pages of HTTPS, or of the machine itself: open this one by HTTPS, " +
            "with conf/https.rtc.conf, or as localhost.";
    return navigator.mediaDevices?.getUserMedia && window.RTCPeerConnection ? "" : "This browser has no WebRTC, so it cannot publish.";
}

// `from`: camera, screen, both (screen and microphone), sound.
export async function capture({ from, camera, microphone, width, height, fps }) {
    const size = { width: { ideal: width }, height: { ideal: height }, frameRate: { ideal: fps } };
    const audio = microphone ? { deviceId: { exact: microphone } } : true;
    const video = camera ? { ...size, deviceId: { exact: camera } } : size;
    const devices = navigator.mediaDevices;
    try {
        if (from === "camera" || from === "sound")
            return await devices.getUserMedia({ audio, video: from === "camera" && video });
        const media = await devices.getDisplayMedia({ video: size, audio: from === "screen" });
        if (from === "both")
            (await devices.getUserMedia({ audio })).getTracks().forEach(t => media.addTrack(t));
        return media;
    } catch (e) {
        throw new Error(WHY[e.name] ?? e.message);
    }
}

// What there is to choose from; their names are told once one of them was allowed.
export async function offer(select, label, kind) {
    const all = (await navigator.mediaDevices.enumerateDevices()).filter(d => d.kind === kind && d.deviceId);
    sync(select, all, d => d.deviceId, d => el("option", { value: d.deviceId }), (e, d) => { e.textContent = d.label || "unnamed"; });
    label.hidden = all.length < 2;
}
