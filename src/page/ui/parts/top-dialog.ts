/**
 * Modal dialogs that are open. All outside of the topmost is inert, in the top layer too: what is
 * told meanwhile has to stand in it.
 */
import { useSyncExternalStore } from 'react';

let open: readonly HTMLDialogElement[] = [];
const listeners = new Set<() => void>();

function setOpen(next: readonly HTMLDialogElement[]) {
  open = next;
  listeners.forEach((listener) => listener());
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

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

/** The dialog on top; null: none is open. */
export const useTopDialog = (): HTMLDialogElement | null => useSyncExternalStore(subscribe, () => open.at(-1) ?? null);
