// SPDX-License-Identifier: MIT
// api.js - where the API is, and how it is asked.

const LIMIT = 8000; // milliseconds that an answer may take

export class NeedLogin extends Error {
    constructor(wrong) {
        super("user and password");
        this.wrong = wrong; // what was sent
    }
}

// The server tells nothing to this address, and what to set so that it does.
export class Closed extends Error {}

export class Api {
    // `given`: an address that somebody wrote; else the server of the page is asked for it.
    constructor(given = null) {
        this.base = null;    // what the paths of the API follow; "": this page's own server
        this.given = given;
        this.where = null;   // what the server told of its ports
        this.proved = false; // it answered, with the password where it wants one
    }

    // Is it neither where the page came from, nor what its server told? A link can lead there.
    get elsewhere() {
        return this.base !== null && this.base === this.given && new URL(this.base).origin !== location.origin;
    }

    // Passwords are kept for this tab, and each for the one API that it was given to.
    get key() {
        return "auth " + new URL(this.base + "/", location.href).href;
    }

    get auth() {
        return this.base === null ? null : sessionStorage.getItem(this.key);
    }

    login(user, password) {
        const bytes = new TextEncoder().encode(`${user}:${password}`);
        const basic = "Basic " + btoa(String.fromCharCode(...bytes));
        sessionStorage.setItem(this.key, user ? basic : `Bearer ${password}`);
        this.proved = false;
    }

    logout() {
        sessionStorage.removeItem(this.key);
        this.proved = false;
    }

    async fetch(url, how = {}) {
        const stop = new AbortController();
        const timer = setTimeout(() => stop.abort(), LIMIT);
        try {
            // "omit": we ask for the password ourselves, the browser need not. No redirects: it would go along.
            const answer = await fetch(url, {
                ...how, signal: stop.signal, credentials: "omit", cache: "no-store", redirect: "error",
            });
            if (answer.ok)
                return await answer.json();
            throw await this.refusal(url, answer, how.headers);
        } finally {
            clearTimeout(timer);
        }
    }

    async refusal(url, answer, sent) {
        const why = await answer.json().catch(() => null);
        if (answer.status === 401 && why?.error) // there is no password to ask for: it says what to set
            return new Closed(why.error);
        if (answer.status === 401) {
            this.logout(); // not again: a server locks who guesses
            return new NeedLogin(Boolean(sent));
        }
        if (answer.status === 429)
            return new Error("too many wrong passwords came from this address: wait a minute");
        return Object.assign(new Error(why?.error ?? `${url} answers ${answer.status}`), { status: answer.status });
    }

    async ask(path, method = "GET") {
        const headers = this.auth ? { Authorization: this.auth } : undefined;
        return this.fetch(`${this.base}/api/v1/${path}`, { method, headers });
    }

    // One question before many: a wrong password is wrong once.
    prove() {
        this.proving ??= this.ask("versions").then(() => this.proved = true).finally(() => this.proving = null);
        return this.proving;
    }

    // The page may have come by the port of the API, or by that of files and streams.
    find() {
        this.finding ??= this.look().finally(() => this.finding = null);
        return this.finding;
    }

    async look() {
        if (this.given) {
            this.given = new URL(this.given, location.href).href.replace(/\/+$/, "");
            if (!/^https?:/.test(this.given))
                throw new Error(`${this.given} is no address of an API`);
            this.base = this.given;
            return;
        }
        const where = this.where = await this.fetch(new URL("where.json", import.meta.url));
        const tls = location.protocol === "https:";
        const port = where.here_is_api ? null : tls ? where.api_tls : where.api;
        if (!where.here_is_api && !port)
            throw new Error(`the API is off${tls ? " for https" : ""}: see http_api in the configuration`);
        this.base = port ? `${location.protocol}//${location.hostname}:${port}` : "";
    }

    async get(path) {
        if (this.base === null)
            await this.find();
        if (!this.proved)
            await this.prove();
        const got = await this.ask(path);
        if (got.code !== 0)
            throw Object.assign(new Error(`${path}: code ${got.code}`), { code: got.code });
        return got;
    }

    // A list that an older server may not have: null.
    async maybe(path) {
        try {
            return await this.get(path);
        } catch (e) {
            if (e instanceof NeedLogin || e instanceof Closed)
                throw e;
            return null;
        }
    }

    // A page of the port of files is another site to the API, and those change nothing without a password.
    async kick(id) {
        const there = new URL(this.base + "/console/", location.href);
        try {
            await this.ask(`clients/${encodeURIComponent(id)}`, "DELETE");
        } catch (e) {
            if (e.status === 403 && !this.auth && there.origin !== location.origin)
                throw new Error(`without a password only ${there.href} kicks, opened on the server's own machine; ` +
                                "or set http_api { auth { ... } }");
            throw e;
        }
    }
}
