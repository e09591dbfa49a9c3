/**
 * Open modal dialogs. Everything outside of the topmost one is inert, even in the top layer, so
 * notices must be shown inside it.
 */
import { createListeners } from '../../../shared/domain/platform/events.ts';
import { useSyncExternalStore } from 'react';

let open: readonly HTMLDialogElement[] = [];
const opened = createListeners();

function setOpen(next: readonly HTMLDialogElement[]) {
  open = next;
  opened.tell();
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
export const useTopDialog = (): HTMLDialogElement | null =>
  useSyncExternalStore(opened.subscribe, () => open.at(-1) ?? null);
