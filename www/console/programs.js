// SPDX-License-Identifier: MIT
// programs.js - the lists of forwards and of child programs.

import { $, el, sync, text } from "./dom.js";
import { many, rate, time } from "./format.js";
import { Rate } from "./spark.js";
import { inWords } from "./words.js";

const LOOKS = { running: "good", publishing: "good", connecting: "warn", starting: "warn", waiting: "bad", ending: "dim" };

export const plain = name => name.replace(/^__defaultVhost__\//, "");
const by = (...keys) => (a, b) => keys.reduce((r, k) => r || String(a[k]).localeCompare(String(b[k])), 0);

export function row() {
    return el("div", { class: "row" }, el("div", { class: "badge state" }),
        el("div", { class: "what" }, el("span"), el("small")), el("div", { class: "said" }, el("small"), el("code")));
}

// The message is red unless the state is good.
export function fill(e, state, name, note, said, code, look = LOOKS[state] ?? "dim") {
    const [badge, what, more] = e.children, bad = look !== "good" && Boolean(said);
    badge.className = `badge state ${look}`;
    text(badge, state);
    text(what.firstChild, name);
    text(what.lastChild, note);
    more.firstChild.className = bad ? "bad" : "";
    text(more.firstChild, said);
    text(more.lastChild, code);
    more.lastChild.title = code;
}

export function children(list) {
    $("children-part").hidden = list.length === 0;
    text($("child-count"), String(list.length));
    list.sort(by("kind", "vhost", "stream", "name"));
    sync($("children"), list, c => `${c.kind} ${c.vhost} ${c.stream} ${c.name}`, row, (e, c) => {
        const since = `${c.state} for ${time(c.state_ms / 1000)}`;
        const next = c.state === "waiting" ? `, again in ${time(c.next_ms / 1000)}` : "";
        const tries = c.starts > 1 ? `, started ${many(c.starts, "time")}` : "";
        fill(e, c.state, `${c.kind} ${c.name}`, `${plain(c.stream || c.vhost)}; ${since}${next}${tries}${c.pid ? `, process ${c.pid}` : ""}`,
            c.state === "running" && c.counter ? c.counter : [c.ended && `ended with ${c.ended}`, c.line].filter(Boolean).join(": "),
            c.command);
    });
}

const rates = new Map();

export function forwards(list, now) {
    $("forwards-part").hidden = list.length === 0;
    text($("forward-count"), String(list.length));
    list.sort(by("stream", "url"));
    sync($("forwards"), list, f => `${f.stream} ${f.url}`, row, (e, f) => {
        const key = e.dataset.key;
        if (!rates.has(key))
            rates.set(key, new Rate());
        const sent = f.send_bytes === undefined ? null : rates.get(key).sample(f.send_bytes, now);
        fill(e, f.state, plain(f.stream), f.age_ms === undefined ? "" : `for ${time(f.age_ms / 1000)}`,
            [sent !== null && rate(sent), f.dropped_packets ? many(f.dropped_packets, "packet") + " dropped" : "", inWords(f.error)]
                .filter(Boolean).join(", "), f.url);
    });
    for (const key of [...rates.keys()])
        if (![...$("forwards").children].some(e => e.dataset.key === key))
            rates.delete(key);
}
