// SPDX-License-Identifier: MIT
// workers.js - how much each worker has to do, where there is more than one.

import { $, el, sync, text } from "./dom.js";
import { many, time } from "./format.js";

const SILENT = 3000; // milliseconds: its figures are from every second

function gauge(kind) {
    return el("div", { class: `load ${kind}` }, el("div", { class: "track" }, el("i")), el("b"));
}

function row() {
    return el("div", { class: "row worker" }, el("div", { class: "badge state" }), gauge("in"), gauge("out"),
        el("div", { class: "what" }, el("span"), el("small")));
}

function fill(e, part, said) {
    e.firstChild.firstChild.style.width = `${Math.min(100, 100 * part).toFixed(1)}%`;
    text(e.lastChild, said);
}

// The thread as `top -H` shows it, and what is not as it should be.
function more(w) {
    return [w.silent_ms >= SILENT ? `held up for ${time(w.silent_ms / 1000)}` : "", `thread ${w.thread}`, `${w.moved_in} came, ${w.moved_out} went`,
        w.late_ms >= 5 ? `wakes ${w.late_ms.toFixed(0)} ms late` : "",
        w.mailbox_ms >= 1000 ? `a message waits for ${time(w.mailbox_ms / 1000)}` : ""].filter(Boolean).join(", ");
}

export function workers(list) {
    const most = Math.max(1, ...list.map(w => w.players));
    $("workers-part").hidden = list.length < 2;
    if (list.length < 2)
        return;
    text($("worker-count"), String(list.length));
    sync($("workers"), list, w => w.worker, row, (e, w) => {
        const [state, cpu, players, what] = e.children;
        state.className = `badge state ${w.silent_ms >= SILENT ? "bad" : w.cpu >= 800 ? "warn" : "good"}`;
        text(state, `worker ${w.worker}`);
        fill(cpu, w.cpu / 1000, `${(w.cpu / 10).toFixed(1)} % of a core`);
        fill(players, w.players / most, many(w.players, "player"));
        text(what.firstChild, [many(w.publishers, "publisher"), many(w.streams - w.replicas, "stream"),
            many(w.replicas, "replica")].join(", "));
        text(what.lastChild, more(w));
    });
}
