/** Behaviour of the whole window: keys, visible height, and the browser's Back. */
import { useCallback, useEffect, useRef } from 'react';
import { type Commands, fetchCommands, useCommands } from '../commands/later.ts';
import { type Around, type Command, isPressed, type Pressed } from '../commands/command.ts';
import { isField, keyOf } from '../design/keys.ts';
import { focusSoon } from '../focus-soon.ts';

// Global keyboard shortcuts, and moving the focus between grid and composer.

/** The palette's shortcut, which means something else to browsers. */
const PALETTE_KEYS = ['Ctrl', 'K'];

const SELECTORS = { grid: '.grid .seat-button[tabindex="0"]', composer: '.compose textarea' } as const;

/**
 * Focuses the grid or the composer. If another view covers the page, `onHome` runs first. `shown`
 * changes with the content of the page: the element to focus may appear only then.
 */
export function useFocusPlace(shown: string, onHome: () => void): Around['focus'] {
  const wantedPlace = useRef<string | null>(null);
  useEffect(() => {
    const selector = wantedPlace.current;
    wantedPlace.current = null;
    if (selector === null) return undefined;
    // What has the focus then may still be loading.
    return focusSoon(selector);
  }, [shown]);
  return useCallback(
    (place) => {
      const found = document.querySelector<HTMLElement>(SELECTORS[place]);
      if (found) return found.focus();
      wantedPlace.current = SELECTORS[place];
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
  const latest = useRef({ around, may });
  useEffect(() => {
    latest.current = { around, may };
  });
  const commands = useCommands();
  useEffect(() => {
    /** Runs the command of these keys; false: there is none. */
    const run = ({ commandsOf }: Commands, press: Pressed): boolean => {
      const command = commandsOf(latest.current.around).find(
        ({ keys }) => keys !== undefined && isPressed(keys, press),
      );
      if (!command || command.disabled || !latest.current.may(command)) return false;
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

// Tracks the visible part of the window. An on-screen keyboard covers the lower part of a page, and
// some browsers then scroll the page up behind it. The page uses only the visible height. Below
// certain heights its bars shrink, in favour of the content.

/**
 * Heights in `rem`, so that large text counts: below the first the bars are lower, below the second
 * they disappear.
 */
const LOW_REM = 30;
const LOWEST_REM = 22.5;
/** px by which equal heights may differ. */
const SAME = 2;

type Low = 'low' | 'lowest' | null;

function lowOf(height: number, rem: number): Low {
  if (height < LOWEST_REM * rem) return 'lowest';
  return height < LOW_REM * rem ? 'low' : null;
}

function update(): void {
  const view = window.visualViewport;
  // Pinch zoom shows a part of the page, and does not change its layout.
  if (view && view.scale > 1.01) return;
  const root = document.documentElement;
  const height = view?.height ?? innerHeight;
  const isCovered = innerHeight - height > SAME;
  const top = view?.offsetTop ?? 0;
  if (isCovered) root.style.setProperty('--view-height', `${height}px`);
  else root.style.removeProperty('--view-height');
  if (top > SAME) root.style.setProperty('--view-top', `${top}px`);
  else root.style.removeProperty('--view-top');
  const low = lowOf(height, Number.parseFloat(getComputedStyle(root).fontSize));
  if (low === null) delete root.dataset['low'];
  else root.dataset['low'] = low;
}

/** Call once, before the page is drawn. */
export function followViewHeight(): void {
  update();
  addEventListener('resize', update);
  window.visualViewport?.addEventListener('resize', update);
  window.visualViewport?.addEventListener('scroll', update);
}

// The browser's Back closes an overlay without an address of its own, as people expect on a phone.

const MARK = 'roost-overlay';
const isMarked = () => (history.state as Readonly<Record<string, unknown>> | null)?.[MARK] === true;

/**
 * Adds a history entry while `isOpen`. Back removes the entry and calls `onClose`. If it is closed
 * in another way, the entry is removed, unless navigation has replaced it.
 */
export function useClosedByBack(isOpen: boolean, onClose: () => void): void {
  useEffect(() => {
    if (!isOpen) return undefined;
    // Directly in the history, since the address does not change.
    if (!isMarked()) history.pushState({ [MARK]: true }, '', location.href);
    const onBack = () => {
      if (!isMarked()) onClose();
    };
    addEventListener('popstate', onBack);
    return () => {
      removeEventListener('popstate', onBack);
      // The chosen action may navigate first and replace this entry.
      setTimeout(() => {
        if (isMarked() && !document.querySelector('dialog[open]')) history.back();
      });
    };
  }, [isOpen, onClose]);
}

/** Where this browser stores the appearance that the person chose; nothing: as the system. */
export const APPEARANCE_KEY = 'roost-appearance';
