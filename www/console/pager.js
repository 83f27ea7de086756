// SPDX-License-Identifier: MIT
// pager.js - a page of a long list at a time: "‹ 51–100 of 3,000 ›".

import { el, text } from "./dom.js";
import { count } from "./format.js";

export class Pager {
    constructor(size, again) {
        Object.assign(this, { size, start: 0 });
        const step = (by, label, title) => el("button", {
            type: "button", title, "aria-label": title, onclick: () => { this.start = Math.max(0, this.start + by * size); again(); },
        }, label);
        this.back = step(-1, "‹", "The page before");
        this.on = step(1, "›", "The next page");
        this.where = el("span", { class: "dim" });
        this.box = el("span", { class: "pager", hidden: "" }, this.back, this.where, this.on);
    }

    get query() {
        return `start=${this.start}&count=${this.size}`;
    }

    // Of so many, `n` came. False: the page lies behind the end by now, and the first one is wanted.
    show(n, total) {
        if (n === 0 && this.start > 0 && total <= this.start) {
            this.start = 0;
            return false;
        }
        this.box.hidden = total <= this.size;
        this.back.disabled = this.start === 0;
        this.on.disabled = this.start + n >= total;
        text(this.where, `${count(this.start + 1)}–${count(this.start + n)} of ${count(total)}`);
        return true;
    }
}
