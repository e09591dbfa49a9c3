/**
 * ELK, which lays drawings out, takes a worker for its own and answers each message in it, unless
 * there is a document; what calls it sets `self` anew, which a worker has for reading only.
 */
Object.assign(globalThis, { document: {} });
Object.defineProperty(globalThis, 'self', { value: globalThis, writable: true, configurable: true });
