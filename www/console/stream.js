// SPDX-License-Identifier: MIT
// stream.js - a row in the list of streams: codecs, rates, play buttons; when opened, all details and the clients.

import { Clients } from "./clients.js";
import { copyButton } from "./copy.js";
import { undecodable } from "./decodes.js";
import { el, sync, text } from "./dom.js";
import { bytes, clock, many, rate, time } from "./format.js";
import { Menu } from "./menu.js";
import { Rate, Spark } from "./spark.js";
import { DEFAULT, addresses, playable } from "./ways.js";

const CHANNELS = { 1: "mono", 2: "stereo", 6: "5.1", 8: "7.1" };

// Notes in the list of players.
const NOTES = {
    fmp4: "about a second behind", rtc: "a fraction of a second behind", flv: "about a second behind, by mpegts.js", hls: "some segments behind",
    dash: "some segments behind, by dash.js", vod: "from any position in the file",
};

function codecs({ video, audio }) {
    const all = [];
    if (video)
        all.push(video.width ? `${video.codec} ${video.width}×${video.height}` : video.codec);
    if (audio)
        all.push(audio.sample_rate ?
            `${audio.codec} ${audio.sample_rate / 1000} kHz ${CHANNELS[audio.channel] ?? ""}`.trim() : audio.codec);
    return all;
}

function chips(s) {
    const all = codecs(s);
    if (s.vod)
        all.unshift(s.vod.duration ? `file of ${clock(s.vod.duration)}` : "file");
    else if (!s.publish.active)
        all.unshift("no publisher");
    if (s.replicas > 0)
        all.push(`at ${s.replicas + 1} workers`);
    return all;
}

const live = s => [
    ["Key frames", s.key_interval_ms ? `every ${(s.key_interval_ms / 1000).toFixed(1)} s` : "–"],
    ["Received", bytes(s.recv_bytes)], ["Sent", bytes(s.send_bytes)],
    ["In memory", s.queue_bytes === undefined ? "–" : bytes(s.queue_bytes)],
    ["Dropped", s.dropped_packets === undefined ? "–" : many(s.dropped_packets, "packet")],
];

const file = s => [["Length", clock(s.vod.duration)], ["Rate", rate(s.vod.kbps)], ["Sent", bytes(s.send_bytes)]];

const facts = s => [
    ["Video", s.video ? [s.video.codec, s.video.profile, s.video.level && `level ${s.video.level}`].filter(Boolean).join(" ") : "none"],
    ["Audio", s.audio ? [s.audio.codec, s.audio.profile].filter(Boolean).join(" ") : "none"], ...s.vod ? file(s) : live(s),
];

export class Stream {
    constructor(api, player, changed) {
        Object.assign(this, {
            player, in: new Rate(), out: new Rate(), inSpark: new Spark("in"), outSpark: new Spark("out"),
            chips: el("div", { class: "chips" }), title: el("span", { class: "title" }),
            inText: el("b"), outText: el("b"), count: el("span"), age: el("small"),
            facts: el("dl"), urls: el("dl", { class: "urls" }), clients: new Clients(api, changed),
            menu: new Menu("▶ Play", kind => this.play(kind)),
        });
        this.card = el("details", { class: "stream", ontoggle: () => this.card.open && this.open() },
            el("summary", {},
                el("div", { class: "head" }, this.title, this.chips),
                el("div", { class: "rate" }, "in ", this.inText, this.inSpark.svg),
                el("div", { class: "rate" }, "out ", this.outText, this.outSpark.svg),
                el("div", { class: "people" }, this.count, this.age), el("span", { class: "act" }, this.menu.box)),
            el("div", { class: "body" }, this.facts, this.urls, this.clients.box));
    }

    get name() {
        const { vhostName: vhost, app, name } = this.is;
        return (vhost && vhost !== DEFAULT ? `${vhost} ` : "") + `${app}/${name}`;
    }

    // Plays over one kind, or over the first that this browser supports.
    play(kind) {
        const ways = this.ways.filter(([k]) => !kind || k === kind), able = ways.filter(([k]) => !undecodable(k, this.is));
        this.player.play(able.length ? able : ways, this.name);
    }

    update(s, ways, now) {
        this.is = s;
        this.all = ways;
        this.ways = s.publish.active || s.vod ? playable(ways, s.vhostName, s) : [];
        this.card.dataset.name = this.name;
        text(this.title, this.name);
        sync(this.chips, chips(s), x => x, () => el("span", { class: "chip" }), (e, what) => {
            e.classList.toggle("bad", what === "no publisher");
            text(e, what);
        });
        this.rates(s, now);
        text(this.count, many(Math.max(0, s.clients - (s.publish.active ? 1 : 0)), "player"));
        text(this.age, s.age_ms === undefined ? "" : `for ${time(s.age_ms / 1000)}`);
        this.menu.show(this.ways.map(([kind, label]) => [kind, label, undecodable(kind, s) ?? NOTES[kind] ?? ""]));
        return this.card.open ? this.open() : null;
    }

    rates(s, now) {
        const inRate = this.in.sample(s.recv_bytes, now), outRate = this.out.sample(s.send_bytes, now);
        text(this.inText, rate(inRate ?? s.kbps.recv_30s));
        text(this.outText, rate(outRate ?? s.kbps.send_30s));
        this.inRate = inRate ?? 0;
        this.outRate = outRate ?? 0;
        this.inSpark.push(this.inRate, `in: ${this.inText.textContent}`);
        this.outSpark.push(this.outRate, `out: ${this.outText.textContent}`);
    }

    open() {
        const s = this.is;
        sync(this.facts, facts(s), f => f[0], f => el("div", {}, el("dt", {}, f[0]), el("dd")), (e, f) => text(e.lastChild, f[1]));
        sync(this.urls, addresses(this.all, s.vhostName, s), a => a[2], ([what, use, url]) =>
            el("div", {}, el("dt", {}, el("b", {}, what), use && `: ${use}`), el("dd", {}, el("span", {}, url), copyButton(() => url, `Copy: ${what}`))), () => {});
        return this.clients.show(s);
    }
}
