// SPDX-License-Identifier: MIT
// seek.js - the seek bar below a player of a file.

import { el, text } from "./dom.js";
import { clock } from "./format.js";

export class Seek {
    constructor(media) {
        this.media = media;
        this.bar = el("input", {
            type: "range", min: 0, step: 0.1, value: 0, "aria-label": "Position in the file",
            oninput: () => { this.held = true; this.show(Number(this.bar.value)); },
            onchange: () => { this.held = false; void this.media.seek(Number(this.bar.value)); },
        });
        this.place = el("span", { class: "dim" });
        this.row = el("div", { class: "bar seek", hidden: "" }, this.bar, this.place);
        media.video.after(this.row);
        for (const event of ["timeupdate", "playing", "emptied"])
            media.video.addEventListener(event, () => this.tell());
    }

    show(seconds) {
        text(this.place, `${clock(seconds)} / ${clock(this.media.duration)}`);
    }

    tell() {
        this.row.hidden = !this.media.duration;
        if (this.row.hidden || this.held)
            return;
        this.bar.max = this.media.duration;
        this.bar.value = this.media.position;
        this.show(this.media.position);
    }
}
