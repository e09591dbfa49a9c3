/** Figures and how they are shown: each with a limit or a peer beside it, and as a ratio to it. */

export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: 'ms' | 's' | 'KB' | 'MB' | '/s' | '×' | '%' | '';
  /** What it is held against; `limit`: at most, `least`: at least. */
  readonly beside: { readonly kind: 'limit' | 'least' | 'peer'; readonly what: string; readonly value: number } | null;
}

export interface Section {
  readonly title: string;
  /** How it was measured, on what. */
  readonly method: string;
  readonly figures: readonly Figure[];
  /** Facts that are no number. */
  readonly notes?: readonly string[];
}

/** Of an even count, the mean of the middle two. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.slice(Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2) + 1);
  return middle.reduce((sum, value) => sum + value, 0) / middle.length;
}

/** The value that this share of all, 0–1, does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

const digits = (value: number, unit: string) =>
  unit === '×'
    ? value.toFixed(2)
    : value < 10 && unit !== ''
      ? value.toFixed(1)
      : Math.round(value).toLocaleString('en');
const shown = (value: number, unit: string) => `${digits(value, unit)}${unit === '' ? '' : ` ${unit}`}`;
const SIDES = { limit: 'limit', least: 'least', peer: 'peer ' } as const;

function ratio({ value, beside }: Figure): string {
  if (!beside) return '';
  const times = value / beside.value;
  if (beside.kind === 'least') return `${Math.round(times * 100)} % of it${times < 1 ? '  UNDER' : ''}`;
  // Of 0, any is over.
  if (beside.value === 0) return value > 0 ? 'OVER' : '';
  if (beside.kind === 'limit') return `${Math.round(times * 100)} % of it${times > 1 ? '  OVER' : ''}`;
  return times <= 1 ? `${(1 / times).toFixed(1)} × less` : `${times.toFixed(1)} × more`;
}

function rows(figures: readonly Figure[]): string[][] {
  return figures.map((figure) => {
    const { what, value, unit, beside } = figure;
    return [
      what,
      shown(value, unit),
      beside ? `${SIDES[beside.kind]} ${shown(beside.value, unit)}` : '',
      ratio(figure),
      beside?.what ?? '',
    ];
  });
}

/** The section as text, columns aligned. */
export function printed({ title, method, figures, notes = [] }: Section): string {
  const table = rows(figures);
  const widths = [0, 1, 2, 3, 4].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0), 0));
  const aligned = table.map((row) =>
    row
      .map((cell, i) => (i === 1 ? cell.padStart(widths[i] ?? 0) : cell.padEnd(widths[i] ?? 0)))
      .join('  ')
      .trimEnd(),
  );
  return [title, `  ${method}`, ...aligned.map((line) => `  ${line}`), ...notes.map((note) => `  ${note}`), ''].join(
    '\n',
  );
}
