/** Tools with which agents use threads. Models read the descriptions. */
import { z } from 'zod';
import { PERSON } from '../../../src/shared/domain/threads.ts';
import { LIMITS } from '../../../src/shared/protocol/limits.ts';
import {
  closeThreadSchema,
  threadTitle,
  type Thread,
  type ThreadMessage,
} from '../../../src/shared/protocol/threads.ts';
import type { Directory } from '../directory/index.ts';
import type { Caller, TeamTool, ToolOutcome } from '../../tools/index.ts';
import { defineTool, toolDone, toolError } from '../../tools/define-tool.ts';
import { THREAD_LIMITS } from './settings.ts';
import type { Page, Refusal, Threads, WaitFor } from './context.ts';
import { cutMiddle } from '../../../src/shared/domain/cut-middle.ts';
import type { ThreadId } from '../../../src/shared/domain/ids.ts';
import { titled, writeSaid } from '../../../src/shared/domain/quoting.ts';
import { withSeatWhereAlike } from '../../../src/shared/domain/prompts.ts';
import type { TeamMember } from '../../../src/shared/protocol/team.ts';
import { QUOTAS } from '../../platform/quotas.ts';

/**
 * Threads as text for models. Messages are quoted (quoting.ts), so that no message can imitate the
 * head of another.
 */
const INDENT = '    ';

interface Words {
  head(thread: Thread): string;
  /** The thread as an entry of a list. A long summary is shortened. */
  listed(thread: Thread): string;
  /** `more`: says how to get the rest. */
  page(page: Page, more: string): string;
}

function createWords(team: readonly TeamMember[], readerId: string): Words {
  function nameOf(id: string): string {
    if (id === PERSON) return 'the human';
    return `${withSeatWhereAlike(team, id)}${id === readerId ? ' (you)' : ''}`;
  }

  function head({ threadId, title, participants, messages, closed }: Thread): string {
    const state =
      closed === null
        ? 'open'
        : `closed by ${nameOf(closed.by)}${closed.summary === '' ? '' : `, who said: ${titled(closed.summary)}`}`;
    return `Thread ${titled(title)}, id ${threadId}, ${messages} ${messages === 1 ? 'message' : 'messages'}, ${state}\n${INDENT}in it: ${participants.map(nameOf).join(', ')}`;
  }

  function said({ sequence, from, text, mentions, time }: ThreadMessage): string {
    const mentioned = mentions.length === 0 ? '' : `, mentions ${mentions.map(nameOf).join(', ')}`;
    return writeSaid({
      head: `${sequence}. ${nameOf(from)}, ${new Date(time).toISOString()}${mentioned}:`,
      text: cutMiddle(text, THREAD_LIMITS.pageCharacters),
    });
  }

  return {
    head,
    listed: (thread) =>
      head(
        thread.closed === null
          ? thread
          : {
              ...thread,
              closed: { ...thread.closed, summary: cutMiddle(thread.closed.summary, QUOTAS.listedSummary) },
            },
      ),
    page({ thread, messages, more: isMore }, more) {
      return [head(thread), ...messages.map(said), ...(isMore ? [more] : [])].join('\n');
    },
  };
}

export interface ThreadToolDeps {
  readonly threads: Threads;
  readonly directory: Directory;
}

const { waitSeconds, page, listPage, named } = THREAD_LIMITS;
const agent = z.string().min(1).max(LIMITS.id).describe('a name, a seat number, or an id');
// The store rejects a query with a NUL.
const threadId = z
  .string()
  .min(1)
  .max(LIMITS.id)
  .refine((id) => !id.includes('\0'), 'no thread has such an id')
  .describe('the thread’s id');
const waiting = {
  threadId: threadId.optional().describe('only in this thread; left out: in any of your threads'),
  timeoutSeconds: z
    .number()
    .int()
    .min(waitSeconds.min)
    .max(waitSeconds.max)
    .default(waitSeconds.otherwise)
    .describe('longest wait; 0 only checks'),
};
/** The common end of the description of every waiting tool. */
const GIVES =
  'Answers with all of that thread that you have not read yet, at once if it is there already. What the human says to you ends the wait.';

const refused = ({ detail }: Pick<Refusal, 'detail'>): ToolOutcome => toolError(detail);
const done = (words: string, notes: readonly string[]): ToolOutcome => toolDone([words, ...notes].join('\n'));

