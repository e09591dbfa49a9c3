import { t } from '../../language/t.ts';
import type { RoostState } from '../../state/index.ts';

/** Copies a text to the clipboard, with a notice. */
export async function copyText(state: RoostState, text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    state.notices.info(t`${what} copied.`);
  } catch (error) {
    // The browser may refuse. The notice advises to select the text by hand.
    state.notices.error(
      t`The browser did not allow copying (${error instanceof Error ? error.name : 'no reason given'}). Select the text and copy it by hand.`,
    );
  }
}
