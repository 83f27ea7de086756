// SPDX-License-Identifier: MIT
// sort.js - heads of a table that sort it: once the largest first, once more the smallest.

import { el } from "./dom.js";

export class Sort {
    // columns: [title, key]; without a key it does not sort. `by` is what the table begins with, as "-alive".
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

    // Rows that are all here; value(row, key) is a number or a text.
    apply(list, value) {
        const compare = (a, b) => typeof a === "string" ? b.localeCompare(a) : b - a;
        return [...list].sort((a, b) => compare(value(a, this.key), value(b, this.key)) * (this.down ? 1 : -1));
    }
}
