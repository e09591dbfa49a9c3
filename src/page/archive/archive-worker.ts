/** The archive's worker. It packs and unpacks without blocking the page. */
import { serveArchive } from './serve.ts';

serveArchive({
  postMessage: (message, transfer) => postMessage(message, { transfer }),
  addEventListener: (type, listener) => addEventListener(type, listener),
});
