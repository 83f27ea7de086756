// SPDX-License-Identifier: MIT
// spark.js - a small graph of recent values.

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 60, HEIGHT = 20; // values kept, units high

export class Spark {
    constructor(kind) {
        this.values = [];
        this.svg = document.createElementNS(SVG, "svg");
        this.svg.setAttribute("class", `spark ${kind}`);
        this.svg.setAttribute("viewBox", `0 0 ${WIDTH - 1} ${HEIGHT}`);
        this.svg.setAttribute("preserveAspectRatio", "none");
        this.svg.setAttribute("role", "img");
        this.fill = this.svg.appendChild(document.createElementNS(SVG, "path"));
        this.fill.setAttribute("class", "fill");
        this.line = this.svg.appendChild(document.createElementNS(SVG, "path"));
    }

    push(value, label) {
        this.values.push(value);
        if (this.values.length > WIDTH)
            this.values.shift();
        const top = Math.max(...this.values, 1) * 1.08, n = this.values.length;
        const at = (v, i) => `${WIDTH - n + i} ${(HEIGHT - v / top * (HEIGHT - 1)).toFixed(2)}`;
        const line = this.values.map(at).join("L");
        this.line.setAttribute("d", n > 1 ? "M" + line : "");
        this.fill.setAttribute("d", n > 1 ? `M${WIDTH - n} ${HEIGHT}L${line}L${WIDTH - 1} ${HEIGHT}Z` : "");
        this.svg.setAttribute("aria-label", label);
    }
}

// Rate of growth of a counter, in kbit/s. The server updates some counters less often than this page polls,
// so an unchanged value does not mean silence at once.
const SILENCE = 7000; // milliseconds

export class Rate {
    sample(total, now) {
        const { total: before, now: then } = this;
        if (before !== undefined && total === before && now - then < SILENCE)
            return this.value ?? null;
        Object.assign(this, { total, now });
        this.value = before === undefined || total < before || now <= then ? null
            : (total - before) * 8 / (now - then); // bits a millisecond
        return this.value;
    }
}
