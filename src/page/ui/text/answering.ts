/**
 * Says where a message goes if an agent cannot read it at once: for the composer, and for waiting
 * messages.
 */
import { t } from '../../language/t.ts';
import type { SeatView } from '../grid/seat-figure.tsx';
import { asBeginning } from './sizes.ts';

/** Characters of a message that are quoted at most: the reader knows it already. */
const QUOTE_MOST = 2_000;

/**
 * The text as a Markdown quotation, truncated if it is long, with an empty line after it to
 * continue in.
 */
export function quoted(text: string): string {
  const whole = text.trim();
  // Never splits a surrogate pair.
  const cut = whole.length > QUOTE_MOST ? `${whole.slice(0, QUOTE_MOST).replace(/[\uD800-\uDBFF]$/, '')}…` : whole;
  return `${cut
    .split(/\r?\n/)
    .map((line) => (line === '' ? '>' : `> ${line}`))
    .join('\n')}\n\n`;
}

/** Appends the text as a paragraph of its own. */
export function withParagraph(before: string, text: string): string {
  const gap = before === '' || before.endsWith('\n\n') ? '' : before.endsWith('\n') ? '\n' : '\n\n';
  return before + gap + text;
}

/** null: the agent reads it at once. */
export function whereWordsGo(name: string, { state, client }: Pick<SeatView, 'state' | 'client'>): string | null {
  switch (state) {
    case 'awake':
      return null;
    case 'hatching':
      return t`${name} is waking, and will read this first.`;
    case 'driven':
      return client?.readsInbox
        ? t`${asBeginning(client.name)} drives ${name}, and finds this when it looks into the inbox.`
        : t`${asBeginning(client?.name ?? t`a program`)} drives ${name} without looking into the inbox. Woken here, ${name} reads this.`;
    case 'sleeping':
    case 'empty':
      return t`${name} sleeps, and will read this on waking.`;
    default:
      return state satisfies never;
  }
}
