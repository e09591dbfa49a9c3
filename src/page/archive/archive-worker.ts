/**
 * The archive's worker: packs and unpacks beside the page, so that the page is never held up by it.
 */
import { serveArchive } from './serve.ts';

serveArchive({
  postMessage: (message, transfer) => postMessage(message, { transfer }),
  addEventListener: (type, listener) => addEventListener(type, listener),
});
