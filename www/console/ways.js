// SPDX-License-Identifier: MIT
// ways.js - addresses to play a stream and to publish to.

export const DEFAULT = "__defaultVhost__";

// An application may have several parts separated by slashes.
export const escape = name => name.split("/").map(encodeURIComponent).join("/");

// Turns "[vhost]/[app]/[stream].flv" into an address for this browser.
function address(mount, port, vhost, s) {
    const names = { vhost: location.hostname, app: s.app, stream: s.name };
    const [host, ...path] = mount.split("/");
    const fill = (x, code) => x.replace(/\[(vhost|app|stream)\]/g, (_, k) => code(names[k]));
    const where = fill(host, x => x) || location.hostname;
    return `${location.protocol}//${where}:${port}/${path.map(p => fill(p, escape)).join("/")}${queryOf(vhost)}`;
}

// "/rtc/v1/whep/?app=..." on this page's server. Streams of other publishers have it only with rtmp_to_rtc.
function whep(way, vhost, s) {
    const query = new URLSearchParams({ app: s.app, stream: s.name });
    if (vhost !== DEFAULT)
        query.set("vhost", vhost);
    return way?.rtc && (way.rtmp_to_rtc || s.publish.type === "rtc-publish") ? `${location.origin}/rtc/v1/whep/?${query}` : null;
}

// Returns [kind, label, address] rows, the most compatible with video and audio first. `ways`: the vhosts' mounts from the API.
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

// ---- addresses for programs

const port = (n, usual) => n && n !== usual ? `:${n}` : "";
const wayOf = (ways, vhost) => ways?.vhosts.find(w => w.name === vhost);
const queryOf = vhost => vhost === DEFAULT ? "" : `?vhost=${encodeURIComponent(vhost)}`;

// "rtmp://server/app", without the default port.
export function rtmp(n, app, schema = "rtmp", usual = 1935) {
    return `${schema}://${location.hostname}${port(n, usual)}/${app}`;
}

const rtsp = (n, app, name) => `rtsp://${location.hostname}${port(n, 554)}/${escape(app)}/${escape(name)}`;
const rtmfp = (n, app, name) => `rtmfp://${location.hostname}${port(n, 1935)}/${escape(app)}/${escape(name)}`;
const srt = (n, vhost, app, name, mode) =>
    `srt://${location.hostname}:${n}?streamid=#!::${vhost === DEFAULT ? "" : `h=${vhost},`}r=${app}/${name},m=${mode}`;
const whip = (vhost, app, name) => `${location.origin}/rtc/v1/whip/?` +
    new URLSearchParams({ app, stream: name, ...vhost === DEFAULT ? {} : { vhost } });

const USES = {
    fmp4: ["fMP4", "web pages, with our player"], flv: ["HTTP-FLV", "VLC, ffplay, pages with mpegts.js"], rtc: ["WebRTC (WHEP)", "pages and OBS, with the lowest latency"],
    hls: ["HLS", "phones, TVs and CDNs; some segments behind"], dash: ["MPEG-DASH", "TVs and CDNs"], vod: ["HTTP-FLV", "pages, from any position in the file"],
};

// Returns [protocol, use, address] for all protocols that play the stream.
export function addresses(ways, vhost, s) {
    const way = wayOf(ways, vhost), { app, name } = s, query = queryOf(vhost);
    return [
        ["RTMP", "VLC, ffplay, other servers", `${rtmp(ways?.rtmp, app)}/${name}${query}`],
        ...playable(ways, vhost, s).map(([kind, , url]) => [...USES[kind] ?? [kind, ""], url]),
        ...way?.rtsp && ways.rtsp ? [["RTSP", "VLC, camera recorders", rtsp(ways.rtsp, app, name) + query]] : [],
        ...way?.srt && ways.srt && !s.vod ? [["SRT", "VLC, other servers, lossy networks", srt(ways.srt, vhost, app, name, "request")]] : [],
        ...way?.rtmfp && ways.rtmfp && !s.vod ? [["RTMFP", "Flash's protocol over UDP", rtmfp(ways.rtmfp, app, name) + query]] : [],
    ];
}

// Returns the open ports for streams of a vhost, in the form of publishing().
export function portsOf(ways, vhost) {
    const way = wayOf(ways, vhost);
    const on = key => way?.[key] ? ways[key] : 0;
    return { rtmp: ways?.rtmp, rtmps: ways?.rtmps, srt: on("srt"), rtsp: on("rtsp"), rtmfp: on("rtmfp"), rtc: Boolean(way?.rtc) };
}

// Returns [use, address] for all protocols that publish a stream. `ports`: the open ports, and whether WebRTC is on.
export function publishing(ports, app, name, vhost = DEFAULT) {
    const query = queryOf(vhost), server = rtmp(ports.rtmp, app);
    return [
        ["OBS: Settings, Stream, Service Custom, Server", server],
        ["Stream Key", name + query],
        ["ffmpeg, with the sample file of the server", ffmpeg(server, name + query)],
        ...ports.rtmps ? [["RTMPS, encrypted: the same with this Server", rtmp(ports.rtmps, app, "rtmps", 443)]] : [],
        ...ports.srt ? [["SRT, for lossy networks: in OBS enter it as Server, with an empty key", srt(ports.srt, vhost, app, name, "publish")]] : [],
        ...ports.rtc ? [["WebRTC: OBS 30 or newer, Service WHIP, Server", whip(vhost, app, name)]] : [],
        ...ports.rtsp ? [["RTSP: ffmpeg -f rtsp, cameras that push", rtsp(ports.rtsp, app, name) + query]] : [],
        ...ports.rtmfp ? [["RTMFP, Flash's protocol over UDP", rtmfp(ports.rtmfp, app, name) + query]] : [],
    ];
}

export const ffmpeg = (server, key) => `ffmpeg -re -stream_loop -1 -i doc/source.flv -c copy -f flv ${server}/${key}`;
