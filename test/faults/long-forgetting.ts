import { forgetSentences } from './forgetting.ts';
import type { LongPart } from './long-part.ts';

const SENTENCES = 500;

/** The bar: none of the sentences is found anywhere, whatever tries to bring them back. */
export const forgettingPart: LongPart = {
  name: 'forgetting',
  short: ['faults/forgetting.test.ts'],
  with: () => [1],
  async run() {
    const { planted, places } = await forgetSentences({ sentences: SENTENCES });
    return `${planted} sentences in ${places} places were forgotten: none was found after the sync of an old device, the restore of an old relay, and the import of an old copy`;
  },
};
