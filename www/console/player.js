// SPDX-License-Identifier: MIT
// player.js - plays one stream in the page and shows its state.

import { $, text } from "./dom.js";
import { Media } from "./media.js";
import { explain } from "./onair.js";
import { line } from "./rtc_stats.js";
import { Seek } from "./seek.js";

export class Player {
    constructor(api) {
        this.video = $("video");
        this.media = new Media(this.video, why => this.fail(why), (kind, url) => explain(api, kind, url));
        this.media.say = words => this.say(words);
        this.media.told = found => { this.found = found; this.tell(); };
        this.seek = new Seek(this.media);
        $("close").addEventListener("click", () => this.close());
        for (const event of ["playing", "resize", "timeupdate"])
            this.video.addEventListener(event, () => this.tell());
        this.video.addEventListener("playing", () => { $("trouble").hidden = true; });
    }

    close() {
        this.media.stop();
        $("screen").hidden = true;
    }

    fail(why) {
        text($("trouble"), why);
        $("trouble").hidden = false;
    }

    // Shows a temporary state.
    say(words) {
        text($("trouble"), words);
        $("trouble").hidden = !words;
    }

    tell() {
        const v = this.video;
        if (this.found)
            return text($("facts"), line(this.found));
        const ahead = v.buffered.length ? v.buffered.end(v.buffered.length - 1) - v.currentTime : 0;
        const lost = v.getVideoPlaybackQuality?.().droppedVideoFrames ?? 0;
        text($("facts"), v.videoWidth ?
            `${v.videoWidth}×${v.videoHeight}, ${ahead.toFixed(1)} s buffered${lost ? `, ${lost} frames lost` : ""}` : "");
    }

    // Plays the first of `ways`, [kind, label, url], whose library the server has.
    async play(ways, name) {
        $("trouble").hidden = true;
        $("screen").hidden = false;
        $("screen").scrollIntoView({ block: "nearest" });
        for (const [kind, , url] of ways) {
            text($("playing"), `${name} (${Media.kinds[kind]})`);
            text($("facts"), "");
            try {
                return await this.media.play(kind, url);
            } catch (e) {
                this.fail(e.message);
            }
        }
    }
}