export function createThreadTools({ threads, directory }: ThreadToolDeps): readonly TeamTool[] {
  const wordsFor = async ({ agentId }: Caller) => createWords(await directory.all(), agentId);

  async function wait(
    caller: Caller,
    until: WaitFor,
    input: { readonly threadId?: ThreadId | undefined; readonly timeoutSeconds: number },
  ): Promise<ToolOutcome> {
    const { signal, heard, run } = caller;
    const either = heard ? AbortSignal.any([signal, heard]) : signal;
    const answer = await threads.wait(caller.agentId, {
      until,
      threadId: input.threadId ?? null,
      limitMs: input.timeoutSeconds * 1_000,
      signal: either,
      run,
    });
    if (!answer.ok) return refused(answer);
    if (answer.came)
      return toolDone(
        (await wordsFor(caller)).page(
          answer.page,
          'There is more that you have not read: wait again, and it is there at once.',
        ),
      );
    if (!signal.aborted && heard?.aborted) {
      const next = caller.kind === 'client' ? 'Read their words with read_inbox.' : 'Their words come next.';
      return {
        ...toolDone(`The human wrote to you meanwhile; nothing new was read in the threads. ${next}`),
        endsTurn: true,
      };
    }
    return answer.why === 'late'
      ? toolDone(`Nothing came in ${input.timeoutSeconds} s. Wait again, or go on with something else.`)
      : toolError('The wait was cancelled.');
  }

  return [
    defineTool({
      name: 'create_thread',
      description:
        'Opens a thread with other agents: for what concerns several of you, or takes more than one message. You are in it. The agents that you name are informed. Then use send_message_to_thread.',
      input: z.object({ title: threadTitle, participants: z.array(agent).min(1).max(named) }),
      async run({ title, participants }, caller) {
        const answer = await threads.create(caller.agentId, { title, participantRefs: participants });
        return answer.ok ? done((await wordsFor(caller)).head(answer.thread), answer.notes) : refused(answer);
      },
    }),
    defineTool({
      name: 'add_participant',
      description: 'Adds an agent to a thread you are in. It can read all earlier messages.',
      input: z.object({ threadId, agent }),
      async run(input, caller) {
        const answer = await threads.add(caller.agentId, input.threadId, input.agent);
        return answer.ok ? done((await wordsFor(caller)).head(answer.thread), answer.notes) : refused(answer);
      },
    }),
    defineTool({
      name: 'remove_participant',
      description:
        'Removes an agent from a thread you are in. It cannot read or write there then. Name yourself to leave.',
      input: z.object({ threadId, agent }),
      async run(input, caller) {
        const answer = await threads.remove(caller.agentId, input.threadId, input.agent);
        return answer.ok ? toolDone((await wordsFor(caller)).head(answer.thread)) : refused(answer);
      },
    }),
    defineTool({
      name: 'send_message_to_thread',
      description:
        'Posts a message to a thread you are in. Everyone in it can read it. Agents in `mentions`, or named in the text as @Name, also get it in their inbox, and are woken for it if their limits allow. Mention only those whose answer you need.',
      input: z.object({
        threadId,
        message: z
          .string()
          .trim()
          .min(1)
          .max(
            LIMITS.agentMessageText,
            `a message of an agent in a thread has at most ${LIMITS.agentMessageText} characters`,
          ),
        mentions: z.array(agent).max(named).default([]).describe('agents of this thread, not yourself'),
      }),
      async run(input, caller) {
        const answer = await threads.send(caller.agentId, input.threadId, {
          text: input.message,
          mentionRefs: input.mentions,
          clientId: null,
        });
        return answer.ok
          ? done(`Sent, as message ${answer.message.sequence} of the thread.`, answer.notes)
          : refused(answer);
      },
    }),
    defineTool({
      name: 'close_thread',
      description:
        'Closes a thread you are in for good, with a summary of its outcome. It can still be read, but takes no messages.',
      input: z.object({ threadId, summary: closeThreadSchema.shape.summary }),
      async run(input, caller) {
        const answer = await threads.close(caller.agentId, input.threadId, input.summary);
        return answer.ok ? toolDone((await wordsFor(caller)).head(answer.thread)) : refused(answer);
      },
    }),
    defineTool({
      name: 'list_threads',
      description: 'Lists the threads you are in, newest first.',
      input: z.object({
        closedToo: z.boolean().default(false).describe('also closed ones'),
        before: threadId.optional().describe('only threads after this one in the list'),
      }),
      readOnly: true,
      async run({ closedToo, before }, caller) {
        const { threads: listed, more } = await threads.list(caller.agentId, {
          before: before ?? null,
          limit: listPage.otherwise,
          closedToo,
        });
        const { listed: line } = await wordsFor(caller);
        return toolDone(
          listed.length === 0
            ? before === undefined
              ? 'You are in no thread.'
              : 'There are none below that one.'
            : [
                ...listed.map(line),
                ...(more ? [`There are older ones: list_threads with before ${listed.at(-1)?.threadId ?? ''}.`] : []),
              ].join('\n'),
        );
      },
    }),
    defineTool({
      name: 'read_thread',
      description: 'Reads the last messages of a thread you are in, oldest first.',
      input: z.object({
        threadId,
        before: z.number().int().min(1).optional().describe('only messages before this number; left out: the newest'),
      }),
      async run(input, caller) {
        const answer = await threads.read(caller.agentId, input.threadId, {
          before: input.before ?? null,
          limit: page.otherwise,
          run: caller.run,
        });
        if (!answer.ok) return refused(answer);
        const more = `There are earlier ones: read again with before ${answer.messages[0]?.sequence ?? 1}.`;
        return toolDone((await wordsFor(caller)).page(answer, more));
      },
    }),
    defineTool({
      name: 'wait_for_message',
      waits: true,
      description: `Waits for a message of another. ${GIVES}`,
      input: z.object(waiting),
      run: (input, caller) => wait(caller, { kind: 'message' }, input),
    }),
    defineTool({
      name: 'wait_for_mention',
      waits: true,
      description: `Waits until somebody mentions you. ${GIVES}`,
      input: z.object(waiting),
      run: (input, caller) => wait(caller, { kind: 'mention' }, input),
    }),
    defineTool({
      name: 'wait_for_agent',
      waits: true,
      description: `Waits for a message of one agent, such as its answer to you. ${GIVES}`,
      input: z.object({ agent: agent.describe('a name, a seat number, or an id; "human" for the person'), ...waiting }),
      async run(input, caller) {
        if (input.agent.trim().toLowerCase() === PERSON)
          return await wait(caller, { kind: 'from', who: PERSON, name: 'The human' }, input);
        const found = await directory.find(input.agent);
        if (!found.ok) return toolError(found.reason);
        const { agentId, name } = found.agent;
        if (agentId === caller.agentId) return toolError('That is you. Wait for somebody else.');
        return await wait(caller, { kind: 'from', who: agentId, name }, input);
      },
    }),
  ];
}
