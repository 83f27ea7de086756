// SPDX-License-Identifier: MIT
// log.js - the last lines of the log, while they are looked at.

import { $, el, text } from "./dom.js";
import { NeedLogin } from "./api.js";

const FIRST = 200, MOST = 1000; // lines: asked for at the beginning, kept
const PATIENCE = 30000;         // milliseconds, when it is not told

export class Log {
    constructor(api) {
        Object.assign(this, { api, end: 0, life: "", asking: false, next: 0 });
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

    add(lines) {
        const box = $("log"), below = box.scrollHeight - box.scrollTop - box.clientHeight < 20;
        for (const l of lines) {
            const level = /^\[[^\]]*\]\[(\w+)\]/.exec(l)?.[1] ?? "";
            const e = el("div", { class: { WARN: "warn", ERROR: "bad" }[level] ?? "" }, l);
            e.hidden = !this.matches(e);
            box.append(e);
        }
        while (box.children.length > MOST)
            box.firstChild.remove();
        if (below) // who has scrolled up reads something
            box.scrollTop = box.scrollHeight;
    }

    async show() {
        if (!$("log-part").open || this.asking || performance.now() < this.next)
            return;
        this.asking = true;
        try {
            const got = await this.api.get(`log?lines=${this.end ? MOST : FIRST}&after=${this.end}`);
            if (got.service !== this.life)
                $("log").replaceChildren();
            // of a server that was started again: from its beginning
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
