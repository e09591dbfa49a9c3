/**
 * How much of the window is to be seen. A keyboard on the screen covers the lower part of a page,
 * and some browsers then move the page up below it: the page takes only what is left. Below some
 * heights its bars fold away for what is read and written.
 */

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
