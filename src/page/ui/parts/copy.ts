import { t } from '../../language/t.ts';
import type { RoostState } from '../../state/index.ts';

/** Puts a text on the clipboard and says so. */
export async function copyText(state: RoostState, text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    state.notices.info(t`${what} copied.`);
  } catch (error) {
    // The browser may refuse; selecting by hand still works, and is what is advised.
    state.notices.error(
      t`The browser did not allow copying (${error instanceof Error ? error.name : 'no reason given'}). Select the text and copy it by hand.`,
    );
  }
}
