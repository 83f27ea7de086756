// SPDX-License-Identifier: MIT
// sort.js - table headers that sort: first click largest first, second click smallest first.

import { el } from "./dom.js";

export class Sort {
    // columns: [title, key]; a column without a key does not sort. `by`: initial order, such as "-alive".
    constructor(columns, by, again) {
        this.by = by;
        this.heads = columns.map(([title, key]) => el("th", { scope: "col" }, key ? el("button", {
            type: "button", class: "sort", "data-by": key, onclick: () => { this.turn(key); again(); },
        }, title) : title));
        this.row = el("tr", {}, ...this.heads);
        this.mark();
    }

    get key() {
        return this.by.replace(/^-/, "");
    }

    get down() {
        return this.by.startsWith("-");
    }

    turn(key) {
        this.by = this.key === key && this.down ? key : `-${key}`;
        this.mark();
    }

    mark() {
        for (const head of this.heads) {
            const is = head.firstElementChild?.dataset.by === this.key;
            head.setAttribute("aria-sort", !is ? "none" : this.down ? "descending" : "ascending");
        }
    }

    // Sorts a complete list; value(row, key) returns a number or a text.
    apply(list, value) {
        const compare = (a, b) => typeof a === "string" ? b.localeCompare(a) : b - a;
        return [...list].sort((a, b) => compare(value(a, this.key), value(b, this.key)) * (this.down ? 1 : -1));
    }
}
