// SPDX-License-Identifier: MIT
// api.js - finds the API and sends requests to it.

const LIMIT = 8000; // milliseconds to wait for a response

export class NeedLogin extends Error {
    constructor(wrong) {
        super("user and password");
        this.wrong = wrong; // the rejected credentials
    }
}

// The API is closed to this address; the message says what to set.
export class Closed extends Error {}

export class Api {
    // `given`: an address from the user; without it the server of this page is asked.
    constructor(given = null) {
        this.base = null;    // prefix of the API's paths; "" is the server of this page
        this.given = given;
        this.where = null;   // ports that the server announced
        this.proved = false; // the API has answered, with the password if it requires one
    }

    // Whether the API is neither the server of this page nor announced by it. A link can lead there.
    get elsewhere() {
        return this.base !== null && this.base === this.given && new URL(this.base).origin !== location.origin;
    }

    // Passwords are stored for this tab, and separately for each API.
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
            // "omit": this page asks for the password, not the browser. A redirect would pass the password on.
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
        if (answer.status === 401 && why?.error) // the server has no password; the error says what to set
            return new Closed(why.error);
        if (answer.status === 401) {
            this.logout(); // do not retry: the server locks addresses that guess
            return new NeedLogin(Boolean(sent));
        }
        if (answer.status === 429)
            return new Error("too many wrong passwords from this address: wait a minute");
        return Object.assign(new Error(why?.error ?? `${url} answered ${answer.status}`), { status: answer.status });
    }

    async ask(path, method = "GET") {
        const headers = this.auth ? { Authorization: this.auth } : undefined;
        return this.fetch(`${this.base}/api/v1/${path}`, { method, headers });
    }

    // One request before many, so that a wrong password counts once.
    prove() {
        this.proving ??= this.ask("versions").then(() => this.proved = true).finally(() => this.proving = null);
        return this.proving;
    }

    // This page can come from the port of the API or from that of files and streams.
    find() {
        this.finding ??= this.look().finally(() => this.finding = null);
        return this.finding;
    }

    async look() {
        if (this.given) {
            this.given = new URL(this.given, location.href).href.replace(/\/+$/, "");
            if (!/^https?:/.test(this.given))
                throw new Error(`${this.given} is not the address of an API`);
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

    // As get(), but null for a list that an older server does not have.
    async maybe(path) {
        try {
            return await this.get(path);
        } catch (e) {
            if (e instanceof NeedLogin || e instanceof Closed)
                throw e;
            return null;
        }
    }

    // To the API a page from the port of files is another site, and other sites need a password to change anything.
    async kick(id) {
        const there = new URL(this.base + "/console/", location.href);
        try {
            await this.ask(`clients/${encodeURIComponent(id)}`, "DELETE");
        } catch (e) {
            if (e.status === 403 && !this.auth && there.origin !== location.origin)
                throw new Error(`without a password, clients can only be disconnected from ${there.href} on the server's own machine; ` +
                                "or set http_api { auth { ... } }");
            throw e;
        }
    }
}
