// SPDX-License-Identifier: MIT
// streams.js - the list of streams, and who is on each of them.

import { $, el, sync, text } from "./dom.js";
import { copyButton } from "./copy.js";
import { bytes, clock, many, rate, time } from "./format.js";
import { Rate, Spark } from "./spark.js";
import { DEFAULT, playable, rtmfp, rtmp, rtsp, srt } from "./ways.js";

const CLIENTS = 100; // shown of one stream at most
const CHANNELS = { 1: "mono", 2: "stereo", 6: "5.1", 8: "7.1" };

function codecs({ video, audio }) {
    const all = [];
    if (video)
        all.push(video.width ? `${video.codec} ${video.width}×${video.height}` : video.codec);
    if (audio)
        all.push(audio.sample_rate ?
            `${audio.codec} ${audio.sample_rate / 1000} kHz ${CHANNELS[audio.channel] ?? ""}`.trim() : audio.codec);
    return all;
}

// How packets of SRT come over: latency, round trip, and what was lost on the way, sent again, and not there in time.
function network({ srt: s, publish }) {
    if (!s)
        return "";
    const [latency, lost, again, late] = publish ?
        [s.msRcvTsbPdDelay, s.pktRcvLoss, s.pktRcvRetrans, s.pktRcvDrop] :
        [s.msSndTsbPdDelay, s.pktSndLoss, s.pktRetrans, s.pktSndDrop];
    return `, latency ${latency} ms, round trip ${s.msRTT.toFixed(s.msRTT < 10 ? 1 : 0)} ms` +
        (lost ? `, ${many(lost, "packet")} lost` : "") + (again ? `, ${again} sent again` : "") +
        (late ? `, ${late} too late` : "") + (s.keyLength ? `, AES-${s.keyLength * 8}` : "");
}

// How packets of WebRTC come over.
function loss({ rtc: r }) {
    if (!r || r.state !== "connected")
        return "";
    return `, round trip ${r.rtt_ms.toFixed(r.rtt_ms < 10 ? 1 : 0)} ms` + (r.packets_lost ? `, ${many(r.packets_lost, "packet")} lost` : "") +
        (r.packets_repeated ? `, ${r.packets_repeated} sent again` : "") + `, ${[r.video, r.audio].filter(Boolean).join(" + ")} over ${r.transport.toUpperCase()}`;
}

// How messages of RTMFP come over: what was lost and sent again, and what was too late for that.
function messages({ rtmfp: r, publish }) {
    if (!r)
        return "";
    return `, round trip ${r.rtt_ms.toFixed(r.rtt_ms < 10 ? 1 : 0)} ms` + (r.fragments_again ? `, ${r.fragments_again} sent again` : "") +
        (!publish && r.messages_abandoned ? `, ${r.messages_abandoned} too late` : "") + (r.address_changes ? ", moved" : "") +
        (r.hmac ? ", HMAC" : "");
}

export class Streams {
    constructor(api, player, again) {
        Object.assign(this, { api, player, again, wanted: "", views: new Map() });
    }

    filter(what) {
        this.wanted = what.trim().toLowerCase();
        for (const e of $("streams").children)
            e.hidden = !e.dataset.name.toLowerCase().includes(this.wanted);
    }

    async show(listed, vhosts, ways, now) {
        const names = new Map(vhosts.map(v => [v.id, v.name]));
        const list = listed.streams.map(s => ({ ...s, vhostName: names.get(s.vhost) ?? "" }));
        list.sort((a, b) => !!a.vod - !!b.vod || b.clients - a.clients || a.url.localeCompare(b.url));
        this.ways = ways;
        const total = listed.total ?? list.length;
        text($("stream-count"), total > list.length ? `${list.length} of ${total}` : String(total));
        sync($("streams"), list, s => s.id, s => this.make(s), (e, s) => this.update(e, s, now));
        for (const id of [...this.views.keys()])
            if (!list.some(s => s.id === id))
                this.views.delete(id);
        this.filter(this.wanted);
        const sum = what => [...this.views.values()].reduce((all, v) => all + v[what], 0);
        this.rates = total > list.length ? null : { in: sum("inRate"), out: sum("outRate") };
        await Promise.all([...this.views.values()].filter(v => v.card.open).map(v => this.people(v)));
    }

