/** Reads unified diffs of one file, as git writes them. Pure. */

export interface PatchLine {
  /** `gap`: lines between this and the next are left out. `note`: git says something of its own. */
  readonly kind: 'same' | 'new' | 'gone' | 'gap' | 'note';
  /** Number of the line before and after; null: it is not there. */
  readonly before: number | null;
  readonly after: number | null;
  readonly text: string;
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/;
const KINDS: Readonly<Record<string, 'same' | 'new' | 'gone' | 'note'>> = {
  ...{ ' ': 'same', '+': 'new', '-': 'gone', '\\': 'note' },
};

/** What comes before the first hunk, such as file names and modes, is left out. */
export function readPatch(patch: string): readonly PatchLine[] {
  const lines: PatchLine[] = [];
  let before = 0;
  let after = 0;
  let isInside = false;
  for (const line of patch.replace(/\n$/, '').split('\n')) {
    const hunk = HUNK.exec(line);
    if (hunk) {
      [before, after] = [Number(hunk[1]), Number(hunk[2])];
      // A change at the first line has nothing before it.
      if (lines.length > 0 || Math.max(before, after) > 1)
        lines.push({ kind: 'gap', before: null, after: null, text: hunk[3] ?? '' });
      isInside = true;
      continue;
    }
    const kind = isInside ? KINDS[line.slice(0, 1) || ' '] : undefined;
    if (kind === undefined) continue;
    lines.push({
      kind,
      before: kind === 'same' || kind === 'gone' ? before++ : null,
      after: kind === 'same' || kind === 'new' ? after++ : null,
      text: line.slice(kind === 'note' ? 2 : 1),
    });
  }
  return lines;
}

/** The language of a file, as highlighters name it; empty: it has none. */
export function languageOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  const ending = /\.([a-z\d]+)$/.exec(name)?.[1] ?? '';
  return ENDINGS[ending] ?? '';
}
const ENDINGS: Readonly<Record<string, string>> = {
  ...{ ts: 'tsx', tsx: 'tsx', mts: 'tsx', cts: 'tsx', js: 'tsx', jsx: 'tsx', mjs: 'tsx', cjs: 'tsx' },
  ...{ css: 'css', go: 'go', html: 'html', htm: 'html', svg: 'html', xml: 'html', vue: 'html', java: 'java' },
  ...{ json: 'json', py: 'python', rs: 'rust', sh: 'shellscript', bash: 'shellscript', sql: 'sql' },
  ...{ yml: 'yaml', yaml: 'yaml' },
};
