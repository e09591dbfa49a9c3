/** What jsdom lacks of a browser's window, and nothing that is tested here. */
const DESK = 1440;
/** px of the text's size, as browsers have it by themselves. */
const EM = 16;
let width = DESK;

/** px of the window's width, until the test is over. */
export const setWidth = (px: number): void => {
  width = px;
};

/** As wide as a desk, at the first address, with nothing stored. */
export function freshWindow(): void {
  width = DESK;
  window.matchMedia = (query) => {
    const [, kind, em] = /\((min|max)-width: ([\d.]+)em\)/.exec(query) ?? [];
    const px = Number(em) * EM;
    const matches = kind === 'min' ? width >= px : kind === 'max' ? width <= px : false;
    return Object.assign(new EventTarget(), {
      matches,
      media: query,
      onchange: null,
      addListener: () => undefined,
      removeListener: () => undefined,
    });
  };
  // Nothing moves here: each animation is over at once.
  Object.assign(Element.prototype, { animate: () => ({ finished: Promise.resolve() }) });
  HTMLDialogElement.prototype.showModal = function showModal() {
    this.open = true;
  };
  // Its style sheet hides what has the attribute and is not in a top layer, which it has none of.
  HTMLElement.prototype.showPopover = function showPopover() {
    this.removeAttribute('popover');
  };
  HTMLDialogElement.prototype.close = function close() {
    this.open = false;
  };
  sessionStorage.clear();
  localStorage.clear();
  history.replaceState(null, '', '/');
}
