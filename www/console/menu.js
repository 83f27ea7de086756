// SPDX-License-Identifier: MIT
// menu.js - a button for the default action, with a second one that opens a list of alternatives.

import { el, sync, text } from "./dom.js";

let shown = null; // at most one list is open

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
    // label: text of the button. choose(key): called with null for the default action.
    constructor(label, choose) {
        this.choose = choose;
        this.main = el("button", { class: "go", onclick: e => this.pick(e, null) }, label);
        this.opener = el("button", {
            class: "go more", title: "Play over …", "aria-haspopup": "menu", "aria-expanded": "false", onclick: e => this.toggle(e),
        }, "▾");
        this.list = el("div", { class: "menu", role: "menu", hidden: "" });
        this.box = el("span", { class: "split" }, this.main, this.opener, this.list);
    }

    // A click in a <summary> would fold it.
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

    // items: [key, label, note]. No items: hidden; one item: no list.
    show(items) {
        this.box.hidden = items.length === 0;
        this.opener.hidden = items.length < 2;
        if (items.length < 2 && shown === this)
            close();
        sync(this.list, items, ([key]) => key, ([key]) => el("button", { role: "menuitem", onclick: e => this.pick(e, key) }, el("b"), el("small")),
            (e, [, label, note]) => { text(e.firstChild, label); text(e.lastChild, note); });
    }
}
