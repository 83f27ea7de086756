// SPDX-License-Identifier: MIT
// pager.js - buttons to page through a long list: "‹ 51–100 of 3,000 ›".

import { el, text } from "./dom.js";
import { count } from "./format.js";

export class Pager {
    constructor(size, again) {
        Object.assign(this, { size, start: 0 });
        const step = (by, label, title) => el("button", {
            type: "button", title, "aria-label": title, onclick: () => { this.start = Math.max(0, this.start + by * size); again(); },
        }, label);
        this.back = step(-1, "‹", "Previous page");
        this.on = step(1, "›", "Next page");
        this.where = el("span", { class: "dim" });
        this.box = el("span", { class: "pager", hidden: "" }, this.back, this.where, this.on);
    }

    get query() {
        return `start=${this.start}&count=${this.size}`;
    }

    // `n` of `total` rows are shown. Returns false if the page is now past the end; the caller must request the first page.
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
