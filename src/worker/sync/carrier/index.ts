/**
 * The tab's side of direct connections. Only tabs can have peer connections, so one tab carries
 * those that the data worker orders (`../direct`).
 *
 * The tab with the Web Lock is the carrier. When it closes, the next tab takes over and the worker
 * orders its connections anew.
 *
 * Invariants:
 * - Nothing of WebRTC is loaded before the household is shared.
 * - Only addresses of this machine and its networks are offered.
 *
 * It does not know keys, entries, or which device is at the other end.
 */
export { carryWhenShared } from './when-shared.ts';
