import { useCallback, useEffect, useRef } from 'react';
import { useCommands } from '../commands/later.ts';
import { isPressed, type Around, type Command } from '../commands/command.ts';

const isField = (target: EventTarget | null): target is HTMLElement =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

const SELECTORS = { grid: '.grid .seat-button[tabindex="0"]', composer: '.compose textarea' } as const;

/**
 * Puts the focus into the team or where one writes; where something else takes the whole page, after `onHome`. `shown`: changes with
 * what is on the page; what is to have the focus may only be there then.
 */
export function useFocusPlace(shown: string, onHome: () => void): Around['focus'] {
  const wanted = useRef<string | null>(null);
  useEffect(() => {
    const selector = wanted.current;
    wanted.current = null;
    if (selector === null) return undefined;
    const focus = () => {
      const found = document.querySelector<HTMLElement>(selector);
      found?.focus();
      return found !== null;
    };
    if (focus()) return undefined;
    // It may have to be fetched first; whoever goes on meanwhile is left where they are.
    const stop = () => {
      arrivals.disconnect();
      document.removeEventListener('keydown', stop);
      document.removeEventListener('pointerdown', stop);
    };
    const arrivals = new MutationObserver(() => {
      if (focus()) stop();
    });
    arrivals.observe(document.body, { childList: true, subtree: true });
    document.addEventListener('keydown', stop);
    document.addEventListener('pointerdown', stop);
    return stop;
  }, [shown]);
  return useCallback(
    (place) => {
      const found = document.querySelector<HTMLElement>(SELECTORS[place]);
      if (found) return found.focus();
      wanted.current = SELECTORS[place];
      onHome();
    },
    [onHome],
  );
}

/**
 * Runs the commands of the table by their keys: anywhere but in a dialog, and in a field only those with Ctrl or ⌘.
 * Escape leaves a field first. `may`: which of them there are now.
 */
export function useKeys(around: Around, may: (command: Command) => boolean): void {
  const held = useRef({ around, may });
  useEffect(() => {
    held.current = { around, may };
  });
  const commands = useCommands();
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.isComposing || document.querySelector('dialog[open]')) return;
      if (isField(event.target) && !event.ctrlKey && !event.metaKey) {
        if (event.key === 'Escape') event.target.blur();
        return;
      }
      const key =
        event.key === 'Escape' ? { key: 'Esc', ctrlKey: false, metaKey: false, altKey: false, shiftKey: false } : event;
      const command = commands
        ?.commandsOf(held.current.around)
        .find(({ keys }) => keys !== undefined && isPressed(keys, key));
      if (!command || command.disabled || !held.current.may(command)) return;
      // The browser’s own would go to its bar, or the letter into the field that has the focus then.
      event.preventDefault();
      command.run();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [commands]);
}
