/** The person's own calls: every thread is read and written by the person. */
import type { HTTPException } from 'hono/http-exception';
import type { z } from 'zod';
import { PERSON } from '../../src/domain/threads.ts';
import {
  addToThreadSchema,
  closeThreadSchema,
  createThreadSchema,
  sendToThreadSchema,
  type threadMessagesSchema,
  type threadsSchema,
} from '../../src/protocol/threads.ts';
import { readBody } from '../body.ts';
import { problem } from '../problem.ts';
import { idOf, numberOf, optionalIdOf, type Routes } from '../route.ts';
import { THREAD_LIMITS } from './settings.ts';
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

function orRefuse<Value>(answer: Answer<Value>, field = 'body'): { readonly ok: true } & Value {
  if (answer.ok) return answer;
  throw refusal(answer, field);
}

export function createThreadRoutes({ threads }: { readonly threads: Threads }): Routes {
  const { page, listPage } = THREAD_LIMITS;
  return (route) => {
    route('/api/threads', {
      async GET(context) {
        const listed = await threads.list(PERSON, {
          before: optionalIdOf(context, 'before'),
          limit: numberOf(context, 'limit', listPage),
          closedToo: true,
        });
        const answer: z.infer<typeof threadsSchema> = { threads: [...listed.threads], more: listed.more };
        return context.json(answer);
      },
      async POST(context) {
        const { title, participants } = await readBody(context, createThreadSchema);
        const { thread } = orRefuse(
          await threads.create(PERSON, { title, participantRefs: participants }),
          'participants',
        );
        return context.json(thread, 201);
      },
    });
    route('/api/threads/:threadId/messages', {
      async GET(context) {
        const before = numberOf(context, 'before', { min: 1, max: Number.MAX_SAFE_INTEGER, otherwise: 0 });
        const read = orRefuse(
          await threads.read(PERSON, idOf(context, 'threadId'), {
            before: before === 0 ? null : before,
            limit: numberOf(context, 'limit', page),
            run: null,
          }),
        );
        const answer: z.infer<typeof threadMessagesSchema> = {
          thread: read.thread,
          messages: [...read.messages],
          more: read.more,
        };
        return context.json(answer);
      },
      async POST(context) {
        const { text, mentions, clientId } = await readBody(context, sendToThreadSchema);
        const { message } = orRefuse(
          await threads.send(PERSON, idOf(context, 'threadId'), { text, mentionRefs: mentions, clientId }),
          'mentions',
        );
        return context.json(message);
      },
    });
    route('/api/threads/:threadId/participants', {
      async POST(context) {
        const { agentId } = await readBody(context, addToThreadSchema);
        const { thread } = orRefuse(await threads.add(PERSON, idOf(context, 'threadId'), agentId), 'agentId');
        return context.json(thread);
      },
    });
    route('/api/threads/:threadId/participants/:agentId', {
      async DELETE(context) {
        const { thread } = orRefuse(await threads.remove(PERSON, idOf(context, 'threadId'), idOf(context, 'agentId')));
        return context.json(thread);
      },
    });
    route('/api/threads/:threadId/close', {
      async POST(context) {
        const { summary } = await readBody(context, closeThreadSchema);
        const { thread } = orRefuse(await threads.close(PERSON, idOf(context, 'threadId'), summary));
        return context.json(thread);
      },
    });
  };
}
