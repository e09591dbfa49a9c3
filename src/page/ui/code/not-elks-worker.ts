/**
 * ELK, the layout library, assumes that a worker without a `document` is its own, and answers each
 * message in it. So this defines a `document`. The renderer also assigns `self`, which is read-only
 * in a worker. So this makes it writable.
 */
Object.assign(globalThis, { document: {} });
Object.defineProperty(globalThis, 'self', { value: globalThis, writable: true, configurable: true });
