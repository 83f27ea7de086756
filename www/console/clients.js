// SPDX-License-Identifier: MIT
// clients.js - the clients of a stream, in pages, stalled players first, with a button to disconnect one.

import { el, sync, text } from "./dom.js";
import { clock, many, rate, time } from "./format.js";
import { Pager } from "./pager.js";
import { Sort } from "./sort.js";
import { flow } from "./stall.js";
import { transport } from "./transport.js";

const PAGE = 50;
const SURE = 4000; // milliseconds in which the button must be pressed a second time

export class Clients {
    constructor(api, changed) {
        const again = () => void this.show(this.stream);
        Object.assign(this, { api, changed, asked: 0 });
        this.pager = new Pager(PAGE, again);
        this.find = el("input", { type: "search", placeholder: "Find a client", "aria-label": "Find a client", oninput: () => { this.pager.start = 0; again(); } });
        this.sort = new Sort([["Client"], ["Kind", "type"], ["Connected", "alive"], ["Rate", "out"], ["State", "stall"], [""]], "-stall", again);
        this.note = el("span", { class: "bad" });
        this.rows = el("tbody");
        this.box = el("div", {}, el("div", { class: "bar" }, this.note, this.find, this.pager.box),
            el("table", { class: "clients" }, el("thead", {}, this.sort.row), this.rows));
    }

    async show(stream) {
        const asked = ++this.asked;
        this.stream = stream;
        const got = await this.api.maybe(`clients/?stream=${encodeURIComponent(stream.id)}&sort=${this.sort.by}&${this.pager.query}` +
            `&find=${encodeURIComponent(this.find.value.trim())}`);
        if (!got || asked !== this.asked) // a newer request is pending
            return;
        const list = got.clients.filter(c => c.stream === stream.id), total = got.total ?? stream.clients;
        if (!this.pager.show(list.length, total))
            return void this.show(stream);
        this.find.hidden = total <= PAGE && this.find.value === "";
        text(this.note, got.stalled ? `${many(got.stalled, "player")} ${got.stalled === 1 ? "stalls" : "stall"}.` : "");
        sync(this.rows, list, c => c.id, c => this.row(c), (e, c) => this.fill(e, c));
    }

    row(c) {
        const why = el("small", { class: "bad" });
        const kick = el("button", { title: `Disconnect ${c.ip}`, onclick: () => void this.kick(c, kick, why) }, "Kick");
        return el("tr", {}, el("td", {}, el("span", {}, c.ip), " ", el("span", { class: "id dim" }, c.id)), el("td"),
            el("td"), el("td"), el("td"), el("td", {}, kick, why));
    }

    async kick(c, button, why) { // needs a second press
        if (!button.classList.contains("sure")) {
            button.classList.add("sure");
            text(button, "Kick it?");
            setTimeout(() => { button.classList.remove("sure"); text(button, "Kick"); }, SURE);
            return;
        }
        button.disabled = true;
        await this.api.kick(c.id).then(() => text(why, ""), e => text(why, ` ${e.message}`));
        button.disabled = false;
        this.changed();
    }

    fill(row, c) {
        const [, kind, connected, speed, state] = row.children;
        const now = flow(c, this.stream.publish.active || Boolean(this.stream.vod));
        text(kind, c.transport ? `${c.type}, ${c.transport}` : c.type);
        text(connected, `for ${time(c.alive)}`);
        text(speed, [rate(c.publish ? c.kbps.recv_30s : c.kbps.send_30s), ...transport(c)].join(", "));
        text(state, c.vod ? place(c) : now.text);
        state.className = now.bad ? "bad" : "dim";
    }
}

// The player's position in its file.
function place({ vod, state }) {
    const speed = vod.scale > 0 && vod.scale !== 1 ? ` ×${vod.scale}` : "";
    return `${state === "PAUSED" ? "paused " : ""}at ${clock(vod.position)}${speed}`;
}
