import { useEffect, useRef } from 'react';

const typing = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

const SELECTORS = { g: '.grid .seat-button[tabindex="0"]', c: '.compose textarea' } as const;

interface Keys {
  readonly onHelp: () => void;
  /** Shows the team and a conversation, where something else takes the whole page. */
  readonly onHome: () => void;
  readonly onPalette: () => void;
  /** To the conversation of this seat, 1 to 9. */
  readonly onSeat: (seat: number) => void;
  /** To the next conversation, or with -1 the one before, in which something is new. */
  readonly onNew: (step: 1 | -1) => void;
  /** Leaves what takes the whole page. */
  readonly onBack: () => void;
}

/**
 * Keys that work anywhere but in a field or a dialog. The `?` dialog lists them. `shown`: changes with what is on the
 * page; what a key leads to may only be there then.
 */
export function useKeys(given: Keys, shown: string): void {
  const keys = useRef(given);
  const wanted = useRef<string | null>(null);
  useEffect(() => {
    keys.current = given;
  });
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
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (
        (event.ctrlKey || event.metaKey) &&
        !event.altKey &&
        !event.shiftKey &&
        event.key.toLowerCase() === 'k' &&
        !document.querySelector('dialog[open]')
      ) {
        // The browser’s own would go to its bar.
        event.preventDefault();
        return keys.current.onPalette();
      }
      if (
        event.defaultPrevented ||
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        typing(event.target) ||
        document.querySelector('dialog[open]')
      )
        return;
      const focus = (selector: string) => {
        event.preventDefault();
        const found = document.querySelector<HTMLElement>(selector);
        if (found) return found.focus();
        wanted.current = selector;
        keys.current.onHome();
      };
      if (event.key === '?') keys.current.onHelp();
      else if (event.key === 'g' || event.key === 'c') focus(SELECTORS[event.key]);
      else if (/^[1-9]$/.test(event.key)) keys.current.onSeat(Number(event.key));
      else if (event.key === '[') keys.current.onNew(-1);
      else if (event.key === ']') keys.current.onNew(1);
      else if (event.key === 'Escape') keys.current.onBack();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}
