/**
 * Says where a message goes if an agent cannot read it at once: for the composer, and for waiting
 * messages.
 */
import { t } from '../../language/t.ts';
import type { SeatView } from '../grid/seat-view.ts';

const asBeginning = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/** null: the agent reads it at once. */
export function whereWordsGo(name: string, { state, client }: Pick<SeatView, 'state' | 'client'>): string | null {
  switch (state) {
    case 'awake':
      return null;
    case 'hatching':
      return t`${name} is waking, and will read this first.`;
    case 'played':
      return client?.readsInbox
        ? t`${asBeginning(client.name)} plays ${name}, and finds this when it looks into the inbox.`
        : t`${asBeginning(client?.name ?? t`a program`)} plays ${name} without looking into the inbox. Woken here, ${name} reads this.`;
    case 'sleeping':
    case 'empty':
      return t`${name} sleeps, and will read this on waking.`;
    default:
      return state satisfies never;
  }
}
