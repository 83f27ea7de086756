// SPDX-License-Identifier: MIT
// history.js - graphs of the last hour, with the maximum and the value at the pointer.

import { $, el, text } from "./dom.js";
import { bytes, count, rate, time } from "./format.js";

const SVG = "http://www.w3.org/2000/svg", HEIGHT = 60;
const PERIOD = 10000; // milliseconds between the server's samples

// For each member of `total`: title, color, formatter.
const GRAPHS = {
    recv_kbps: ["In", "in", rate], send_kbps: ["Out", "out", rate], players: ["Players", "out", count], publishers: ["Publishers", "in", count],
    cpu_percent: ["Processor", "in", v => `${v.toFixed(1)} %`], memory_kb: ["Memory", "out", v => bytes(v * 1024)],
};

// Draws a line for each run of samples, with gaps between them.
function paths(values, top, most) {
    const at = (v, i) => `${most - values.length + i} ${(HEIGHT - v / top * (HEIGHT - 2)).toFixed(1)}`;
    let line = "", on = false;
    values.forEach((v, i) => {
        line += v === null ? "" : `${on ? "L" : "M"}${at(v, i)}`;
        on = v !== null;
    });
    return line;
}

class Graph {
    constructor(title, look, write, most, step) {
        Object.assign(this, { title, write, most, step, values: [] });
        this.svg = document.createElementNS(SVG, "svg");
        for (const [k, v] of Object.entries({ class: `spark ${look}`, viewBox: `0 0 ${most - 1} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" }))
            this.svg.setAttribute(k, v);
        this.line = this.svg.appendChild(document.createElementNS(SVG, "path"));
        this.said = el("span", { class: "more" });
        this.svg.addEventListener("pointermove", e => this.point(e));
        this.svg.addEventListener("pointerleave", () => this.tell());
        this.box = el("div", { class: "tile" }, el("div", { class: "name" }, title), this.said, this.svg);
    }

    show(values) {
        this.values = values;
        this.largest = Math.max(...values, 0);
        this.line.setAttribute("d", paths(values, Math.max(this.largest, 1), this.most));
        this.tell();
    }

    tell() {
        const now = this.values.findLast(v => v !== null);
        text(this.said, now === undefined ? "" : `${this.write(now)} now, at most ${this.write(this.largest)}`);
        this.svg.setAttribute("aria-label", `${this.title}: ${this.said.textContent}`);
    }

    point(e) {
        const { left, width } = this.svg.getBoundingClientRect(), ago = Math.round((1 - (e.clientX - left) / width) * (this.most - 1));
        const v = this.values[this.values.length - 1 - ago];
        text(this.said, v === undefined || v === null ? "unknown" : `${this.write(v)} ${ago ? `${time(ago * this.step / 1000)} ago` : "now"}`);
    }
}

export class History {
    constructor(api) {
        Object.assign(this, { api, graphs: {}, next: 0 });
        $("history-part").addEventListener("toggle", () => { this.next = 0; void this.show(); });
    }

    async show() {
        if (!$("history-part").open || performance.now() < this.next)
            return;
        this.next = performance.now() + PERIOD;
        const data = (await this.api.maybe("history"))?.data;
        for (const [key, [title, look, write]] of Object.entries(data ? GRAPHS : {})) {
            const values = data.total[key] ?? [], graph = this.graphs[key] ??= new Graph(title, look, write, 360, data.step_ms);
            if (!graph.box.isConnected)
                $("history").append(graph.box);
            graph.show(values);
        }
        text($("history-note"), data ? `${time(data.samples * data.step_ms / 1000)} recorded` : "This server has no history.");
    }
}
