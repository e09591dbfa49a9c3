/**
 * The one place that reads which key was pressed. An input method (for Chinese, Japanese, Korean,
 * or accents) uses keys itself during a composition: Enter accepts a candidate, and Escape discards
 * it. Such a press must neither send nor close anything. Lint requires every handler of the page to
 * use this.
 */
import { type KeyboardEvent as ReactKeyboardEvent, useSyncExternalStore } from 'react';

/**
 * Maps an arrow key to its left-to-right equivalent. In a right-to-left page, the next item is on
 * the left.
 */
export function arrowAlong(key: string, element: Element): string {
  if (getComputedStyle(element).direction !== 'rtl') return key;
  return key === 'ArrowRight' ? 'ArrowLeft' : key === 'ArrowLeft' ? 'ArrowRight' : key;
}

// Open modal dialogs. Everything outside of the topmost one is inert, even in the top layer, so
// notices must be shown inside it.

let open: readonly HTMLDialogElement[] = [];
const listeners = new Set<() => void>();

function setOpen(next: readonly HTMLDialogElement[]) {
  open = next;
  for (const listener of [...listeners]) listener();
}
function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/** Opens it above everything else. Returns a function that closes it. */
export function openModal(dialog: HTMLDialogElement): () => void {
  dialog.showModal();
  setOpen([...open, dialog]);
  return () => {
    dialog.close();
    setOpen(open.filter((other) => other !== dialog));
  };
}

/** The dialog on top; null: none is open. */
export const useTopDialog = (): HTMLDialogElement | null => useSyncExternalStore(subscribe, () => open.at(-1) ?? null);

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

/** Is something typed or chosen in this element? */
export const isField = (target: EventTarget | null): target is HTMLElement =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
