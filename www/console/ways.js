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
    return `${location.protocol}//${where}:${port}/${path.map(p => fill(p, escape)).join("/")}${queryOf(vhost)}`;
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

// ---- addresses for programs

const port = (n, usual) => n && n !== usual ? `:${n}` : "";
const wayOf = (ways, vhost) => ways?.vhosts.find(w => w.name === vhost);
const queryOf = vhost => vhost === DEFAULT ? "" : `?vhost=${encodeURIComponent(vhost)}`;

// "rtmp://server/app"; without its port where it is the usual one.
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
    fmp4: ["fMP4", "pages, by our own player"], flv: ["HTTP-FLV", "VLC, ffplay, pages with mpegts.js"], rtc: ["WebRTC (WHEP)", "pages and OBS, with the least delay"],
    hls: ["HLS", "phones, TVs and CDNs; some segments behind"], dash: ["MPEG-DASH", "TVs and CDNs"], vod: ["HTTP-FLV", "pages, from any place in the file"],
};

// [protocol, what it is for, address] of all by which the stream is played.
export function addresses(ways, vhost, s) {
    const way = wayOf(ways, vhost), { app, name } = s, query = queryOf(vhost);
    return [
        ["RTMP", "VLC, ffplay, other servers", `${rtmp(ways?.rtmp, app)}/${name}${query}`],
        ...playable(ways, vhost, s).map(([kind, , url]) => [...USES[kind] ?? [kind, ""], url]),
        ...way?.rtsp && ways.rtsp ? [["RTSP", "VLC, recorders of cameras", rtsp(ways.rtsp, app, name) + query]] : [],
        ...way?.srt && ways.srt && !s.vod ? [["SRT", "VLC, other servers, over networks that lose packets", srt(ways.srt, vhost, app, name, "request")]] : [],
        ...way?.rtmfp && ways.rtmfp && !s.vod ? [["RTMFP", "Flash's protocol over UDP", rtmfp(ways.rtmfp, app, name) + query]] : [],
    ];
}

// The ports that are on for streams of that vhost, as publishing() wants them.
export function portsOf(ways, vhost) {
    const way = wayOf(ways, vhost);
    const on = key => way?.[key] ? ways[key] : 0;
    return { rtmp: ways?.rtmp, rtmps: ways?.rtmps, srt: on("srt"), rtsp: on("rtsp"), rtmfp: on("rtmfp"), rtc: Boolean(way?.rtc) };
}

// [what it is for, address] of all by which a stream is published; `ports` has those that are on, and whether WebRTC is.
export function publishing(ports, app, name, vhost = DEFAULT) {
    const query = queryOf(vhost), server = rtmp(ports.rtmp, app);
    return [
        ["OBS: Settings, Stream, Service Custom, Server", server],
        ["Stream Key", name + query],
        ["ffmpeg, with a file that comes with the server", ffmpeg(server, name + query)],
        ...ports.rtmps ? [["RTMPS, encrypted: the same with this Server", rtmp(ports.rtmps, app, "rtmps", 443)]] : [],
        ...ports.srt ? [["SRT, over networks that lose packets: OBS takes it as Server, with an empty key", srt(ports.srt, vhost, app, name, "publish")]] : [],
        ...ports.rtc ? [["WebRTC: OBS 30 or newer, Service WHIP, Server", whip(vhost, app, name)]] : [],
        ...ports.rtsp ? [["RTSP: ffmpeg -f rtsp, cameras that push", rtsp(ports.rtsp, app, name) + query]] : [],
        ...ports.rtmfp ? [["RTMFP, Flash's protocol over UDP", rtmfp(ports.rtmfp, app, name) + query]] : [],
    ];
}

export const ffmpeg = (server, key) => `ffmpeg -re -stream_loop -1 -i doc/source.flv -c copy -f flv ${server}/${key}`;
