/** Line diff of two texts. Pure. */

export interface DiffLine {
  readonly kind: 'same' | 'gone' | 'new';
  readonly text: string;
}

/**
 * Maximum number of lines per side that are compared. For longer texts, all old lines are gone and
 * all new lines are new.
 */
const COMPARED = 600;

const linesOf = (text: string) => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

/** Keeps the longest common subsequence, from the table of its lengths. */
function between(before: readonly string[], after: readonly string[]): DiffLine[] {
  const as = (kind: DiffLine['kind']) => (text: string) => ({ kind, text });
  if (before.length > COMPARED || after.length > COMPARED) return [...before.map(as('gone')), ...after.map(as('new'))];
  const lengths = Array.from({ length: before.length + 1 }, () => new Uint16Array(after.length + 1));
  const at = (i: number, j: number) => lengths[i]?.[j] ?? 0;
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--) {
      const row = lengths[i];
      if (row) row[j] = before[i] === after[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < after.length) {
    const [gone, come] = [before[i], after[j]];
    if (gone !== undefined && gone === come) {
      lines.push({ kind: 'same', text: gone });
      i += 1;
      j += 1;
    } else if (come === undefined || (gone !== undefined && at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ kind: 'gone', text: gone ?? '' });
      i += 1;
    } else {
      lines.push({ kind: 'new', text: come });
      j += 1;
    }
  }
  return lines;
}

export function lineDiff(before: string, after: string): readonly DiffLine[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const same = (text: string): DiffLine => ({ kind: 'same', text });
  return [
    ...old.slice(0, start).map(same),
    ...between(old.slice(start, old.length - end), now.slice(start, now.length - end)),
    ...old.slice(old.length - end).map(same),
  ];
}
