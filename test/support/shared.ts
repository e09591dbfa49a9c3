import { afterAll, afterEach } from 'vitest';

/**
 * What takes seconds to make, for tests that use it one after the other: made for the first that
 * asks, ended after the last. After a test that failed, the next has another.
 */
export function shared<Made>(make: () => Promise<Made>, end: (made: Made) => Promise<void>): () => Promise<Made> {
  let made: Promise<Made> | null = null;
  const over = async () => {
    const ending = made;
    made = null;
    if (ending) await end(await ending);
  };
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') await over();
  });
  afterAll(over);
  return () => (made ??= make());
}
