/**
 * Puts text into a field as if it had been typed, so that it can be undone. What sets a field's
 * value otherwise ends its history.
 */

interface Place {
  readonly from: number;
  readonly to: number;
  /** The field has the focus afterwards. Else it goes back to where it was. */
  readonly keepsFocus?: boolean;
}

/** The caret stands behind the text then. The field's `input` event is fired. */
export function putText(box: HTMLTextAreaElement, text: string, { from, to, keepsFocus = true }: Place): void {
  const before = document.activeElement;
  box.focus({ preventScroll: true });
  box.setSelectionRange(from, to);
  // It is deprecated, and the only way that browsers have. An empty text deletes what is selected.
  const isPut = text === '' ? document.execCommand?.('delete') : document.execCommand?.('insertText', false, text);
  if (!isPut) {
    box.setRangeText(text, from, to, 'end');
    box.dispatchEvent(new InputEvent('input', { bubbles: true, inputType: 'insertText', data: text }));
  }
  if (!keepsFocus && before instanceof HTMLElement && before !== box) before.focus({ preventScroll: true });
}
