import { expect, it } from 'vitest';
import { createLanes, LaneFullError } from '../../../../server/platform/lanes.ts';

/** Work that ends when it is told to, and notes its beginning. */
function createWork() {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string) => () => {
    begun.push(name);
    return new Promise<void>((end) => ends.set(name, end));
  };
  return { begun, work, end: (name: string) => ends.get(name)?.() };
}
const settled = () => new Promise((done) => setImmediate(done));

it('slows down only the household that has much to do', async () => {
  const lanes = createLanes({ ofOne: 2, ofAll: 3, waiting: 10 });
  const { begun, work, end } = createWork();
  for (const name of ['a1', 'a2', 'a3', 'a4']) void lanes('a')(work(name));
  void lanes('b')(work('b1'));
  void lanes('b')(work('b2'));
  await settled();
  expect(begun).toEqual(['a1', 'a2', 'b1']);
  end('a1');
  await settled();
  // The other household was before the first one’s next piece.
  expect(begun.slice(3)).toEqual(['b2']);
  end('a2');
  await settled();
  expect(begun.slice(4)).toEqual(['a3']);
});

it('refuses what is more than may wait, and takes it again later', async () => {
  const lanes = createLanes({ ofOne: 1, ofAll: 1, waiting: 1 });
  const { begun, work, end } = createWork();
  const [first] = [lanes('a')(work('a1')), lanes('a')(work('a2'))];
  await expect(lanes('a')(work('a3'))).rejects.toThrow(LaneFullError);
  end('a1');
  await first;
  void lanes('a')(work('a4'));
  await settled();
  expect(begun).toEqual(['a1', 'a2']);
});

it('goes on after work that fails', async () => {
  const lane = createLanes({ ofOne: 1, ofAll: 1, waiting: 1 })('a');
  await expect(lane(() => Promise.reject(new Error('it broke')))).rejects.toThrow('it broke');
  expect(await lane(() => Promise.resolve(1))).toBe(1);
});

it('lets work within a turn use it', async () => {
  const lane = createLanes({ ofOne: 1, ofAll: 1, waiting: 0 })('a');
  expect(await lane(() => lane(() => Promise.resolve('inner')))).toBe('inner');
});
