/**
 * Where each line of a memory file came from. A new line comes from the write that added it, and
 * from the lines that this write replaced. So a line that was reworded or moved is still found by
 * what it came from. Pure.
 */
import type { AgentId } from './ids.ts';
import type { Origin } from './forgetting.ts';

/** One write. A file has one for each group of lines that a write added. */
export interface LineOrigin<Source> {
  /** In the list of sources. */
  readonly source: Source;
  /** ms since the epoch. Later than those of earlier writes of the file. */
  readonly time: number;
  /** Writes of the lines that these lines replaced. */
  readonly after: readonly LineOrigin<Source>[];
}
/** One line of a file: the write that added it, and its number among the lines of that write. */
export interface Line<Source> {
  readonly text: string;
  readonly origin: LineOrigin<Source>;
  readonly number: number;
}

/** Lines as a record has them: sources, writes and runs of lines, each named by its index. */
export interface StoredLines<Source> {
  readonly sources: readonly Source[];
  readonly origins: readonly { readonly source: number; readonly time: number; readonly after: readonly number[] }[];
  /** Index of the write, number of the first line in it, and how many lines follow one another. */
  readonly runs: readonly (readonly [origin: number, first: number, count: number])[];
}
/** The same, to be written. */
interface MutableLines<Source> extends StoredLines<Source> {
  sources: Source[];
  origins: { source: number; time: number; after: number[] }[];
  runs: [number, number, number][];
}
/** A file of a memory, as far as its lines are concerned. */
export interface LinedFile<Source> {
  readonly text: string;
  readonly source: Source;
  readonly changedAt: number;
  /** Left out: all lines came with the last write. */
  readonly lines?: StoredLines<Source> | undefined;
}

export const textLines = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

/**
 * The lines of a file. A line that its record does not name came with the last write. A file
 * without text has one empty line: its name came from somewhere too.
 */
export function linesOf<Source>({ text, source, changedAt, lines }: LinedFile<Source>): readonly Line<Source>[] {
  const last: LineOrigin<Source> = { source, time: changedAt, after: [] };
  const origins: LineOrigin<Source>[] = [];
  // A write names earlier ones only, so a list that names itself cannot be made.
  for (const { source: at, time, after } of lines?.origins ?? [])
    origins.push({
      source: lines?.sources[at] ?? source,
      time,
      after: after.flatMap((index) => origins[index] ?? []),
    });
  const places = (lines?.runs ?? []).flatMap(([at, first, count]) =>
    Array.from({ length: count }, (_, i) => ({ origin: origins[at] ?? last, number: first + i })),
  );
  const texts = text === '' ? [''] : textLines(text);
  return texts.map((line, i) => ({ text: line, ...(places[i] ?? { origin: last, number: i }) }));
}

/** The same lines as a record has them. `keyOf`: equal for equal sources. */
export function storeLines<Source>(
  lines: readonly Line<Source>[],
  keyOf: (source: Source) => string,
): MutableLines<Source> {
  const sources = new Map<string, { readonly index: number; readonly source: Source }>();
  const indexes = new Map<LineOrigin<Source>, number>();
  const origins: MutableLines<Source>['origins'] = [];
  function put(origin: LineOrigin<Source>): number {
    const held = indexes.get(origin);
    if (held !== undefined) return held;
    const after = origin.after.map(put);
    const key = keyOf(origin.source);
    const { index } = sources.get(key) ?? { index: sources.size };
    sources.set(key, { index, source: origin.source });
    indexes.set(origin, origins.length);
    return origins.push({ source: index, time: origin.time, after }) - 1;
  }
  const runs: [number, number, number][] = [];
  for (const { origin, number } of lines) {
    const at = put(origin);
    const run = runs.at(-1);
    if (run && run[0] === at && run[1] + run[2] === number) run[2] += 1;
    else runs.push([at, number, 1]);
  }
  return { sources: [...sources.values()].map(({ source }) => source), origins, runs };
}

/** The text of these lines. */
export const textOfLines = (lines: readonly { readonly text: string }[]): string =>
  lines.length === 0 ? '' : `${lines.map(({ text }) => text).join('\n')}\n`;

/** All writes that a line goes back to. */
export function writesOf<Source>({ origin }: Pick<Line<Source>, 'origin'>): readonly LineOrigin<Source>[] {
  const all = new Set<LineOrigin<Source>>();
  const add = (each: LineOrigin<Source>) => {
    if (all.has(each)) return;
    all.add(each);
    each.after.forEach(add);
  };
  add(origin);
  return [...all];
}

/** The id of a line, the same in every version of its file. */
export const lineId = (memoryId: string, { origin, number }: Pick<Line<unknown>, 'origin' | 'number'>): string =>
  `line:${memoryId}:${origin.time}:${number}`;

/** What a line came from, as a request to forget covers it. */
export const lineOrigins = <Source extends { readonly by: Origin['by'] }>(
  line: Pick<Line<Source>, 'origin' | 'number'>,
  agentId: AgentId | null,
  memoryId: string,
): readonly Origin[] =>
  writesOf(line).map((origin) => ({
    ...{ agentId, by: origin.source.by, time: origin.time },
    ...(origin === line.origin ? { id: lineId(memoryId, line) } : {}),
  }));
