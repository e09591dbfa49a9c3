/** The worker of exports and imports. It packs and unpacks without blocking the page. */
import { serveExports } from './serve.ts';

serveExports({
  postMessage: (message, transfer) => postMessage(message, { transfer }),
  addEventListener: (type, listener) => addEventListener(type, listener),
});
