/** Marks when the grid is on the screen, and keeps every stretch in which the page's own thread was blocked. */

declare global {
  interface Window {
    /** ms of each stretch over 50 ms in which the page's thread was blocked, since it was last emptied. */
    blocked: number[];
  }
}

/** Runs in the page before anything of its own; the mark counts from the start of the navigation. */
export function watchGrid(): void {
  const observer = new MutationObserver(() => {
    if (document.querySelectorAll('[aria-label="The team"] button').length < 9) return;
    observer.disconnect();
    // A frame later it is on the screen.
    requestAnimationFrame(() => setTimeout(() => performance.mark('grid-painted')));
  });
  observer.observe(document, { childList: true, subtree: true });
}

export function watchBlocked(): void {
  window.blocked = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.blocked.push(entry.duration);
  }).observe({ type: 'longtask', buffered: true });
}
