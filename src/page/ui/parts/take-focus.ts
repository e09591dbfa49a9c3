/**
 * As a `ref` of the button that stands where the one stood that was pressed: it takes the focus,
 * and moves nothing.
 */
export const takeFocus = (button: HTMLButtonElement | null): void => button?.focus({ preventScroll: true });
