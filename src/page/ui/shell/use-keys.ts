/** Global keyboard shortcuts, and moving the focus between grid and composer. */
import { useCallback, useEffect, useRef } from 'react';
import { fetchCommands, useCommands, type Commands } from '../commands/later.ts';
import { isPressed, type Around, type Command, type Pressed } from '../commands/command.ts';
import { keyOf } from '../parts/keys.ts';

const isField = (target: EventTarget | null): target is HTMLElement =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** The palette's shortcut, which means something else to browsers. */
const PALETTE_KEYS = ['Ctrl', 'K'];

const SELECTORS = { grid: '.grid .seat-button[tabindex="0"]', composer: '.compose textarea' } as const;

/**
 * Focuses the grid or the composer. If another view covers the page, `onHome` runs first. `shown`
 * changes with the content of the page: the element to focus may appear only then.
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
    // The element may still be loading. If the person does something else meanwhile, the focus
    // stays there.
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
 * Runs the commands of the table by their keys: anywhere except in dialogs, and in fields only
 * those with Ctrl or ⌘. Escape leaves a field first. `may`: which commands are available.
 */
export function useKeys(around: Around, may: (command: Command) => boolean): void {
  const held = useRef({ around, may });
  useEffect(() => {
    held.current = { around, may };
  });
  const commands = useCommands();
  useEffect(() => {
    /** Runs the command of these keys; false: there is none. */
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
      // The table is still loading. The press takes effect once it is there, and the browser must
      // not handle it meanwhile.
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