    make(s) {
        const v = {
            id: s.id, in: new Rate(), out: new Rate(), inSpark: new Spark("in"), outSpark: new Spark("out"),
            chips: el("div", { class: "chips" }), title: el("span", { class: "title" }),
            inText: el("b"), outText: el("b"), count: el("span"), age: el("small"),
            facts: el("dl"), urls: el("dl", { class: "urls" }), table: el("tbody"), note: el("p", { class: "dim" }),
            act: el("span", { class: "act" }),
        };
        v.card = el("details", { class: "stream", ontoggle: () => v.card.open && this.people(v) },
            el("summary", {},
                el("div", { class: "head" }, v.title, v.chips),
                el("div", { class: "rate" }, "in ", v.inText, v.inSpark.svg),
                el("div", { class: "rate" }, "out ", v.outText, v.outSpark.svg),
                el("div", { class: "people" }, v.count, v.age), v.act),
            el("div", { class: "body" }, v.facts, v.urls,
                el("table", { class: "clients" },
                    el("thead", {}, el("tr", {}, ...["Client", "Kind", "Connected", "Rate", ""].map(t => el("th", {}, t)))),
                    v.table), v.note));
        this.views.set(s.id, v);
        return v.card;
    }

    update(card, s, now) {
        const v = this.views.get(s.id);
        const name = (s.vhostName && s.vhostName !== DEFAULT ? `${s.vhostName} ` : "") + `${s.app}/${s.name}`;
        const inRate = v.in.sample(s.recv_bytes, now), outRate = v.out.sample(s.send_bytes, now);
        v.stream = s;
        card.dataset.name = name;
        text(v.title, name);
        const chips = codecs(s);
        if (s.vod)
            chips.unshift(s.vod.duration ? `file of ${clock(s.vod.duration)}` : "file");
        else if (!s.publish.active)
            chips.unshift("no publisher");
        if (s.replicas > 0)
            chips.push(`at ${s.replicas + 1} workers`);
        sync(v.chips, chips, x => x, x => el("span", { class: "chip" }), text);
        text(v.inText, rate(inRate ?? s.kbps.recv_30s));
        text(v.outText, rate(outRate ?? s.kbps.send_30s));
        v.inRate = inRate ?? 0;
        v.outRate = outRate ?? 0;
        v.inSpark.push(v.inRate, `in: ${v.inText.textContent}`);
        v.outSpark.push(v.outRate, `out: ${v.outText.textContent}`);
        text(v.count, many(Math.max(0, s.clients - (s.publish.active ? 1 : 0)), "player"));
        text(v.age, s.age_ms === undefined ? "" : `for ${time(s.age_ms / 1000)}`);
        this.buttons(v, s);
        this.facts(v, s);
    }

    playable(s) {
        return playable(this.ways, s.vhostName, s);
    }

    buttons(v, s) {
        const ways = s.publish.active || s.vod ? this.playable(s) : [];
        sync(v.act, ways, ([kind]) => kind, ([kind, label]) => el("button", {
            class: "go", title: `Play it here, by ${label}`,
            onclick: e => {
                const way = this.playable(v.stream).find(w => w[0] === kind);
                e.preventDefault();
                if (way)
                    this.player.play([way], `${v.stream.app}/${v.stream.name}`);
            },
        }, `▶ ${label}`), () => {});
    }

