/** The lines of a memory file after a write. Pure. */
import { lineDiff } from './line-diff.ts';
import type { Line, LineOrigin } from './memory-lines.ts';

/**
 * The lines of a changed file. `elsewhere`: lines of other files, whose writes a line with the same
 * text goes back to.
 */
export function changedLines<Source>(
  before: readonly Line<Source>[],
  text: string,
  write: { readonly source: Source; readonly time: number },
  elsewhere: readonly Line<Source>[] = [],
): readonly Line<Source>[] {
  const result: Line<Source>[] = [];
  let at = 0;
  let removed: LineOrigin<Source>[] = [];
  let added: string[] = [];
  let count = 0;
  const byText = new Map(elsewhere.filter((line) => line.text.trim() !== '').map((line) => [line.text, line.origin]));
  function flush() {
    const origins = new Map<string, LineOrigin<Source>>();
    for (const line of added) {
      const same = byText.get(line);
      const after = [...new Set([...removed, ...(same ? [same] : [])])];
      const key = same ? line : '';
      const origin = origins.get(key) ?? { ...write, after };
      origins.set(key, origin);
      result.push({ text: line, origin, number: count });
      count += 1;
    }
    removed = [];
    added = [];
  }
  for (const { kind, text: line } of lineDiff(before.map((each) => each.text).join('\n'), text)) {
    const old = before[at];
    if (kind === 'same' && old) {
      flush();
      result.push(old);
    } else if (kind === 'gone' && old) removed.push(old.origin);
    else added.push(line);
    if (kind !== 'new') at += 1;
  }
  flush();
  const after = before.map(({ origin }) => origin);
  return result.length > 0 ? result : [{ text: '', origin: { ...write, after: [...new Set(after)] }, number: 0 }];
}
