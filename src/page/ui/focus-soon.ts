/** Moves the focus to something that may not be on the page yet. */

/**
 * Focuses the first element of this selector as soon as there is one, unless the person does
 * something else before. Returns a function that ends the wait.
 */
export function focusSoon(selector: string): () => void {
  const focus = () => {
    const element = document.querySelector<HTMLElement>(selector);
    element?.focus();
    return element !== null;
  };
  if (focus()) return () => undefined;
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
}
