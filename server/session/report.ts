/** The `[TEAM REPORT]`: who came, who did not and why, and who is still on the way. */
import { onOneLine } from '../../src/domain/quoting.ts';
import type { AsleepReason } from '../../src/protocol/events.ts';

export const REPORT_TAG = '[TEAM REPORT]';

export type SeatOutcome = { readonly here: true } | { readonly here: false; readonly reason: AsleepReason };

export interface ReportLine {
  readonly seat: number;
  readonly name: string | null;
  /** Null: not decided yet. */
  readonly outcome: SeatOutcome | null;
}

const called = ({ name, seat }: ReportLine) => (name === null ? `seat ${seat}` : `${name} (seat ${seat})`);

export function teamReport(lines: readonly ReportLine[]): string {
  const here = lines.filter((line) => line.outcome?.here === true);
  const late = lines.filter((line) => line.outcome === null);
  const missing = lines.flatMap((line) =>
    line.outcome?.here === false ? [`- ${called(line)}: ${onOneLine(line.outcome.reason.message)}`] : [],
  );
  return [
    REPORT_TAG,
    ...(here.length > 0 ? [`Here: ${here.map(called).join(', ')}.`] : []),
    ...(missing.length > 0 ? ['Not here:', ...missing] : []),
    ...(late.length > 0 ? [`Still on the way: ${late.map(called).join(', ')}.`] : []),
  ].join('\n');
}
