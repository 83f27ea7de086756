// SPDX-License-Identifier: MIT
// health.js - things that must work all the time: pulls, recordings, certificates, disks.

import { fill, plain, row } from "./programs.js";
import { $, el, sync, text } from "./dom.js";
import { bytes, count, many, time } from "./format.js";
import { inWords } from "./words.js";

const LOOKS = { failing: "bad", ended: "bad", full: "bad", low: "warn", ending: "warn", early: "warn", starting: "warn", waiting: "dim" };

const TOLD = new Set(["failing", "ended", "full", "low", "ending", "early"]);
const KINDS = { pulls: "Pull of", recordings: "Recording of", certificates: "Certificate of", disks: "Disk" };

const since = one => `${one.state} for ${time(one.state_ms / 1000)}`;
const streamOf = s => plain([s.vhost, s.app, s.stream].filter(Boolean).join("/"));

function days({ days_left: n }) {
    return n < 0 ? `expired ${many(-n, "day")} ago` : `${many(n, "day")} left`;
}

// For each list of the API: its title, and a function that returns name, note and location of an entry.
const PARTS = {
    pulls: ["Pulls", p => [streamOf(p) || p.name, [p.what, since(p), p.failures && many(p.failures, "failure"), p.on_demand && "on demand",
        p.next_ms !== undefined && `next attempt in ${time(p.next_ms / 1000)}`, p.bytes && bytes(p.bytes)], p.url]],
    recordings: ["Recordings", r => [streamOf(r), [r.what, since(r), r.bytes && bytes(r.bytes), r.file_ms && `current file ${time(r.file_ms / 1000)}`], r.file]],
    certificates: ["Certificates", c => [c.host || c.subject || c.file, [days(c), c.what, c.self_signed && "self-signed"], c.file]],
    disks: ["Disks", d => [d.path, [`${bytes(d.free_bytes)} of ${bytes(d.size_bytes)} left`, d.what], ""]],
};

function section(key, title) {
    const id = `${key}-part`;
    if (!$(id))
        $("health").append(el("section", { id, "aria-label": title }, el("h2", {}, title, " ", el("span", { class: "count" })), el("div", { class: "rows" })));
    return $(id);
}

// Shows { pulls: [...], recordings: [...], ... } from the API; null for lists that an older server does not have.
export function health(lists) {
    for (const [key, [title, about]] of Object.entries(PARTS)) {
        const list = lists[key] ?? [], part = section(key, title);
        part.hidden = list.length === 0;
        text(part.querySelector(".count"), count(list.length));
        sync(part.lastChild, list, one => one.id, row, (e, one) => {
            const [name, notes, where] = about(one);
            fill(e, one.state, name, notes.filter(Boolean).join(", "), inWords(one.error), where, LOOKS[one.state] ?? "good");
        });
    }
}

// Returns [{ bad, what }] for all entries with a problem.
export function healthProblems(lists) {
    return Object.entries(PARTS).flatMap(([key, [, about]]) => (lists[key] ?? []).filter(one => TOLD.has(one.state)).map(one => {
        const [name, [first, second]] = about(one);
        const what = key === "certificates" || key === "disks" ? first : second;
        return { bad: LOOKS[one.state] === "bad", what: `${KINDS[key]} ${name}: ${what}${one.error ? `: ${inWords(one.error)}` : ""}` };
    }));
}
