// SPDX-License-Identifier: MIT
// copy.js - a button that copies a text.

import { el, text } from "./dom.js";

// Without TLS, pages of other machines have no clipboard, but the browser still copies a selection.
function copySelected(value) {
    const area = el("textarea", { class: "aside", readonly: "" });
    area.value = value;
    document.body.append(area);
    area.select();
    const ok = document.execCommand("copy");
    area.remove();
    return ok;
}

async function copy(value) {
    const ok = await navigator.clipboard?.writeText(value).then(() => true, () => false);
    return ok || copySelected(value);
}

// what(): returns the text when the button is pressed.
export function copyButton(what, title = "Copy") {
    const button = el("button", {
        class: "copy", type: "button", title, "aria-label": title,
        onclick: async e => {
            e.preventDefault();
            text(button, await copy(what()) ? "Copied" : "Not copied");
            setTimeout(() => text(button, "Copy"), 1500);
        },
    }, "Copy");
    return button;
}
