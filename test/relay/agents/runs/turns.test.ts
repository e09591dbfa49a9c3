import { expect, it } from 'vitest';
import { createTurns } from '../../../../server/agents/runs/turns.ts';

const noTimers = { after: () => () => undefined };
const never = new AbortController().signal;

it('a turn is had by one at a time, in the order in which they came; other agents have theirs', async () => {
  const turns = createTurns(noTimers);
  const had: string[] = [];
  const first = await turns.take('a', { signal: never, limitMs: Infinity });
  const [second, third] = ['second', 'third'].map((name) =>
    turns.take('a', { signal: never, limitMs: Infinity }).then((end) => {
      had.push(name);
      return end;
    }),
  );
  expect(await turns.take('b', { signal: never, limitMs: Infinity })).not.toBeNull();
  expect(had).toEqual([]);
  first?.();
  // Ending it twice gives nobody's turn away.
  first?.();
  (await second)?.();
  (await third)?.();
  expect(had).toEqual(['second', 'third']);
  expect(await turns.take('a', { signal: never, limitMs: 0 })).not.toBeNull();
});

it('gives no turn to an agent that waits too long or gives up, and delays nobody', async () => {
  let late: () => void = () => undefined;
  const turns = createTurns({
    after(_ms, run) {
      late = run;
      return () => undefined;
    },
  });
  const end = await turns.take('a', { signal: never, limitMs: Infinity });
  const bounded = turns.take('a', { signal: never, limitMs: 50 });
  const leaving = new AbortController();
  const gone = turns.take('a', { signal: leaving.signal, limitMs: Infinity });
  const last = turns.take('a', { signal: never, limitMs: Infinity });
  late();
  leaving.abort();
  expect(await bounded).toBeNull();
  expect(await gone).toBeNull();
  end?.();
  expect(await last).not.toBeNull();
  expect(await turns.take('c', { signal: leaving.signal, limitMs: Infinity })).toBeNull();
});
