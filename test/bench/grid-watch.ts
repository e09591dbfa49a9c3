/**
 * Runs in the page before anything of its own: marks when the grid is on the screen, from the start
 * of the navigation.
 */
export function watchGrid(): void {
  const observer = new MutationObserver(() => {
    if (document.querySelectorAll('[aria-label="The team"] button').length < 9) return;
    observer.disconnect();
    // A frame later it is on the screen.
    requestAnimationFrame(() => setTimeout(() => performance.mark('grid-painted')));
  });
  observer.observe(document, { childList: true, subtree: true });
}
