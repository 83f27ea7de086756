// SPDX-License-Identifier: MIT
// dom.js - creates elements without HTML text, so that names chosen by peers are always plain text.

export const $ = id => document.getElementById(id);

// el("td", { class: "id", title: t }, "text", child, null)
export function el(tag, attrs = {}, ...inside) {
    const e = document.createElement(tag);
    for (const [k, v] of Object.entries(attrs)) {
        if (k.startsWith("on"))
            e.addEventListener(k.slice(2), v);
        else if (v !== null && v !== undefined)
            e.setAttribute(k, v);
    }
    e.append(...inside.filter(x => x !== null && x !== undefined));
    return e;
}

// Sets the text only if it differs, so that selection and focus stay.
export function text(e, value) {
    if (e.textContent !== value)
        e.textContent = value;
}

// Makes the children of `parent` match `list` and its order, and keeps existing elements.
// Calls make(key) for new items, update(element, item) for all.
export function sync(parent, list, key, make, update) {
    const old = new Map([...parent.children].map(e => [e.dataset.key, e]));
    let at = parent.firstElementChild;
    for (const item of list) {
        const k = String(key(item));
        let e = old.get(k);
        if (!e) {
            e = make(item);
            e.dataset.key = k;
        }
        old.delete(k);
        update(e, item);
        if (e === at)
            at = at.nextElementSibling;
        else
            parent.insertBefore(e, at);
    }
    for (const e of old.values())
        e.remove();
}
