/** In place of a program that is not there: says so, and asks nothing of anybody. */
import type { AgentMind } from '../minds/index.ts';
import { sentence } from '../../src/domain/sentence.ts';

export const GONE: AgentMind = {
  counts: 'reports',
  answer: () =>
    Promise.resolve({
      ok: false,
      error: {
        kind: 'upstream-broken',
        message: sentence`The agent program that was chosen as this agent’s mind is not there, or may not be run on this relay. Choose another under its limits.`,
      },
      blocks: [],
      usage: null,
      whole: true,
      outputMost: null,
    }),
};
