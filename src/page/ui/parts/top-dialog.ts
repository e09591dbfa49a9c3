/**
 * Modal dialogs that are open. All outside of the topmost is inert, in the top layer too: what is
 * told meanwhile has to stand in it.
 */
import { createListeners } from '../../../shared/domain/platform/events.ts';
import { useSyncExternalStore } from 'react';

let open: readonly HTMLDialogElement[] = [];
const opened = createListeners();

function setOpen(next: readonly HTMLDialogElement[]) {
  open = next;
  opened.tell();
}

/** Opens it over everything else. Returns the way to close it. */
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
