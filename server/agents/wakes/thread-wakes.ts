/** Events in threads: an agent was added or mentioned, and may be asked to wake. */
import { applicationNameOf } from '../../../src/shared/domain/applications.ts';
import type { TeamEvent, WakeWay } from '../../../src/shared/domain/guardrails.ts';
import { mentionId } from '../../../src/shared/domain/mentions.ts';
import { quote, titled } from '../../../src/shared/domain/quoting.ts';
import { addedText } from '../../../src/shared/domain/threads.ts';
import type { WakeSource } from '../../../src/shared/protocol/wakes.ts';
import type { Wakes } from './contract.ts';
import type { Inbox } from '../../team/inbox/index.ts';
import type { ThreadHooks } from '../../team/threads/hooks.ts';
import { cutMiddle } from '../../../src/shared/domain/cut-middle.ts';
import type { AgentId, MessageId, SessionId } from '../../../src/shared/domain/ids.ts';
import { QUOTAS } from '../../platform/quotas.ts';
import type { AskDeps, createAsk, createFlags } from './ask.ts';
import { outcomeText, waitsText } from './tools.ts';

interface ThreadHooksDeps extends Pick<AskDeps, 'pauses' | 'host' | 'now'> {
  readonly inbox: Inbox;
  readonly ask: ReturnType<typeof createAsk>['ask'];
  readonly flags: Pick<ReturnType<typeof createFlags>, 'clear'>;
  readonly nameOf: (agentId: AgentId) => Promise<string>;
}

function sourceOf(by: string): WakeSource {
  const application = applicationNameOf(by);
  if (application !== null) return { kind: 'api', name: application };
  return by === 'human' ? { kind: 'person' } : { kind: 'agent', agentId: by };
}

export function createThreadHooks({ inbox, pauses, host, now, ask, flags, nameOf }: ThreadHooksDeps): {
  readonly hooks: ThreadHooks;
  readonly happened: Wakes['happened'];
} {
  const askFor = async (target: string, way: WakeWay, by: string, messageId: MessageId | null): Promise<string> => {
    const { decision } = await ask({ target, source: sourceOf(by), way, reason: null, messageId, callerSession: null });
    return outcomeText(await nameOf(target), decision, null);
  };
  /** As `askFor`, for a sleeping agent that its own list wakes. */
  async function clearFor(target: string, way: WakeWay, by: string, messageId: MessageId | null): Promise<string> {
    const asked = { target, source: sourceOf(by), way, reason: null, messageId, callerSession: null };
    const { decision, waits } = await flags.clear(asked);
    const name = await nameOf(target);
    return waits ? waitsText(name, decision) : outcomeText(name, decision, null);
  }

  /** A sentence about the requested wake. Null: none was requested. */
  async function happening(
    agentId: AgentId,
    events: readonly TeamEvent[],
    by: string,
    messageId: MessageId | null,
  ): Promise<string | null> {
    const { sleep_events, wake_events } = await pauses.eventsOf(agentId);
    const names = (list: readonly TeamEvent[]) => list.some((event) => events.includes(event));
    const paused = pauses.isPaused(agentId);
    if (names(wake_events))
      return paused
        ? clearFor(agentId, events.includes('mentioned') ? 'thread_mention' : 'thread_added', by, messageId)
        : null;
    const sessionId = host.sessionId();
    if (names(sleep_events) && !paused && sessionId !== null)
      await pauses.set(sessionId, agentId, true, events[0] ?? 'relay');
    return null;
  }

  const happened: Wakes['happened'] = async (agentId, events, { by, messageId }) =>
    void (await happening(agentId, events, by, messageId));

  /**
   * Agents that were added to a thread in the running session. The set ends with the session, as
   * the sleeping flags do.
   */
  let added: { readonly sessionId: SessionId | null; readonly agents: Set<AgentId> } | null = null;
  /** Whether this is the first thread that the agent is added to in this session. */
  function isFirstThread(agentId: AgentId): boolean {
    const sessionId = host.sessionId();
    if (!added || added.sessionId !== sessionId) added = { sessionId, agents: new Set() };
    const isFirst = !added.agents.has(agentId);
    added.agents.add(agentId);
    return isFirst;
  }

  /**
   * The relay reports what the person does in a thread, because it is not part of their
   * conversation with the agent.
   */
  const tellerOf = (by: string) => (by === 'human' ? 'relay' : by);
  const hooks: ThreadHooks = {
    async added({ threadId, title, agentId, by, times }) {
      const messageId = `${threadId}-${agentId}-${times}`;
      const isFirst = isFirstThread(agentId);
      const full = await inbox.put(
        {
          messageId,
          to: agentId,
          from: tellerOf(by),
          text: addedText({ threadId, title, byHuman: by === 'human' }),
          time: now(),
          priority: 'normal',
          threadId,
        },
        await nameOf(agentId),
      );
      // No wake without a message in the inbox.
      if (full !== null) return full;
      return happening(
        agentId,
        isFirst ? ['added_to_any_thread', 'added_to_thread_first_time'] : ['added_to_any_thread'],
        by,
        messageId,
      );
    },
    async mentioned({ threadId, title, agentId, by, messageId: said, text }) {
      const messageId = mentionId(said, agentId);
      const full = await inbox.put(
        {
          messageId,
          to: agentId,
          from: tellerOf(by),
          text: `${by === 'human' ? 'The human mentions you' : 'You are mentioned'} in the thread ${titled(title)} (id ${threadId}):\n${quote(cutMiddle(text, QUOTAS.mentionCharacters))}`,
          time: now(),
          priority: 'high',
          threadId,
        },
        await nameOf(agentId),
      );
      if (full !== null) return full;
      // A sleeping agent is woken only by its own list. An agent that is awake is asked as by an
      // urgent message.
      if (pauses.isPaused(agentId)) return happening(agentId, ['mentioned'], by, messageId);
      return askFor(agentId, 'thread_mention', by, messageId);
    },
    async mentionsRead({ agentId, messageIds, run }) {
      await inbox.claim(
        messageIds.map((messageId) => mentionId(messageId, agentId)),
        { readIn: null, run, time: now() },
      );
    },
    leftLast: ({ agentId, event }) => happened(agentId, [event], { by: 'human', messageId: null }),
  };

  return { hooks, happened };
}
