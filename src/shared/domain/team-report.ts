/**
 * The relay's report to the lead about a wake: who came, who did not and why, and who is still on
 * the way. The page reads it again, to show it to the person. Pure.
 */
import { onOneLine } from './quoting.ts';

export interface ReportLine {
  readonly seat: number;
  /** Null: it has no name yet. */
  readonly name: string | null;
  /** Null: not decided yet. */
  readonly outcome: { readonly here: true } | { readonly here: false; readonly why: string } | null;
}

const TAG = '[TEAM REPORT]';
const HERE = 'Here: ';
const LATE = 'Still on the way: ';
const calledOf = ({ name, seat }: ReportLine) => (name === null ? `seat ${seat}` : `${name} (seat ${seat})`);

export function reportText(lines: readonly ReportLine[]): string {
  const here = lines.filter((line) => line.outcome?.here === true);
  const late = lines.filter((line) => line.outcome === null);
  const missing = lines.flatMap((line) =>
    line.outcome?.here === false ? [`- ${calledOf(line)}: ${onOneLine(line.outcome.why)}`] : [],
  );
  return [
    TAG,
    ...(here.length > 0 ? [`${HERE}${here.map(calledOf).join(', ')}.`] : []),
    ...(missing.length > 0 ? ['Not here:', ...missing] : []),
    ...(late.length > 0 ? [`${LATE}${late.map(calledOf).join(', ')}.`] : []),
  ].join('\n');
}

/** Names as in the report; an agent without one is left out. */
export interface TeamReport {
  readonly here: readonly string[];
  readonly missing: readonly { readonly name: string; readonly why: string }[];
  readonly late: readonly string[];
}

const namesIn = (line: string | undefined, head: string) =>
  (line ?? '')
    .slice(head.length)
    .replace(/\.$/, '')
    .split(', ')
    .flatMap((called) => /^(.+) \(seat \d+\)$/.exec(called)?.[1] ?? []);

/** Null: it is another text. */
export function reportOf(text: string): TeamReport | null {
  const [tag, ...lines] = text.split('\n');
  if (tag !== TAG) return null;
  return {
    here: namesIn(
      lines.find((line) => line.startsWith(HERE)),
      HERE,
    ),
    missing: lines.flatMap((line) => {
      const [, name, why] = /^- (.+?) \(seat \d+\): (.*)$/.exec(line) ?? [];
      return name === undefined || why === undefined ? [] : [{ name, why }];
    }),
    late: namesIn(
      lines.find((line) => line.startsWith(LATE)),
      LATE,
    ),
  };
}
