/**
 * ELK, the layout library, takes a worker without a `document` for its own and answers each message
 * in it. Its caller then assigns `self`, which is read-only in a worker. A `document` prevents
 * this.
 */
Object.assign(globalThis, { document: {} });
Object.defineProperty(globalThis, 'self', { value: globalThis, writable: true, configurable: true });
