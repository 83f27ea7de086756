// SPDX-License-Identifier: MIT
// problems.js - the list of problems at the top of the page; equal ones are one line with a count.

import { $, el, sync, text } from "./dom.js";
import { count, many } from "./format.js";
import { flow } from "./stall.js";
import { inWords, noPublisher } from "./words.js";

const SHOWN = 12; // lines

const title = s => `${s.app}/${s.name}`;

// Streams with players but no publisher: a typing error, or the publisher has left.
function waiting(streams) {
    const onAir = streams.filter(s => s.publish.active).map(title);
    return streams.filter(s => !s.publish.active && !s.vod && s.clients > 0)
        .map(s => ({ bad: true, what: `${noPublisher(title(s), onAir)} ${many(s.clients, "player")} ${s.clients === 1 ? "waits" : "wait"} for it.` }));
}

// `worst`: list of clients from the API, those that stall longest first.
function stalled(worst) {
    const n = worst?.stalled ?? 0, one = worst?.clients[0];
    if (!n || !one)
        return [];
    const first = `${n === 1 ? "It is" : "The longest is"} ${one.ip} (${one.type}, ${one.name}): ${flow(one).text}.`;
    return [{ bad: true, what: `${many(n, "player")} ${n === 1 ? "stalls" : "stall"}. ${first}` }];
}

const failing = list => list.filter(f => f.error && f.state !== "publishing").map(f => ({ bad: true, what: `Forward to ${hostOf(f.url)}: ${inWords(f.error)}` }));

// Drops the path, which can contain a key and would give each stream a line of its own.
const hostOf = url => /^(?:\w+:\/\/)?(?:[^@/]*@)?([^/?]+)/.exec(url)?.[1] ?? url;

const ended = list => list.filter(c => c.state === "waiting" && c.ended)
    .map(c => ({ bad: true, what: `${c.kind} ${c.name} ended with ${c.ended}${c.line ? `: ${c.line}` : ""}` }));

function joined(list) {
    const all = new Map();
    for (const one of list) {
        const old = all.get(one.what);
        all.set(one.what, { ...one, times: (old?.times ?? 0) + 1 });
    }
    return [...all.values()].sort((a, b) => b.bad - a.bad || b.times - a.times);
}

// `more`: [{ bad, what }] from other parts of the page.
export function problems({ streams, worst, forwards, children, more = [] }) {
    const all = joined([...waiting(streams), ...stalled(worst), ...failing(forwards), ...ended(children), ...more]);
    $("problems").hidden = all.length === 0;
    sync($("problem-list"), all.slice(0, SHOWN), p => p.what, () => el("li", {}, el("span"), el("b")), (e, p) => {
        e.className = p.bad ? "bad" : "warn";
        text(e.firstChild, p.what);
        text(e.lastChild, p.times > 1 ? ` × ${count(p.times)}` : "");
    });
    text($("problem-more"), all.length > SHOWN ? `and ${many(all.length - SHOWN, "more", "more")}` : "");
}
