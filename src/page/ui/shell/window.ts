/** Behaviour of the whole window: visible height, stray drops, and the browser's Back. */
import { useEffect } from 'react';

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

function look(): void {
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
  look();
  addEventListener('resize', look);
  window.visualViewport?.addEventListener('resize', look);
  window.visualViewport?.addEventListener('scroll', look);
}

/** The browser would open a file that is dropped outside of a drop zone in place of the page. */
function leave(event: DragEvent): void {
  const { target, dataTransfer } = event;
  if (event.defaultPrevented || dataTransfer?.types.includes('Files') !== true) return;
  // A file input accepts files by itself.
  if (target instanceof HTMLInputElement && target.type === 'file') return;
  event.preventDefault();
  dataTransfer.dropEffect = 'none';
}

/** Call once. Works until `signal` is aborted. */
export function leaveStrayDrops(signal: AbortSignal): void {
  addEventListener('dragover', leave, { signal });
  addEventListener('drop', leave, { signal });
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
