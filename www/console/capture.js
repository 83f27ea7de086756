// SPDX-License-Identifier: MIT
// capture.js - captures the user's camera, microphone and screen.

import { el, sync } from "./dom.js";

const WHY = {
    NotAllowedError: "the browser has no permission: see the icon next to its address bar",
    NotFoundError: "the requested camera or microphone does not exist",
    NotReadableError: "another program uses the camera or the microphone",
    OverconstrainedError: "the camera does not support this size",
    AbortError: "nothing was selected",
};

// Returns why the browser cannot capture here, or "".
export function missing() {
    if (!window.isSecureContext)
        return "Browsers give camera, microphone and screen only to pages of HTTPS or of localhost: open this page over HTTPS, " +
            "with conf/https.rtc.conf, or as localhost.";
    return navigator.mediaDevices?.getUserMedia && window.RTCPeerConnection ? "" : "This browser does not support WebRTC, so it cannot publish.";
}

// `from`: camera, screen, both (screen and microphone), audio.
export async function capture({ from, camera, microphone, width, height, fps }) {
    const size = { width: { ideal: width }, height: { ideal: height }, frameRate: { ideal: fps } };
    const audio = microphone ? { deviceId: { exact: microphone } } : true;
    const video = camera ? { ...size, deviceId: { exact: camera } } : size;
    const devices = navigator.mediaDevices;
    try {
        if (from === "camera" || from === "audio")
            return await devices.getUserMedia({ audio, video: from === "camera" && video });
        const media = await devices.getDisplayMedia({ video: size, audio: from === "screen" });
        if (from === "both")
            (await devices.getUserMedia({ audio })).getTracks().forEach(t => media.addTrack(t));
        return media;
    } catch (e) {
        throw new Error(WHY[e.name] ?? e.message);
    }
}

// Lists the devices to choose from. The browser hides their names until the user allows one of them.
export async function offer(select, label, kind) {
    const all = (await navigator.mediaDevices.enumerateDevices()).filter(d => d.kind === kind && d.deviceId);
    sync(select, all, d => d.deviceId, d => el("option", { value: d.deviceId }), (e, d) => { e.textContent = d.label || "unnamed"; });
    label.hidden = all.length < 2;
}
