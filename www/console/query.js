// SPDX-License-Identifier: MIT
// query.js - what the parameters of a player's page name: app, stream, server, port, vhost, schema, autostart,
// as users of such pages have bookmarked them; all others, tokens among them, go along to the stream. Of WebRTC
// api (where offers go: a port or an address), eip, codec and what else WHIP and WHEP take.

import { DEFAULT, escape } from "./ways.js";

const OURS = new Set(["app", "stream", "server", "port", "vhost", "schema", "autostart", "url", "api", "path", "buffer",
    "codec", "dir", "filename", "host", "hostname", "http_port", "pathname"]);
const KINDS = { flv: "flv", ts: "ts", m3u8: "hls", mpd: "dash", mp4: "mp4", m4a: "file", webm: "file", mp3: "file", aac: "file" };
const PLAIN = /^(http|ws)s?$/;

// A path without an ending that we know: any of them, in the order of their latency.
const ENDINGS = [["fmp4", "mp4"], ["flv", "flv"], ["hls", "m3u8"], ["dash", "mpd"]];

// As the server knows files that it plays.
const FILE = /\.(mp4|m4v|mov|fmp4|flv)\.flv$/i;

const kindOf = path => FILE.test(path) ? "vod" : KINDS[/\.(\w+)$/.exec(path)?.[1].toLowerCase()];

// Of those, what offers take.
const OFFERS = new Set(["codec"]);
const WHEP = /\/(whep|whip-play)(\/|$)/;

// The address of the server, as a URL without a path. What no browser plays is looked for where this
// page comes from: the same server's HTTP.
function origin(schema, server, port, usual = ["8080", "8088"]) {
    const tls = location.protocol === "https:", here = server === location.hostname || server === location.host;
    if (!PLAIN.test(schema) || port === "1935") {
        schema = location.protocol.slice(0, -1);
        port = "";
        server = server.replace(/:\d+$/, "");
    }
    if (here && tls && !schema.endsWith("s")) { // a page that came by https may ask for nothing else
        schema += "s";
        port = location.port;
    }
    const u = new URL(`${schema}://${server}`);
    if (u.pathname !== "/" || u.search || u.hash || u.username)
        throw new Error(`${server} is no server`);
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

// Where offers go: to `what`, whip or whep, at the port of this page, else where servers have their API.
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
        throw new Error("an address of WebRTC looks like webrtc://server/live/livestream");
    return offers(what, {
        schema: location.protocol.slice(0, -1), server, port: port ?? "", app: decodeURIComponent(app), stream: decodeURIComponent(stream),
        query: new URLSearchParams(query),
    });
}

// Where an address leads whose offers go to `what`.
export function placeOf(what, text) {
    const plain = text.trim();
    return /^https?:/.test(plain) ? new URL(plain).href : ofWebrtc(what, plain);
}

// Gives { ways: [[kind, label, address]], foreign: what was asked for and no browser plays, or "" }.
export function ofAddress(text) {
    const [, schema, server, path, query] = /^(\w+):\/\/([^/]+)(\/[^?#]*)(\?[^#]*)?/.exec(text.trim()) ?? [];
    if (!schema)
        throw new Error("an address looks like http://server:8080/live/livestream.flv");
    if (schema === "webrtc" || PLAIN.test(schema) && WHEP.test(path))
        return { ways: [["rtc", "rtc", placeOf("whep", text)]], foreign: "" };
    const plain = PLAIN.test(schema), base = plain ? new URL(`${schema}://${server}`) : origin(schema, server.replace(/:\d+$/, ""), "");
    return { ways: ways(base, decodeURI(path), query ?? ""), foreign: plain ? "" : schema.toUpperCase() };
}

// What both kinds of addresses are made of.
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

// Where a page sends its offers: to `what`, whip or whep.
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
