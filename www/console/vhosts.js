// SPDX-License-Identifier: MIT
// vhosts.js - what is on in each vhost, and by what protocols it gives its streams.

import { $, el, sync, text } from "./dom.js";
import { bytes, many, rate } from "./format.js";

function row() {
    return el("tr", {}, el("td", {}, el("b"), " ", el("span", { class: "chips" })),
        ...Array.from({ length: 4 }, () => el("td", { class: "number" })));
}

export function vhosts(list, ways) {
    text($("vhost-count"), String(list.length));
    list.sort((a, b) => b.clients - a.clients || a.name.localeCompare(b.name));
    sync($("vhosts"), list, v => v.id, row, (e, v) => {
        const [what, streams, clients, inward, outward] = e.children;
        const way = ways?.vhosts.find(w => w.name === v.name) ?? {};
        const chips = [...v.enabled ? [] : ["off"], "RTMP", ...["flv", "hls", "dash"].filter(k => way[k]).map(k => k.toUpperCase()),
            ...way.rtsp && ways.rtsp ? ["RTSP"] : [], ...way.srt && ways.srt ? ["SRT"] : [], ...way.rtmfp && ways.rtmfp ? ["RTMFP"] : [], ...way.vod ? ["files"] : []];
        text(what.firstChild, v.name);
        sync(what.lastChild, v.enabled ? chips : ["off"], c => c, () => el("span", { class: "chip" }), text);
        text(streams, many(v.streams, "stream"));
        text(clients, many(v.clients, "client"));
        text(inward, `in ${rate(v.kbps.recv_30s)}, ${bytes(v.recv_bytes)}`);
        text(outward, `out ${rate(v.kbps.send_30s)}, ${bytes(v.send_bytes)}`);
    });
}
