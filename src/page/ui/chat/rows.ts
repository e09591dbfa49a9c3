/** The rows of a log. A long item takes several rows. Pure. */
import type { LogItem } from '../../state/conversation-log.ts';
import { ownStretches, stretchesOf, type Stretch } from './parts.ts';

export interface Row {
  readonly key: string;
  readonly item: LogItem;
  /** null: the item has no parts. */
  readonly stretch: Stretch | null;
}

function stretchesOfItem(item: LogItem, unfolded: ReadonlySet<string>): readonly Stretch[] | null {
  switch (item.kind) {
    case 'message':
    case 'said':
      return stretchesOf(item.message, unfolded.has(item.key));
    case 'queued':
      return ownStretches(item.message.text, unfolded.has(item.key));
    case 'sending':
      return ownStretches(item.sending.text, unfolded.has(item.key));
    case 'day':
    case 'new':
    case 'sleep':
    case 'run':
    case 'open':
      return null;
    default:
      return item satisfies never;
  }
}

/**
 * `unfolded`: keys of the items whose long text is expanded. The key of a row stays the same while
 * the row exists.
 */
export function rowsOf(items: readonly LogItem[], unfolded: ReadonlySet<string>): readonly Row[] {
  const rows: Row[] = [];
  for (const item of items) {
    const stretches = stretchesOfItem(item, unfolded);
    const [only] = stretches ?? [];
    if (!stretches || stretches.length === 1) rows.push({ key: item.key, item, stretch: only ?? null });
    else stretches.forEach((stretch, i) => rows.push({ key: i === 0 ? item.key : `${item.key}#${i}`, item, stretch }));
  }
  return rows;
}
