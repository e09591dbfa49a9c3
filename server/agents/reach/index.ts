/**
 * How agents reach each other: messages, wakes, and events in threads.
 *
 * `ask.ts` is the only way to the wake gate. Every wake goes through it. `tools.ts` has the tools
 * with which agents write, wake and sleep.
 *
 * Main type: `Reach` (in `server/contracts`).
 *
 * Invariants:
 * - Nothing else in the relay calls the gate, clears a sleeping flag, or begins a turn for
 *   messages.
 * - A deferred wake is requested again when the agent's turn or run ends.
 * - A message is never lost because a wake was refused. It waits in the inbox.
 *
 * It does not know the rules of the gate, or how a turn is run.
 */
import { applicationNameOf } from '../../../src/shared/domain/applications.ts';
import type { TeamEvent, WakeWay } from '../../../src/shared/domain/guardrails.ts';
import { mentionId } from '../../../src/shared/domain/mentions.ts';
import { quote, titled } from '../../../src/shared/domain/quoting.ts';
import { addedText } from '../../../src/shared/domain/threads.ts';
import { withSeatWhereAlike } from '../../../src/shared/domain/prompts.ts';
import type { WakeSource } from '../../../src/shared/protocol/wakes.ts';
import type { Configs, Directory, Inbox, Reach, ThreadHooks } from '../../contracts/index.ts';
import { cutMiddle } from '../../../src/shared/domain/cut-middle.ts';
import type { AgentId, MessageId, SessionId } from '../../../src/shared/domain/ids.ts';
import { QUOTAS } from '../../platform/quotas.ts';
import { toolDone, toolError } from '../../contracts/define-tool.ts';
import { type AskDeps, createAsk, createFlags } from './ask.ts';
import { REACH_SETTINGS, type ReachSettings } from './settings.ts';
import { delivered, outcomeText, waitsText } from './tools.ts';

export { createReachTools, createToHuman } from './tools.ts';

export interface ReachDeps extends Omit<AskDeps, 'settings'> {
  readonly settings?: ReachSettings;
  readonly inbox: Inbox;
  readonly directory: Directory;
  readonly configs: Configs;
  readonly now: () => number;
  readonly newId: () => string;
}

/** With the hooks for threads. */
export interface OpenReach extends Reach {
  readonly hooks: ThreadHooks;
  /** Resumes what an earlier process of this relay deferred. Called once. */
  recover(): Promise<void>;
  /** Later, no waiting wake is requested any more. */
  close(): void;
}

type Sender = Parameters<Reach['wake']>[0];

export function createReach(deps: ReachDeps): OpenReach {
  const { inbox, directory, pauses, now, newId, host, logger, timers, settings = REACH_SETTINGS } = deps;
  const asking = createAsk({ ...deps, settings });
  const { ask, permitFor, turnEnded } = asking;
  const flags = createFlags({ ask, pauses, host, timers, now, logger, settings });

  async function addressee(sender: Sender, to: string) {
    const found = await directory.find(to);
    if (!found.ok) return found;
    if (found.agent.agentId === sender.agentId)
      return { ok: false as const, reason: 'That is you. Send the message to another agent.' };
    return found;
  }

  const messageOf = (sender: Sender, to: string, text: string) => ({
    messageId: newId(),
    to,
    from: sender.agentId,
    text,
    time: now(),
    threadId: null,
  });

  const message: Reach['message'] = async (sender, { to, text, priority, type }) => {
    const found = await addressee(sender, to);
    if (!found.ok) return toolError(found.reason);
    const { agentId } = found.agent;
    const name = await nameOf(agentId);
    const message = { ...messageOf(sender, agentId, text), priority, ...(type === undefined ? {} : { type }) };
    const full = await inbox.put(message, name);
    if (full !== null) return toolError(full);
    if (priority === 'normal') return toolDone(delivered(name));
    const { decision } = await ask({
      target: agentId,
      source: { kind: 'agent', agentId: sender.agentId },
      way: 'urgent_message',
      reason: null,
      messageId: message.messageId,
      callerSession: null,
    });
    return toolDone(outcomeText(name, decision, null));
  };

  const wake: Reach['wake'] = async (sender, { to, text, reason }) => {
    const found = await addressee(sender, to);
    if (!found.ok) return toolError(found.reason);
    const { agentId } = found.agent;
    const name = await nameOf(agentId);
    // The copy in the inbox is urgent, and requests nothing by itself.
    const message = { ...messageOf(sender, agentId, text), priority: 'urgent' as const };
    const full = await inbox.put(message, name);
    if (full !== null) return toolError(full);
    const { decision, left } = await ask({
      target: agentId,
      source: { kind: 'agent', agentId: sender.agentId },
      way: 'wake_agent',
      reason,
      messageId: message.messageId,
      callerSession: sender.sessionId ?? sender.runId ?? null,
    });
    const answer = outcomeText(name, decision, left);
    return decision.outcome === 'error' ? toolError(answer) : toolDone(answer);
  };

  function sourceOf(by: string): WakeSource {
    const application = applicationNameOf(by);
    if (application !== null) return { kind: 'api', name: application };
    return by === 'human' ? { kind: 'person' } : { kind: 'agent', agentId: by };
  }
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
  const nameOf = async (agentId: AgentId) => withSeatWhereAlike(await directory.all(), agentId);

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

  const happened: Reach['happened'] = async (agentId, events, { by, messageId }) =>
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

  host.onTurnEnd((agentId) => void turnEnded(agentId));
  // By a button, or by a call to the team.
  host.recordPersonWakes((agentId, callId) =>
    ask({
      target: agentId,
      source: { kind: 'person' },
      way: 'person',
      reason: null,
      messageId: null,
      callerSession: null,
      callId,
    }).then(
      () => undefined,
      (error: unknown) => logger.error('The person’s wake could not be recorded.', { agentId, error }),
    ),
  );

  return {
    message,
    wake,
    ask,
    permitFor,
    clearFlag: flags.clear,
    happened,
    hooks,
    recover: asking.recover,
    close() {
      asking.close();
      flags.close();
    },
  };
}
