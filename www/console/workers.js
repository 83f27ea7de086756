// SPDX-License-Identifier: MIT
// workers.js - the load of each worker, if there are several.

import { $, el, sync, text } from "./dom.js";
import { many, time } from "./format.js";

const SILENT = 3000; // milliseconds; values arrive every second

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

// Details: the thread's name in `top -H`, and problems.
function more(w) {
    return [w.silent_ms >= SILENT ? `blocked for ${time(w.silent_ms / 1000)}` : "", `thread ${w.thread}`, `${w.moved_in} moved in, ${w.moved_out} moved out`,
        w.late_ms >= 5 ? `timers ${w.late_ms.toFixed(0)} ms late` : "",
        w.mailbox_ms >= 1000 ? `oldest message waits ${time(w.mailbox_ms / 1000)}` : ""].filter(Boolean).join(", ");
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
