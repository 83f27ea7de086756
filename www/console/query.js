// SPDX-License-Identifier: MIT
// query.js - parses the parameters of a player page: app, stream, server, port, vhost, schema, autostart, under the names
// that users have bookmarked. All others, such as tokens, are passed on with the stream's address. WebRTC also has
// api (where offers go: a port or an address), eip, codec and further parameters of WHIP and WHEP.

import { DEFAULT, escape } from "./ways.js";

const OURS = new Set(["app", "stream", "server", "port", "vhost", "schema", "autostart", "url", "api", "path", "buffer",
    "codec", "dir", "filename", "host", "hostname", "http_port", "pathname"]);
const KINDS = { flv: "flv", ts: "ts", m3u8: "hls", mpd: "dash", mp4: "mp4", m4a: "file", webm: "file", mp3: "file", aac: "file" };
const PLAIN = /^(http|ws)s?$/;

// Endings to try for a path without a known one, in the order of latency.
const ENDINGS = [["fmp4", "mp4"], ["flv", "flv"], ["hls", "m3u8"], ["dash", "mpd"]];

// Names of files that the server plays (VOD).
const FILE = /\.(mp4|m4v|mov|fmp4|flv)\.flv$/i;

const kindOf = path => FILE.test(path) ? "vod" : KINDS[/\.(\w+)$/.exec(path)?.[1].toLowerCase()];

// The parameters of OURS that offers need.
const OFFERS = new Set(["codec"]);
const WHEP = /\/(whep|whip-play)(\/|$)/;

// Returns the server's address as a URL without a path. For protocols that browsers do not play this is the HTTP port
// of this page.
function origin(schema, server, port, usual = ["8080", "8088"]) {
    const tls = location.protocol === "https:", here = server === location.hostname || server === location.host;
    if (!PLAIN.test(schema) || port === "1935") {
        schema = location.protocol.slice(0, -1);
        port = "";
        server = server.replace(/:\d+$/, "");
    }
    if (here && tls && !schema.endsWith("s")) { // an https page may request only https
        schema += "s";
        port = location.port;
    }
    const u = new URL(`${schema}://${server}`);
    if (u.pathname !== "/" || u.search || u.hash || u.username)
        throw new Error(`${server} is not a server's address`);
    if (port)
        u.port = port;
    else if (here)
        u.port = location.port;
    else if (!u.port)
        u.port = usual[Number(schema.endsWith("s"))];
    return u;
}

function ways(base, path, query) {
    const known = kindOf(path);
    const all = known ? [[known, ""]] : ENDINGS.map(([kind, end]) => [kind, `.${end}`]);
    return all.map(([kind, end]) => {
        const u = new URL(base);
        u.pathname = escape(path) + end;
        u.search = query;
        return [kind, kind, u.href];
    });
}

// Returns the address for offers. `what` is whip or whep. The port is that of this page, for other servers that of the API.
function offers(what, { schema, server, port, api, app, stream, query }) {
    const base = /^https?:/.test(api) ? new URL(api) : origin(schema, server, api || port, ["1985", "443"]);
    const u = new URL(`/rtc/v1/${what}/`, base);
    u.search = new URLSearchParams([["app", app], ["stream", stream], ...query]);
    return u.href;
}

// "webrtc://server/app/stream?a=b"
function ofWebrtc(what, text) {
    const [, server, port, app, stream, query] = /^\w+:\/\/([^/:]+|\[[^\]]+\])(?::(\d+))?\/(.+)\/([^/?#]+)(\?[^#]*)?$/.exec(text) ?? [];
    if (!server)
        throw new Error("a WebRTC address looks like webrtc://server/live/livestream");
    return offers(what, {
        schema: location.protocol.slice(0, -1), server, port: port ?? "", app: decodeURIComponent(app), stream: decodeURIComponent(stream),
        query: new URLSearchParams(query),
    });
}

// Returns the address for offers of a stream's address. `what` is whip or whep.
export function placeOf(what, text) {
    const plain = text.trim();
    return /^https?:/.test(plain) ? new URL(plain).href : ofWebrtc(what, plain);
}

// Returns { ways: [[kind, label, address]], foreign: the requested protocol if browsers do not play it, or "" }.
export function ofAddress(text) {
    const [, schema, server, path, query] = /^(\w+):\/\/([^/]+)(\/[^?#]*)(\?[^#]*)?/.exec(text.trim()) ?? [];
    if (!schema)
        throw new Error("an address looks like http://server:8080/live/livestream.flv");
    if (schema === "webrtc" || PLAIN.test(schema) && WHEP.test(path))
        return { ways: [["rtc", "rtc", placeOf("whep", text)]], foreign: "" };
    const plain = PLAIN.test(schema), base = plain ? new URL(`${schema}://${server}`) : origin(schema, server.replace(/:\d+$/, ""), "");
    return { ways: ways(base, decodeURI(path), query ?? ""), foreign: plain ? "" : schema.toUpperCase() };
}

// The parts of both kinds of addresses.
function parts(params) {
    const given = (name, otherwise) => params.get(name) || otherwise;
    const server = given("server", location.hostname), vhost = given("vhost", server);
    const schema = given("schema", location.protocol.slice(0, -1)).toLowerCase().replace(/:$/, "");
    const [stream, tail] = given("stream", "livestream").split("?", 2);
    const query = new URLSearchParams(tail);
    if (vhost !== server && vhost !== DEFAULT)
        query.set("vhost", vhost);
    for (const [k, v] of params)
        if (!OURS.has(k))
            query.append(k, v);
    return { server, schema, stream, query, port: given("port", ""), api: given("api", ""), app: given("app", "live").replace(/^\/+|\/+$/g, "") };
}

// Returns where a page sends its offers. `what` is whip or whep.
export function offersOfQuery(params, what) {
    const url = params.get("url"), all = parts(params);
    if (url)
        return placeOf(what, url);
    for (const [k, v] of params)
        if (OFFERS.has(k))
            all.query.append(k, v);
    return offers(what, { ...all, schema: PLAIN.test(all.schema) ? all.schema.replace(/^ws/, "http") : location.protocol.slice(0, -1) });
}

export function ofQuery(params) {
    if (params.get("url"))
        return ofAddress(params.get("url"));
    const { server, schema, stream, query, port, app } = parts(params);
    if (schema === "webrtc")
        return { ways: [["rtc", "rtc", offersOfQuery(params, "whep")]], foreign: "" };
    const base = origin(schema, server, port);
    const foreign = !PLAIN.test(schema) ? schema.toUpperCase() : port === "1935" ? "RTMP" : "";
    return { ways: ways(base, `/${app}/${stream}`, String(query)), foreign };
}
