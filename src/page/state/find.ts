/** Tasks, files and projects that a search finds. */
import type { FoundAnywhere } from '../../shared/protocol/projects.ts';
import type { RoostState } from './index.ts';
import { createQuery, type Query } from './query.ts';
import { SEARCH_AFTER_MS } from './task-search.ts';

const NOTHING: FoundAnywhere = { tasks: [], files: [], more: false };

/** One search. It is made again when a task changes. `text` empty: it asks nobody. */
export const createFind = (
  { callRelay, changes, device }: Pick<RoostState, 'callRelay' | 'changes' | 'device'>,
  text: string,
): Query<FoundAnywhere> =>
  createQuery<FoundAnywhere>({
    ...{ changes, device, askAgainMs: SEARCH_AFTER_MS },
    what: text === '' ? [] : ['projects', 'threads'],
    ask: () =>
      text === '' ? Promise.resolve({ ok: true, value: NOTHING }) : callRelay((client) => client.find({ q: text })),
  });
