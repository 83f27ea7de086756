// SPDX-License-Identifier: MIT
// ways.js - by what addresses a stream is played, and where it is published to.

export const DEFAULT = "__defaultVhost__";

// An application may have several parts; any other letter is one of the name.
export const escape = name => name.split("/").map(encodeURIComponent).join("/");

// "[vhost]/[app]/[stream].flv" as an address that this browser can use.
function address(mount, port, vhost, s) {
    const names = { vhost: location.hostname, app: s.app, stream: s.name };
    const [host, ...path] = mount.split("/");
    const fill = (x, code) => x.replace(/\[(vhost|app|stream)\]/g, (_, k) => code(names[k]));
    const where = fill(host, x => x) || location.hostname;
    const query = vhost === DEFAULT ? "" : `?vhost=${encodeURIComponent(vhost)}`;
    return `${location.protocol}//${where}:${port}/${path.map(p => fill(p, escape)).join("/")}${query}`;
}

// "/rtc/v1/whep/?app=..." of where this page came from; a stream of another kind of publisher has it only if that is on.
function whep(way, vhost, s) {
    const query = new URLSearchParams({ app: s.app, stream: s.name });
    if (vhost !== DEFAULT)
        query.set("vhost", vhost);
    return way?.rtc && (way.rtmp_to_rtc || s.publish.type === "rtc-publish") ? `${location.origin}/rtc/v1/whep/?${query}` : null;
}

// [kind, label, address], for the one first that most browsers play with picture and sound. `ways` is what the API tells of the vhosts.
export function playable(ways, vhost, s) {
    const way = ways?.vhosts.find(w => w.name === vhost);
    const port = location.protocol === "https:" ? ways?.https : ways?.http;
    const file = mount => address("[vhost]/" + mount.replace(/^\//, ""), port, way.name, s);
    const all = [];
    if (s.vod)
        return way && port && way.flv ? [["vod", "FLV", address(way.flv, port, way.name, s)]] : [];
    const url = whep(way, vhost, s), isRtc = s.publish.type === "rtc-publish";
    const http = way && port && (!isRtc || way.rtc_to_rtmp);
    if (http && way.fmp4)
        all.push(["fmp4", "MP4", address(way.fmp4, port, way.name, s)]);
    if (http && way.flv)
        all.push(["flv", "FLV", address(way.flv, port, way.name, s)]);
    if (url)
        all[isRtc ? "unshift" : "push"](["rtc", "WebRTC", url]);
    if (http && way.hls)
        all.push(["hls", "HLS", file(way.hls)]);
    if (http && way.dash)
        all.push(["dash", "DASH", file(way.dash)]);
    return all;
}

// "rtmfp://server/app/stream", or null where there is none.
export function rtmfp(ways, vhost, s) {
    if (!ways?.rtmfp || s.vod || !ways.vhosts.find(w => w.name === vhost)?.rtmfp)
        return null;
    const query = vhost === DEFAULT ? "" : `?vhost=${encodeURIComponent(vhost)}`;
    return `rtmfp://${location.hostname}${ways.rtmfp !== 1935 ? `:${ways.rtmfp}` : ""}/${escape(s.app)}/${escape(s.name)}${query}`;
}

// "rtmp://server/app"; without its port where it is the usual one.
export function rtmp(port, app) {
    return `rtmp://${location.hostname}${port && port !== 1935 ? `:${port}` : ""}/${app}`;
}

// "rtsp://server/app/stream", or null where there is none.
export function rtsp(ways, vhost, s) {
    if (!ways?.rtsp || !ways.vhosts.find(w => w.name === vhost)?.rtsp)
        return null;
    const query = vhost === DEFAULT ? "" : `?vhost=${encodeURIComponent(vhost)}`;
    return `rtsp://${location.hostname}${ways.rtsp !== 554 ? `:${ways.rtsp}` : ""}/${escape(s.app)}/${escape(s.name)}${query}`;
}

// "srt://server:10080?streamid=...", or null where there is none.
export function srt(ways, vhost, s) {
    if (!ways?.srt || s.vod || !ways.vhosts.find(w => w.name === vhost)?.srt)
        return null;
    const host = vhost === DEFAULT ? "" : `h=${vhost},`;
    return `srt://${location.hostname}:${ways.srt}?streamid=#!::${host}r=${s.app}/${s.name},m=request`;
}

export const ffmpeg = (server, key) => `ffmpeg -re -stream_loop -1 -i doc/source.flv -c copy -f flv ${server}/${key}`;
