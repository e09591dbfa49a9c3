import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { documentsOf } from '../../../../src/shared/protocol/intake.ts';
import { isKnown } from '../../../../src/shared/protocol/documents/kinds.ts';
import { openSessionBench, type Bench } from '../../../support/session.ts';

describe('what the person writes during an answer', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSessionBench();
  });
  afterAll(() => bench.close());

  it('stays after that answer for good, also when the relay dies during it', async () => {
    const house = await bench.open({
      script: ({ last }) =>
        last.endsWith('first')
          ? [{ say: 'One, ' }, { wait: 300 }, { say: 'and two.' }]
          : last.endsWith('fourth')
            ? [{ say: 'Three' }, { until: new Promise(() => undefined) }]
            : [{ say: 'Heard.' }],
    });
    await house.start();
    await house.post({ text: 'first' });
    await house.until(() => house.of('text').length > 0);
    await house.post({ text: 'second' });
    await house.until(() => house.of('message').filter(({ role }) => role === 'assistant').length === 2);
    await house.untilQuiet();
    await house.post({ text: 'fourth' });
    await house.until(() => house.of('text').some(({ text }) => text.startsWith('Three')));
    await house.post({ text: 'fifth' });
    await house.restart();
    const docs = house.stored
      .flatMap(documentsOf)
      .flatMap((doc) => (isKnown(doc) && doc.type === 'message' ? [doc] : []));
    const words = docs
      .toSorted((a, b) => (a.at < b.at ? -1 : 1))
      .map(({ blocks }) => (blocks[0]?.kind === 'text' ? blocks[0].text : ''));
    // An answer stands where it began, and says when it was whole: nobody had read all of it before
    // that.
    for (const { completedAt, at } of docs.filter(({ author }) => author === 'lead'))
      expect((completedAt ?? '') > at).toBe(true);
    const [, first, second] = docs.toSorted((a, b) => (a.at < b.at ? -1 : 1));
    expect((first?.completedAt ?? '') > (second?.at ?? '')).toBe(true);
    expect(words).toEqual(['first', 'One, and two.', 'second', 'Heard.', 'fourth', 'Three', 'fifth']);
  });
});
