/**
 * The one place that reads which key was pressed. An input method (for Chinese, Japanese, Korean,
 * or accents) uses keys itself during a composition: Enter accepts a candidate, and Escape discards
 * it. Such a press must neither send nor close anything. Lint requires every handler of the page to
 * use this.
 */
import type { KeyboardEvent as ReactKeyboardEvent } from 'react';

/**
 * The key code of a press that the input method handled. Safari also reports it for the press that
 * ends a composition, after its end.
 */
const TAKEN_BY_INPUT_METHOD = 229;

type Press = KeyboardEvent | ReactKeyboardEvent;

const nativeOf = (event: Press): KeyboardEvent => ('nativeEvent' in event ? event.nativeEvent : event);

/** Does the input method handle this press? */
const isComposed = (event: Press): boolean => {
  const { isComposing, keyCode } = nativeOf(event);
  return isComposing || keyCode === TAKEN_BY_INPUT_METHOD;
};

/** The key's name (`Enter`, `a`); empty if the input method handles it. */
export const keyOf = (event: Press): string => (isComposed(event) ? '' : nativeOf(event).key);

/** A dialog closes on Escape without any handler of ours, even when Escape discards a candidate. */
function keepDialog(event: KeyboardEvent): void {
  if (isComposed(event) && event.key === 'Escape') event.preventDefault();
}

/** Call once. Works until `signal` is aborted. */
export const keepDialogsWhileComposing = (signal: AbortSignal): void =>
  document.addEventListener('keydown', keepDialog, { capture: true, signal });
