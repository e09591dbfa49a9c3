import { DEVICE_CODES } from '../../../shared/protocol/device-code-settings.ts';

/**
 * Whether this tab was opened by a code that another device showed. Told once: a reload does not
 * begin to join again.
 */
export function takeCameByCode(): boolean {
  try {
    const came = sessionStorage.getItem(DEVICE_CODES.remembered) !== null;
    if (came) sessionStorage.removeItem(DEVICE_CODES.remembered);
    return came;
  } catch {
    // A browser that keeps nothing remembers nothing of it.
    return false;
  }
}
