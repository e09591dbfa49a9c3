/** What a reader opened in a conversation stays open when it scrolls out of sight and back. */
import { createContext, use, useState } from 'react';

export const OpenedKeys = createContext<Set<string>>(new Set());

/** Is the thing with this key open? It begins closed. */
export function useOpened(key: string): readonly [boolean, (open: boolean) => void] {
  const opened = use(OpenedKeys);
  const [open, setOpen] = useState(() => opened.has(key));
  return [
    open,
    (next) => {
      if (next) opened.add(key);
      else opened.delete(key);
      setOpen(next);
    },
  ];
}
