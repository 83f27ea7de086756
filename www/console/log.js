// SPDX-License-Identifier: MIT
// log.js - the last lines of the log while the section is open; equal warnings and errors are merged.

import { $, el, text } from "./dom.js";
import { NeedLogin } from "./api.js";

const FIRST = 200, MOST = 1000; // lines requested first; lines kept
const PATIENCE = 30000;         // milliseconds after a failure
const LINE = /^\[[^\]]*\]\[(\w+)\](?:\[[^\]]*\])* ?(.*)$/; // its level and text

export class Log {
    constructor(api) {
        Object.assign(this, { api, end: 0, life: "", asking: false, next: 0, equal: new Map() });
        $("log-part").addEventListener("toggle", () => { this.next = 0; this.show(); });
        $("log-filter").addEventListener("input", () => this.filter());
    }

    matches(line) {
        return line.textContent.toLowerCase().includes($("log-filter").value.trim().toLowerCase());
    }

    filter() {
        for (const line of $("log").children)
            line.hidden = !this.matches(line);
    }

    // An equal earlier line moves to the end.
    line(l) {
        const [, level = "", said = l] = LINE.exec(l) ?? [], look = { WARN: "warn", ERROR: "bad" }[level] ?? "";
        const old = look ? this.equal.get(said) : undefined, times = Number(old?.dataset.times ?? 0) + 1;
        const e = old || el("div", { class: look });
        e.dataset.times = times;
        e.dataset.said = said;
        e.textContent = times > 1 ? `${l}  × ${times}` : l;
        e.hidden = !this.matches(e);
        if (look)
            this.equal.set(said, e);
        return e;
    }

    clear() {
        this.equal = new Map();
        $("log").replaceChildren();
    }

    add(lines) {
        const box = $("log"), below = box.scrollHeight - box.scrollTop - box.clientHeight < 20;
        for (const l of lines)
            box.append(this.line(l));
        while (box.children.length > MOST) {
            this.equal.delete(box.firstChild.dataset.said);
            box.firstChild.remove();
        }
        if (below) // do not scroll if the user has scrolled up
            box.scrollTop = box.scrollHeight;
    }

    async show() {
        if (!$("log-part").open || this.asking || performance.now() < this.next)
            return;
        this.asking = true;
        try {
            const got = await this.api.get(`log?lines=${this.end ? MOST : FIRST}&after=${this.end}`);
            if (got.service !== this.life)
                this.clear();
            // the server restarted: read from the start
            if (got.service === this.life || this.end === 0) {
                this.add(got.data.lines);
                this.end = got.data.end;
            } else {
                this.end = 0;
            }
            this.life = got.service;
            text($("log-why"), "");
        } catch (e) {
            this.next = performance.now() + PATIENCE;
            if (!(e instanceof NeedLogin))
                text($("log-why"), e.message);
        }
        this.asking = false;
    }
}
