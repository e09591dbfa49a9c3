/**
 * The one place that reads which key was pressed. An input method (for Chinese, Japanese, Korean,
 * or accents) has keys of its own while somebody composes: Enter takes a candidate, and Escape
 * drops it. Such a press must neither send nor close anything. Lint holds every handler of the page
 * to this.
 */
import type { KeyboardEvent as ReactKeyboardEvent } from 'react';

/**
 * What browsers give for a key that the input method took. Safari gives it for the press that ends
 * a composition, which is over by then.
 */
const TAKEN_BY_INPUT_METHOD = 229;

type Press = KeyboardEvent | ReactKeyboardEvent;

const nativeOf = (event: Press): KeyboardEvent => ('nativeEvent' in event ? event.nativeEvent : event);

/** Does the input method have this press? */
const isComposed = (event: Press): boolean => {
  const { isComposing, keyCode } = nativeOf(event);
  return isComposing || keyCode === TAKEN_BY_INPUT_METHOD;
};

/** The key by its name (`Enter`, `a`); empty where the input method has it. */
export const keyOf = (event: Press): string => (isComposed(event) ? '' : nativeOf(event).key);

/** A dialog closes by Escape without any handler of ours, also where that drops a candidate. */
function keepDialog(event: KeyboardEvent): void {
  if (isComposed(event) && event.key === 'Escape') event.preventDefault();
}

/** To be called once, until `signal` is aborted. */
export const keepDialogsWhileComposing = (signal: AbortSignal): void =>
  document.addEventListener('keydown', keepDialog, { capture: true, signal });