    facts(v, s) {
        if (!v.card.open)
            return;
        const facts = [
            ["Video", s.video ? [s.video.codec, s.video.profile, s.video.level && `level ${s.video.level}`].filter(Boolean).join(" ") : "none"],
            ["Audio", s.audio ? [s.audio.codec, s.audio.profile].filter(Boolean).join(" ") : "none"],
            ...s.vod ? [["Length", clock(s.vod.duration)], ["Rate", rate(s.vod.kbps)], ["Sent", bytes(s.send_bytes)]] :
                this.live(s),
        ];
        sync(v.facts, facts, f => f[0], f => el("div", {}, el("dt", {}, f[0]), el("dd")),
            (e, f) => text(e.lastChild, f[1]));
        const query = s.vhostName && s.vhostName !== DEFAULT ? `?vhost=${s.vhostName}` : "";
        const urls = [`${rtmp(this.ways?.rtmp, s.app)}/${s.name}${query}`, rtsp(this.ways, s.vhostName, s),
            srt(this.ways, s.vhostName, s), rtmfp(this.ways, s.vhostName, s), ...this.playable(s).map(w => w[2])].filter(Boolean);
        sync(v.urls, urls, u => u, u => el("dd", {}, el("span", {}, u), copyButton(() => u)), () => {});
    }

    live(s) {
        return [
            ["Key frames", s.key_interval_ms ? `every ${(s.key_interval_ms / 1000).toFixed(1)} s` : "–"],
            ["Received", bytes(s.recv_bytes)], ["Sent", bytes(s.send_bytes)],
            ["In memory", s.queue_bytes === undefined ? "–" : bytes(s.queue_bytes)],
            ["Dropped", s.dropped_packets === undefined ? "–" : many(s.dropped_packets, "packet")],
        ];
    }

    async people(v) {
        const s = v.stream;
        this.facts(v, s);
        const got = await this.api.maybe(`clients/?count=${CLIENTS}&stream=${encodeURIComponent(s.id)}`);
        const list = (got?.clients ?? []).filter(c => c.stream === s.id);
        if (s.publish.active && s.publish.cid && !list.some(c => c.id === s.publish.cid)) {
            const one = await this.api.maybe(`clients/${encodeURIComponent(s.publish.cid)}`);
            if (one)
                list.push(one.client);
        }
        list.sort((a, b) => b.publish - a.publish || b.alive - a.alive);
        sync(v.table, list, c => c.id, c => this.client(c), (e, c) => this.about(e, c));
        text(v.note, s.clients > list.length ? `and ${s.clients - list.length} more` : "");
    }

    client(c) {
        const why = el("small", { class: "bad" });
        const kick = el("button", {
            title: `End the connection of ${c.ip}`,
            onclick: async () => { // asked twice
                if (!kick.classList.contains("sure")) {
                    kick.classList.add("sure");
                    text(kick, "Kick it?");
                    setTimeout(() => { kick.classList.remove("sure"); text(kick, "Kick"); }, 4000);
                    return;
                }
                kick.disabled = true;
                await this.api.kick(c.id).then(() => text(why, ""), e => text(why, ` ${e.message}`));
                kick.disabled = false;
                this.again();
            },
        }, "Kick");
        return el("tr", {}, el("td", {}, el("span", {}, c.ip), " ", el("span", { class: "id dim" }, c.id)), el("td"),
            el("td"), el("td"), el("td", {}, kick, why));
    }

    about(row, c) {
        const [, kind, connected, flow] = row.children;
        text(kind, c.transport ? `${c.type}, ${c.transport}` : c.type);
        text(connected, `for ${time(c.alive)}`);
        const lost = c.lost_packets ? `, ${many(c.lost_packets, "packet")} lost` : "";
        const jitter = c.jitter_ms >= 1 ? `, jitter ${Math.round(c.jitter_ms)} ms` : "";
        const speed = c.vod?.scale > 0 && c.vod.scale !== 1 ? ` ×${c.vod.scale}` : "";
        const place = c.vod ? `${c.state === "PAUSED" ? "paused " : ""}at ${clock(c.vod.position)}${speed}, ` : "";
        text(flow, place + rate(c.publish ? c.kbps.recv_30s : c.kbps.send_30s) + lost + jitter + network(c) + loss(c) + messages(c));
    }
}
