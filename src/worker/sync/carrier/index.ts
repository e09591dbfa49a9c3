/**
 * The tab's side of direct connections; what carries them is fetched when it is needed. The owner's
 * side is ../direct.
 */
export { carryWhenShared } from './when-shared.ts';
