import { useEffect, useRef } from 'react';

const typing = (target: EventTarget | null) => target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Keys that work anywhere but in a field or a dialog. The `?` dialog lists them. */
export function useKeys(onHelp: () => void): void {
  const help = useRef(onHelp);
  useEffect(() => {
    help.current = onHelp;
  });
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || document.querySelector('dialog[open]')) return;
      const focus = (selector: string) => {
        const found = document.querySelector<HTMLElement>(selector);
        if (!found) return;
        event.preventDefault();
        found.focus();
      };
      if (event.key === '?') help.current();
      else if (event.key === 'g') focus('.grid .seat-button[tabindex="0"]');
      else if (event.key === 'c') focus('.compose textarea');
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}
