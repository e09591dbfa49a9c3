import { useCallback, useEffect, useRef } from 'react';
import { fetchCommands, useCommands, type Commands } from '../commands/later.ts';
import { isPressed, type Around, type Command, type Pressed } from '../commands/command.ts';
import { keyOf } from '../parts/keys.ts';

const isField = (target: EventTarget | null): target is HTMLElement =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** The palette's, of which the browser has a meaning of its own. */
const PALETTE_KEYS = ['Ctrl', 'K'];

const SELECTORS = { grid: '.grid .seat-button[tabindex="0"]', composer: '.compose textarea' } as const;

/**
 * Puts the focus into the team or where one writes; where something else takes the whole page,
 * after `onHome`. `shown`: changes with what is on the page; what is to have the focus may only be
 * there then.
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
 * Runs the commands of the table by their keys: anywhere but in a dialog, and in a field only those
 * with Ctrl or ⌘. Escape leaves a field first. `may`: which of them there are now.
 */
export function useKeys(around: Around, may: (command: Command) => boolean): void {
  const held = useRef({ around, may });
  useEffect(() => {
    held.current = { around, may };
  });
  const commands = useCommands();
  useEffect(() => {
    /** Runs the command that has these keys; false where none has. */
    const run = ({ commandsOf }: Commands, press: Pressed): boolean => {
      const command = commandsOf(held.current.around).find(({ keys }) => keys !== undefined && isPressed(keys, press));
      if (!command || command.disabled || !held.current.may(command)) return false;
      command.run();
      return true;
    };
    const onKeyDown = (event: KeyboardEvent) => {
      const key = keyOf(event);
      if (event.defaultPrevented || key === '' || document.querySelector('dialog[open]')) return;
      const { ctrlKey, metaKey, altKey, shiftKey } = event;
      if (isField(event.target) && !ctrlKey && !metaKey) {
        if (key === 'Escape') event.target.blur();
        return;
      }
      const press =
        key === 'Escape'
          ? { key: 'Esc', ctrlKey: false, metaKey: false, altKey: false, shiftKey: false }
          : { key, ctrlKey, metaKey, altKey, shiftKey };
      if (commands) {
        if (run(commands, press)) event.preventDefault();
        return;
      }
      // The table is still being fetched: the press counts once it is here. The browser must not
      // take it meanwhile.
      if (isPressed(PALETTE_KEYS, press)) event.preventDefault();
      fetchCommands().then(
        (fetched) => void run(fetched, press),
        (error: unknown) => console.warn('A key does nothing, because the commands cannot be fetched:', error),
      );
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [commands]);
}
