/** What is to be given back to a relay, in words. */
import type { Given, Missing } from '../../state/records.ts';
import { names, plural } from '../text/sizes.ts';

const fieldsOf = ({ doc }: Missing): object =>
  typeof doc['value'] === 'object' && doc['value'] !== null ? doc['value'] : {};

/** “limits and budgets, prices and 3 threads”, by how many there are of each type. */
function kindsOf(count: (type: string) => number): string {
  return names([
    ...(count('limits') > 0 ? ['limits and budgets'] : []),
    ...(count('prices') > 0 ? ['prices'] : []),
    ...(count('thread') > 0 ? [plural(count('thread'), 'thread')] : []),
    ...(count('thread-message') > 0 ? [plural(count('thread-message'), 'message')] : []),
  ]);
}

/** “your limits and budgets and 3 threads” */
export const whatIsMissing = (missing: readonly Missing[]): string =>
  `your ${kindsOf((type) => missing.filter(({ doc }) => doc.type === type).length)}`;

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

/** Which of it the relay took, and which not. */
export function outcomeOf({ taken, kept, refused }: Given): string {
  const took = kindsOf((type) => taken.get(type) ?? 0);
  const sentences = [
    took === '' ? 'The relay took nothing.' : `The relay took ${took}.`,
    ...(kept > 0 ? [`It has ${plural(kept, 'record')} already, or newer, and keeps what it has.`] : []),
    ...(refused.length > 0 ? [`Some were not taken. ${refused.join(' ')}`] : []),
  ];
  return sentences.join(' ');
}
