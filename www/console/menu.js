// SPDX-License-Identifier: MIT
// menu.js - a button that does the usual, and beside it one that opens a list of what else there is.

import { el, sync, text } from "./dom.js";

let shown = null; // at most one is open

function close() {
    shown?.list.setAttribute("hidden", "");
    shown?.opener.setAttribute("aria-expanded", "false");
    shown = null;
}

document.addEventListener("click", close);
document.addEventListener("keydown", e => {
    if (e.key !== "Escape" || !shown)
        return;
    const { opener } = shown;
    close();
    opener.focus();
});

export class Menu {
    // label: of the button. choose(key): null is what the button alone does.
    constructor(label, choose) {
        this.choose = choose;
        this.main = el("button", { class: "go", onclick: e => this.pick(e, null) }, label);
        this.opener = el("button", {
            class: "go more", title: "Play it by …", "aria-haspopup": "menu", "aria-expanded": "false", onclick: e => this.toggle(e),
        }, "▾");
        this.list = el("div", { class: "menu", role: "menu", hidden: "" });
        this.box = el("span", { class: "split" }, this.main, this.opener, this.list);
    }

    // It may be in a summary, which would fold.
    pick(e, key) {
        e.preventDefault();
        e.stopPropagation();
        close();
        this.choose(key);
    }

    toggle(e) {
        e.preventDefault();
        e.stopPropagation();
        const open = shown !== this;
        close();
        if (!open)
            return;
        shown = this;
        this.list.hidden = false;
        this.opener.setAttribute("aria-expanded", "true");
        this.list.firstElementChild?.focus();
    }

    // [key, label, note]. None: there is nothing to do; one: no list is needed.
    show(items) {
        this.box.hidden = items.length === 0;
        this.opener.hidden = items.length < 2;
        if (items.length < 2 && shown === this)
            close();
        sync(this.list, items, ([key]) => key, ([key]) => el("button", { role: "menuitem", onclick: e => this.pick(e, key) }, el("b"), el("small")),
            (e, [, label, note]) => { text(e.firstChild, label); text(e.lastChild, note); });
    }
}
