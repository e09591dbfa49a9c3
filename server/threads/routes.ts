/** The person's own calls: every thread is read and written by the person. */
import type { HTTPException } from 'hono/http-exception';
import { PERSON } from '../../src/domain/threads.ts';
import { threadEndpoints } from '../../src/protocol/endpoints/threads.ts';
import { answer, type Handled } from '../endpoint.ts';
import { problem } from '../problem.ts';
import type { Answer, Refusal, Threads } from './types.ts';

/** `field`: the part of the body that names agents. */
function refusal({ reason, detail }: Refusal, field: string): HTTPException {
  switch (reason) {
    case 'no-thread':
    case 'not-in-it':
      return problem(404, reason, detail);
    case 'closed':
      return problem(409, reason, detail);
    case 'too-many':
      return problem(429, reason, detail);
    case 'unknown-agent':
    case 'bad-mention':
    case 'nobody':
      return problem(400, reason, detail, { fields: { errors: [{ field, message: detail }] } });
  }
}

function orRefuse<Value>(outcome: Answer<Value>, field = 'body'): { readonly ok: true } & Value {
  if (outcome.ok) return outcome;
  throw refusal(outcome, field);
}

export function createThreadRoutes({ threads }: { readonly threads: Threads }): readonly Handled[] {
  return answer(threadEndpoints, {
    async threads({ before, limit }) {
      const listed = await threads.list(PERSON, { before, limit, closedToo: true });
      return { threads: [...listed.threads], more: listed.more };
    },
    async createThread({ body: { title, participants } }) {
      return orRefuse(await threads.create(PERSON, { title, participantRefs: participants }), 'participants').thread;
    },
    async threadMessages({ threadId, before, limit }) {
      const { thread, messages, more, read } = orRefuse(
        await threads.read(PERSON, threadId, { before, limit, run: null }),
      );
      return { thread, messages: [...messages], more, ...(read ? { read } : {}) };
    },
    async sendToThread({ threadId, body: { text, mentions, clientId } }) {
      return orRefuse(await threads.send(PERSON, threadId, { text, mentionRefs: mentions, clientId }), 'mentions')
        .message;
    },
    addToThread: async ({ threadId, body }) =>
      orRefuse(await threads.add(PERSON, threadId, body.agentId), 'agentId').thread,
    removeFromThread: async ({ threadId, agentId }) => orRefuse(await threads.remove(PERSON, threadId, agentId)).thread,
    closeThread: async ({ threadId, body }) => orRefuse(await threads.close(PERSON, threadId, body.summary)).thread,
  });
}
