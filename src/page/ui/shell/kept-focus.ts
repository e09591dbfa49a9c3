/**
 * Keeps the focus of a person at a keyboard near its place. A pressed button is disabled while it
 * works, or is removed with what it belongs to, and browsers then leave the focus nowhere.
 */
const COMPOSER = '.compose textarea';
const HEADING = ':is(h1, h2)[tabindex="-1"]';

/** ms in which a closed dialog gives the focus back by itself. */
const SETTLES_MS = 50;

/** Where the focus of this former ancestor goes on; null: to no element in it. */
const nearIn = (place: Element) =>
  place.querySelector<HTMLElement>(
    place.matches('.chat') ? COMPOSER : place.matches('.hearth') ? '.seat-button[tabindex="0"]' : HEADING,
  );

/** The same link in another place, as of a card that moved to another column. */
const drawnAnew = (element: Element) => {
  const href = element.getAttribute('href');
  return href === null ? null : document.querySelector(`#main [href="${CSS.escape(href)}"]`);
};

/** Call once. Works until `signal` is aborted. */
export function keepFocus(signal: AbortSignal): void {
  /** The focused element, and the elements around it. */
  let path: readonly Element[] = [];
  const check = () => {
    const [element] = path;
    if (!element || document.activeElement !== document.body) return;
    if (element.isConnected && element.matches(':disabled')) return;
    const place = path.find((each) => each.isConnected && nearIn(each));
    const heads = document.querySelectorAll<HTMLElement>(`#main ${HEADING}`);
    for (const next of element.isConnected ? [element] : [drawnAnew(element), place && nearIn(place), ...heads]) {
      if (next instanceof HTMLElement) next.focus({ preventScroll: true });
      // A hidden element cannot take the focus. What comes in its place may still be loading.
      if (document.activeElement !== document.body) return;
    }
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const observer = new MutationObserver(() => {
    if (path.length === 0 || document.activeElement !== document.body) return;
    clearTimeout(timer);
    timer = setTimeout(check, SETTLES_MS);
  });
  observer.observe(document.body, { subtree: true, childList: true, attributeFilter: ['disabled'] });
  signal.addEventListener('abort', () => observer.disconnect());
  document.addEventListener(
    'focusin',
    ({ target }) => {
      path = [];
      if (!(target instanceof Element) || !target.matches(':focus-visible')) return;
      // A change of the whole view moves the focus by itself.
      for (let each: Element | null = target; each && !each.matches('#main, .app'); each = each.parentElement)
        path = [...path, each];
    },
    { signal },
  );
  document.addEventListener(
    'focusout',
    ({ target }) =>
      queueMicrotask(() => {
        // The person left it, as with Escape.
        if (target === path[0] && target instanceof Element && target.isConnected && !target.matches(':disabled'))
          path = [];
      }),
    { signal },
  );
}
