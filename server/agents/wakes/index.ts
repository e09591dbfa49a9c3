/**
 * How agents reach each other: messages, wakes, and events in threads.
 *
 * `ask.ts` is the only way to the wake gate. Every wake goes through it. `tools.ts` has the tools
 * with which agents write, wake and sleep.
 *
 * Main type: `Wakes` (in `contract.ts`).
 *
 * Invariants:
 * - Nothing else in the relay calls the gate, clears a sleeping flag, or begins a turn for
 *   messages.
 * - A deferred wake is requested again when the agent's turn or run ends.
 * - A message is never lost because a wake was refused. It waits in the inbox.
 *
 * It does not know the rules of the gate, or how a turn is run.
 */
import { withSeatWhereAlike } from '../../../src/shared/domain/prompts.ts';
import type { Wakes } from './contract.ts';
import type { Directory } from '../../team/directory/index.ts';
import type { Configs } from '../../team/gate/configs.ts';
import type { Inbox } from '../../team/inbox/index.ts';
import type { ThreadHooks } from '../../team/threads/hooks.ts';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { toolDone, toolError } from '../../tools/define-tool.ts';
import { type AskDeps, createAsk, createFlags } from './ask.ts';
import { createThreadHooks } from './thread-wakes.ts';
import { WAKE_SETTINGS, type WakeSettings } from './settings.ts';
import { delivered, outcomeText } from './tools.ts';

export { createWakeTools, createToHuman } from './tools.ts';

export interface WakesDeps extends Omit<AskDeps, 'settings'> {
  readonly settings?: WakeSettings;
  readonly inbox: Inbox;
  readonly directory: Directory;
  readonly configs: Configs;
  readonly now: () => number;
  readonly newId: () => string;
}

/** Wakes, with the hooks for threads. */
export interface OpenWakes extends Wakes {
  readonly hooks: ThreadHooks;
  /** Resumes what an earlier process of this relay deferred. Called once. */
  recover(): Promise<void>;
  /** Later, no waiting wake is requested any more. */
  close(): void;
}

type Sender = Parameters<Wakes['wake']>[0];

export function createWakes(deps: WakesDeps): OpenWakes {
  const { inbox, directory, pauses, now, newId, host, logger, timers, settings = WAKE_SETTINGS } = deps;
  const asking = createAsk({ ...deps, settings });
  const { ask, permitFor, turnEnded } = asking;
  const flags = createFlags({ ask, pauses, host, timers, now, logger, settings });

  const nameOf = async (agentId: AgentId) => withSeatWhereAlike(await directory.all(), agentId);

  const { hooks, happened } = createThreadHooks({ ...deps, ask, flags, nameOf });

  async function addressee(sender: Sender, to: string) {
    const member = await directory.find(to);
    if (!member.ok) return member;
    if (member.agent.agentId === sender.agentId)
      return { ok: false as const, reason: 'That is you. Send the message to another agent.' };
    return member;
  }

  const messageOf = (sender: Sender, to: string, text: string) => ({
    messageId: newId(),
    to,
    from: sender.agentId,
    text,
    time: now(),
    threadId: null,
  });

  const message: Wakes['message'] = async (sender, { to, text, priority, type }) => {
    const recipient = await addressee(sender, to);
    if (!recipient.ok) return toolError(recipient.reason);
    const { agentId } = recipient.agent;
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

  const wake: Wakes['wake'] = async (sender, { to, text, reason }) => {
    const recipient = await addressee(sender, to);
    if (!recipient.ok) return toolError(recipient.reason);
    const { agentId } = recipient.agent;
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

  host.onTurnEnd((agentId) => void turnEnded(agentId));
  // The person wakes agents by a button, or by a call to the team.
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
