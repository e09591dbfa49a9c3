/**
 * What stands in the browser's texts that was not sent: read where there is any, and with threads.
 */
import type { TextStorage } from './ports.ts';
import type { Sending } from './sending.ts';
import { IN_THREAD } from './unsent.ts';

/** The threads that something is unsent in. */
export const threadsUnsent = (browser: TextStorage): readonly string[] => [
  ...new Set(browser.keys(IN_THREAD).map((key) => key.slice(IN_THREAD.length, key.lastIndexOf(':')))),
];

const isText = (value: unknown): value is string => typeof value === 'string';
const isSending = (value: unknown): value is Sending =>
  typeof value === 'object' &&
  value !== null &&
  'clientId' in value &&
  isText(value.clientId) &&
  'text' in value &&
  isText(value.text) &&
  'time' in value &&
  typeof value.time === 'number';

/**
 * What stands there under `prefix`, the oldest first. `isOne`: what else makes it one; what is none
 * is taken away.
 */
export function readUnsent<Item extends Sending>(
  browser: TextStorage,
  prefix: string,
  isOne: (value: Sending) => value is Item,
): Item[] {
  return browser
    .keys(prefix)
    .flatMap((key) => {
      try {
        const value: unknown = JSON.parse(browser.read(key) ?? '');
        if (isSending(value) && isOne(value)) return [value];
      } catch {
        // Somebody else has written there.
      }
      browser.write(key, '');
      return [];
    })
    .sort((a, b) => a.time - b.time);
}
