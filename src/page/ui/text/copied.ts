/**
 * Copies selected text to the clipboard as a reader sees it: without text for screen readers, and
 * with formulas as TeX. By default, a browser would copy everything in the page, and put the parts
 * of a formula on separate lines.
 */

/** Elements that nobody means to copy. */
const LEFT_OUT = '.visually-hidden, button, .msg-menu';
const FORMULA = '[data-tex]';
const TICK = '.md-check';
/** The ancestors of a selection whose styles affect its layout. Those above do not matter. */
const ROOTS = '.md, .plain, .log-inside, .dialog-body, main, body';

const elementOf = (node: Node) => (node instanceof Element ? node : node.parentElement);

/** Extends the range to whole formulas. */
function withWholeFormulas(range: Range): Range {
  const whole = range.cloneRange();
  const first = elementOf(range.startContainer)?.closest(FORMULA);
  const last = elementOf(range.endContainer)?.closest(FORMULA);
  if (first) whole.setStartBefore(first);
  if (last) whole.setEndAfter(last);
  return whole;
}

/** The content of the range, within copies of its ancestors. */
function copyOf(range: Range): HTMLElement {
  const box = document.createElement('div');
  let inside: Node = range.cloneContents();
  for (
    let around = elementOf(range.commonAncestorContainer);
    around && !around.matches(ROOTS);
    around = around.parentElement
  ) {
    const shell = around.cloneNode(false);
    shell.appendChild(inside);
    inside = shell;
  }
  box.className = 'md copied-text';
  box.append(inside);
  return box;
}

function texOf(formula: HTMLElement): string {
  const sign = formula.dataset['apart'] === 'true' ? '$$' : '$';
  return `${sign}${formula.dataset['tex'] ?? ''}${sign}`;
}

/** The range as text and as HTML; null: the browser's default is fine. */
export function copied(range: Range): { readonly text: string; readonly html: string } | null {
  const box = copyOf(withWholeFormulas(range));
  if (!box.querySelector(`${LEFT_OUT}, ${FORMULA}, ${TICK}`)) return null;
  for (const element of box.querySelectorAll(LEFT_OUT)) element.remove();
  for (const formula of box.querySelectorAll<HTMLElement>(FORMULA)) formula.replaceWith(texOf(formula));
  for (const tick of box.querySelectorAll<HTMLElement>(TICK))
    tick.replaceWith(tick.dataset['checked'] === 'true' ? '[x] ' : '[ ] ');
  // Line ends are known only after layout.
  document.body.append(box);
  const text = box.innerText;
  box.remove();
  for (const element of box.querySelectorAll('*'))
    for (const { name } of [...element.attributes])
      if (!/^(?:href|start|dir)$/.test(name)) element.removeAttribute(name);
  return { text: text.replace(/\n{3,}/g, '\n\n').replace(/^\n+|\n+$/g, ''), html: box.innerHTML };
}

/** Handler of the copy event. */
export function onCopy(event: ClipboardEvent): void {
  const selection = document.getSelection();
  // A field has a selection of its own.
  const isInField = event.target instanceof Element && event.target.closest('input, textarea') !== null;
  if (event.defaultPrevented || isInField || !selection || selection.isCollapsed || !event.clipboardData) return;
  const clean = copied(selection.getRangeAt(0));
  if (!clean) return;
  event.preventDefault();
  event.clipboardData.setData('text/plain', clean.text);
  event.clipboardData.setData('text/html', clean.html);
}
