import { useEffect } from 'react';

// How much of the window is to be seen. A keyboard on the screen covers the lower part of a page,
// and some browsers then move the page up below it: the page takes only what is left. Below some
// heights its bars fold away for what is read and written.

/**
 * Heights in `rem`, so that large letters count: below the first the bars are lower, below the
 * second they are gone.
 */
const LOW_REM = 30;
const LOWEST_REM = 22.5;
/** px by which heights may differ that are the same. */
const SAME = 2;

type Low = 'low' | 'lowest' | null;

function lowOf(height: number, rem: number): Low {
  if (height < LOWEST_REM * rem) return 'lowest';
  return height < LOW_REM * rem ? 'low' : null;
}

function look(): void {
  const view = window.visualViewport;
  // Somebody who zooms in by fingers looks at a part of the page, and the page stays as it is.
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

/** To be called once, before the page is drawn. */
export function followViewHeight(): void {
  look();
  addEventListener('resize', look);
  window.visualViewport?.addEventListener('resize', look);
  window.visualViewport?.addEventListener('scroll', look);
}

/**
 * A file that is dropped where nobody takes it would be opened by the browser, in place of the
 * page.
 */
function leave(event: DragEvent): void {
  const { target, dataTransfer } = event;
  if (event.defaultPrevented || dataTransfer?.types.includes('Files') !== true) return;
  // This one takes files by itself.
  if (target instanceof HTMLInputElement && target.type === 'file') return;
  event.preventDefault();
  dataTransfer.dropEffect = 'none';
}

/** To be called once, until `signal` is aborted. */
export function leaveStrayDrops(signal: AbortSignal): void {
  addEventListener('dragover', leave, { signal });
  addEventListener('drop', leave, { signal });
}

// What opens over the page without an address of its own is closed by Back, as people expect it of
// a phone.

const MARK = 'roost-overlay';
const isMarked = () => (history.state as Readonly<Record<string, unknown>> | null)?.[MARK] === true;

/**
 * While `isOpen`, there is one step more in the history. Back takes it and closes; where it is
 * closed otherwise, the step is taken back, unless something has gone on from there in its place.
 */
export function useClosedByBack(isOpen: boolean, onClose: () => void): void {
  useEffect(() => {
    if (!isOpen) return undefined;
    // Straight through: no address changes.
    if (!isMarked()) history.pushState({ [MARK]: true }, '', location.href);
    const onBack = () => {
      if (!isMarked()) onClose();
    };
    addEventListener('popstate', onBack);
    return () => {
      removeEventListener('popstate', onBack);
      // What was chosen may go elsewhere first, in place of this step.
      setTimeout(() => {
        if (isMarked() && !document.querySelector('dialog[open]')) history.back();
      });
    };
  }, [isOpen, onClose]);
}
