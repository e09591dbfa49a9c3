/** What is to be given back to a relay, in words. */
import type { Given, Missing } from '../../state/records.ts';
import { plural } from '../text/sizes.ts';

const fieldsOf = ({ doc }: Missing): object =>
  typeof doc['value'] === 'object' && doc['value'] !== null ? doc['value'] : {};

/** “your limits, prices and 3 threads” */
export function whatIsMissing(missing: readonly Missing[]): string {
  const of = (type: string) => missing.filter(({ doc }) => doc.type === type).length;
  const threads = of('thread');
  const parts = [
    ...(of('limits') > 0 ? ['limits and budgets'] : []),
    ...(of('prices') > 0 ? ['prices'] : []),
    ...(threads > 0 ? [plural(threads, 'thread')] : []),
  ];
  const last = parts.pop() ?? '';
  return parts.length === 0 ? `your ${last}` : `your ${parts.join(', ')} and ${last}`;
}

function titleOf(missing: Missing, nameOf: (agentId: string) => string): string {
  const { doc } = missing;
  const value = fieldsOf(missing);
  switch (doc.type) {
    case 'limits': {
      const { agentId } = doc;
      return typeof agentId === 'string'
        ? `${nameOf(agentId)}’s limits and budget`
        : 'The household’s limits and budget';
    }
    case 'prices': {
      const rows = 'prices' in value && Array.isArray(value.prices) ? value.prices.length : 0;
      return rows === 0 ? 'Roost’s own prices' : `The table of prices, ${plural(rows, 'row')}`;
    }
    default: {
      const title = 'title' in value && typeof value.title === 'string' ? value.title : '';
      return `The thread “${title}”, ${plural(missing.messages, 'message')}`;
    }
  }
}

/** One thing, and what would change at the relay. */
export function changeOf(missing: Missing, nameOf: (agentId: string) => string): string {
  const title = titleOf(missing, nameOf);
  if (missing.standing === 'unknown') return `${title}.`;
  return missing.doc.type === 'thread'
    ? `${title}: the relay has less of it.`
    : `${title}: the relay has an older version, which this one replaces.`;
}

export function outcomeOf({ taken, kept, refused }: Given): string {
  const parts = [
    taken === 0 ? 'The relay took nothing' : `The relay took ${plural(taken, 'record')}`,
    ...(kept > 0 ? [`had ${plural(kept, 'of them', 'of them')} already, or newer`] : []),
  ];
  return `${parts.join('; it ')}.${refused.length > 0 ? ` Some were not taken. ${refused.join(' ')}` : ''}`;
}
