/**
 * Tests of `npm run verify` that do more where they are told to: the same file, at its full length.
 * One round, whatever the seeds.
 */
import { spawnSync } from 'node:child_process';
import type { LongPart } from './long-part.ts';

interface LongTest {
  readonly name: string;
  /** Below `test`. */
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
  readonly does: string;
}

const longTest = ({ name, file, env, does }: LongTest): LongPart => ({
  name,
  short: [file],
  with: (seed) => [seed],
  run() {
    const { status } = spawnSync('npx', ['--no-install', 'vitest', 'run', `test/${file}`], {
      stdio: 'inherit',
      env: { ...process.env, ...env },
    });
    return status === 0 ? Promise.resolve(does) : Promise.reject(new Error(`${name}: see above`));
  },
});

export const longTests: readonly LongPart[] = [
  longTest({
    name: 'story',
    file: 'browser/story.test.ts',
    env: { ROOST_STORIES: 'all' },
    does: 'the story with each mind at each width',
  }),
  longTest({
    name: 'conversation',
    file: 'browser/long-conversation.test.ts',
    env: { ROOST_LONG_TALK: '20000' },
    does: 'a conversation of 20,000 messages',
  }),
  longTest({
    name: 'one-wake',
    file: 'faults/one-wake.test.ts',
    env: { ROOST_WAKES: '10' },
    does: 'ten double clicks of each kind, one wake each',
  }),
];
