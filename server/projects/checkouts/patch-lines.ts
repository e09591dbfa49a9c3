/** Follows lines through patches. Pure. */

/** Where a line is after a patch without context. Null: the patch changes or deletes it. */
export function lineAfter(patch: string, line: number): number | null {
  let moved = 0;
  // Git ends lines with a newline alone. What else a text has for one ends none.
  for (const said of patch.split('\n')) {
    const [, start, count = '1', added = '1'] = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@/.exec(said) ?? [];
    if (start === undefined) continue;
    const [first, gone] = [Number(start), Number(count)];
    // A hunk that deletes nothing comes after its first line.
    if (gone === 0 ? line <= first : line < first) break;
    if (line < first + gone) return null;
    moved += Number(added) - gone;
  }
  return line + moved;
}
