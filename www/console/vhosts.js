// SPDX-License-Identifier: MIT
// vhosts.js - the vhosts with their streams and enabled protocols.

import { $, el, sync, text } from "./dom.js";
import { bytes, count, rate } from "./format.js";
import { Sort } from "./sort.js";

function row() {
    return el("tr", {}, el("td", {}, el("b"), " ", el("span", { class: "chips" })),
        ...["Streams", "Clients", "In", "Out"].map(name => el("td", { class: "number", "data-name": name })));
}

function chips(v, ways) {
    const way = ways?.vhosts.find(w => w.name === v.name) ?? {};
    const also = (key, label) => way[key] && (ways[key] || key === "rtc" || key === "vod") ? [label] : [];
    if (!v.enabled)
        return ["off"];
    return ["RTMP", ...["flv", "hls", "dash"].filter(k => way[k]).map(k => k.toUpperCase()), ...also("rtsp", "RTSP"), ...also("srt", "SRT"),
        ...also("rtc", "WebRTC"), ...also("rtmfp", "RTMFP"), ...also("vod", "files")];
}

const VALUES = { name: v => v.name, streams: v => v.streams, clients: v => v.clients, in: v => v.kbps.recv_30s, out: v => v.kbps.send_30s };

export class Vhosts {
    constructor() {
        const columns = [["Vhost", "name"], ["Streams", "streams"], ["Clients", "clients"], ["In", "in"], ["Out", "out"]];
        this.sort = new Sort(columns, "-clients", () => this.show(this.list, this.ways));
        $("vhost-heads").append(this.sort.row);
    }

    show(list, ways) {
        Object.assign(this, { list, ways });
        text($("vhost-count"), count(list.length));
        const names = [...list].sort((a, b) => a.name.localeCompare(b.name)); // orders equal rows
        sync($("vhosts"), this.sort.apply(names, (v, key) => VALUES[key](v)), v => v.id, row, (e, v) => {
            const [what, streams, clients, inward, outward] = e.children;
            text(what.firstChild, v.name);
            sync(what.lastChild, chips(v, ways), c => c, () => el("span", { class: "chip" }), text);
            text(streams, count(v.streams));
            text(clients, count(v.clients));
            text(inward, `${rate(v.kbps.recv_30s)}, ${bytes(v.recv_bytes)}`);
            text(outward, `${rate(v.kbps.send_30s)}, ${bytes(v.send_bytes)}`);
        });
    }
}
