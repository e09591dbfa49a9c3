import { expect, it } from 'vitest';
import { createTurns, inHousehold } from '../../../../server/platform/household-turns.ts';

it('serves each household in turn, however much one of them asks for', async () => {
  const turn = createTurns(2);
  const order: string[] = [];
  const work = (household: string) =>
    inHousehold(household, async () => {
      const end = await turn();
      order.push(household);
      await new Promise((done) => setTimeout(done, 1));
      end();
    });
  const all = Array.from({ length: 50 }, () => work('many'));
  all.push(work('few'), work('few'));
  const own = turn().then((end) => {
    order.push('relay');
    end();
  });
  await Promise.all([...all, own]);
  expect(order).toHaveLength(53);
  // Two were at it already. The others wait for one of the many at most, each.
  expect(order.indexOf('few')).toBeLessThanOrEqual(4);
  expect(order.lastIndexOf('few')).toBeLessThanOrEqual(8);
  expect(order.indexOf('relay')).toBeLessThanOrEqual(6);
});

it('lets in as many at once as there are, and goes on where one was served and ended', async () => {
  const turn = createTurns(3);
  let [now, most] = [0, 0];
  const one = async () => {
    const end = await turn();
    most = Math.max(most, ++now);
    await new Promise((done) => setImmediate(done));
    now -= 1;
    end();
  };
  for (let round = 0; round < 3; round++) await Promise.all(Array.from({ length: 20 }, one));
  expect(most).toBe(3);
});
