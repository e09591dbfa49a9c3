/** Tools with which every agent reaches others, and gets peace. Models read the descriptions. */
import { z } from 'zod';
import {
  type AgentState,
  MESSAGE_PRIORITIES,
  MESSAGE_TYPES,
  messageTypeText,
  WAKE_REASONS,
  type WakeReason,
  type WakeWay,
} from '../../../src/shared/domain/guardrails.ts';
import { isSameName, shownName } from '../../../src/shared/domain/names.ts';
import { LEAD_ID, seatNumber } from '../../../src/shared/domain/seat.ts';
import type { TeamMember } from '../../../src/shared/protocol/team.ts';
import type { WakeDecision, WakeSource } from '../../../src/shared/protocol/wakes.ts';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { MESSAGE_BATCH_LIMITS, messageBatch } from '../../../src/shared/domain/message-batch.ts';
import type { Picture, SentAttachment } from '../../../src/shared/domain/attachment.ts';
import { writeSaid } from '../../../src/shared/domain/quoting.ts';
import { withSeat, withSeatWhereAlike } from '../../../src/shared/domain/prompts.ts';
import type { RoostEvent } from '../../../src/shared/protocol/events.ts';
import { LIMITS } from '../../../src/shared/protocol/limits.ts';
import type { Wakes } from './contract.ts';
import type { SessionHost } from '../session/contract.ts';
import type { EventLog } from '../../log/index.ts';
import type { Directory } from '../../team/directory/index.ts';
import type { Configs } from '../../team/gate/configs.ts';
import type { Gate } from '../../team/gate/contract.ts';
import type { Inbox } from '../../team/inbox/index.ts';
import type { Pauses } from '../../team/pauses/index.ts';
import type { Caller, TeamTool, ToolOutcome } from '../../tools/index.ts';
import { defineTool, toolDone, toolError } from '../../tools/define-tool.ts';
import { moreWait } from '../../team/inbox/index.ts';
import { messageEvent } from '../runs/message-event.ts';

// What a sender is told about its message and the wake.

const waits = (name: string) =>
  `Your message is in ${name}’s inbox and will be read at its next turn; nothing of it is lost.`;

/**
 * `wakesLeft`: calls of `wake_agent` left in the session of the caller. Null: not counted here.
 */
export function outcomeText(
  name: string,
  { outcome, detail }: Pick<WakeDecision, 'outcome' | 'detail'>,
  wakesLeft: number | null,
): string {
  const rest =
    wakesLeft === null ? '' : ` You have ${wakesLeft} ${wakesLeft === 1 ? 'wake' : 'wakes'} left in this session.`;
  switch (outcome) {
    case 'granted':
      return `Granted: ${name} is awake and reads your message now.${rest}`;
    case 'deferred':
      return `Deferred: ${detail} ${waits(name)}${rest}`;
    case 'suppressed':
      return `Suppressed: ${detail} ${waits(name)}${rest}`;
    case 'error':
      return `Not asked: ${detail} ${waits(name)}${rest}`;
    default:
      return outcome satisfies never;
  }
}

/** For a sleeping agent that is woken as soon as nothing prevents it. */
export const waitsText = (name: string, { detail }: Pick<WakeDecision, 'detail'>): string =>
  `${name} is woken in its turn. ${detail} ${waits(name)}`;

export const delivered = (name: string): string => `Delivered to ${name}’s inbox. It is read at ${name}’s next turn.`;

const WHY: Readonly<Record<WakeReason, string>> = {
  blocker: 'something is blocked',
  critical_finding: 'a critical finding',
  user_request: 'the human asked for it',
};

function byWhom(source: WakeSource, team: readonly TeamMember[]): string {
  if (source.kind === 'person') return 'the human';
  if (source.kind !== 'agent') return shownName(source.name, 'label');
  const member = team.find(({ agentId }) => agentId === source.agentId);
  return member
    ? `${member.name}${member.position === null ? '' : ` (seat ${seatNumber(member.position)})`}`
    : source.agentId;
}

/** The line that opens the turn for which an agent was woken. */
export function wokenBy(
  source: WakeSource,
  way: WakeWay,
  reason: WakeReason | null,
  team: readonly TeamMember[],
): string {
  const waker = byWhom(source, team);
  switch (way) {
    case 'wake_agent':
      return `[You are awake: ${waker} woke you${reason === null ? '' : `, because of this: ${WHY[reason]}`}]`;
    case 'urgent_message':
      return `[You are awake: ${waker} sent you something urgent]`;
    case 'thread_mention':
      return `[You are awake: ${waker} mentioned you in a thread]`;
    case 'thread_added':
      return `[You are awake: ${waker} added you to a thread]`;
    case 'schedule':
      return `[You are awake: it is the time set in ${waker}]`;
    case 'reminder':
      return `[You are awake: a reminder that you left for yourself is due]`;
    case 'script_failure':
      return `[You are awake: ${waker} has failed]`;
    case 'answer':
      return `[You are awake: ${waker} answered what you asked]`;
    case 'person':
    case 'api':
    case 'deferred':
      return `[You are awake: ${waker} woke you]`;
    default:
      return way satisfies never;
  }
}

// A message that an agent leaves for the person. It appears in their conversation like any answer,
// whether or not anybody watches.

/** How much an agent may leave. */
const TO_HUMAN = { characters: 10_000, most: 20, withinMs: 3_600_000 } as const;

interface ToHumanDeps {
  readonly log: Pick<EventLog, 'append' | 'snapshot'>;
  readonly host: Pick<SessionHost, 'sessionId'>;
  readonly now: () => number;
  readonly newId: () => string;
}
type ToHuman = (agentId: AgentId, text: string) => Promise<ToolOutcome>;

export function createToHuman({ log, host, now, newId }: ToHumanDeps): ToHuman {
  /** When each agent left its latest messages. */
  const sentTimes = new Map<string, readonly number[]>();
  return async (agentId, text) => {
    const time = now();
    const recent = (sentTimes.get(agentId) ?? []).filter((at) => at > time - TO_HUMAN.withinMs && at <= time);
    if (recent.length >= TO_HUMAN.most)
      return toolError(
        `You have sent the human ${TO_HUMAN.most} messages within an hour, which is the limit. Put the rest into one message later.`,
      );
    // Between two sessions it belongs to the previous one.
    const sessionId = host.sessionId() ?? log.snapshot().lastEnd?.sessionId ?? null;
    if (sessionId === null) return toolError('No session has run yet, so you have no conversation with the human.');
    sentTimes.set(agentId, [...recent, time]);
    await log.append([
      messageEvent({ time, messageId: newId(), sessionId, agentId, author: agentId, text, role: 'assistant' }),
    ]);
    return toolDone('The message is in your conversation with the human, marked as unread.');
  };
}

interface WakeToolDeps {
  readonly wakes: Wakes;
  readonly inbox: Inbox;
  readonly gate: Gate;
  readonly configs: Configs;
  readonly directory: Directory;
  readonly pauses: Pauses;
  readonly host: SessionHost;
  readonly now: () => number;
  readonly toHuman: ToHuman;
  /** The person's name in the running session. Null: none runs. */
  readonly human: () => string | null;
  /** Notifies the conversation that the person's waiting messages were read. */
  readonly tell: (event: RoostEvent) => void;
}

const to = z.string().min(1).max(LIMITS.id).describe('a name, a seat number or an id');
const text = z
  .string()
  .trim()
  .min(1)
  .max(LIMITS.agentMessageText, `a message to another agent has at most ${LIMITS.agentMessageText} characters`);

/** Names for the person in agents' calls. No agent has such a name (names.ts). */
const isHuman = (whom: string, name: string | null) =>
  /^(?:the )?human$/i.test(whom.trim()) || (name !== null && isSameName(whom, name));

/** The relay's own mind drives the agent. */
const BY_MIND: ReadonlySet<AgentState> = new Set(['paused', 'idle', 'busy']);
const BESIDE =
  'You are awake in the running session as well, and read these messages there. They are only shown here, and stay unread.';

const pictureOf = ({ mediaType: type, data }: SentAttachment): Picture[] =>
  type === 'application/pdf' || type === 'text/plain' ? [] : [{ type, data }];

export function createWakeTools({
  wakes,
  inbox,
  gate,
  configs,
  directory,
  pauses,
  host,
  now,
  toHuman,
  human,
  tell,
}: WakeToolDeps): readonly TeamTool[] {
  /** The lead is present as long as the session is. */
  const isNotLead = ({ agentId }: Caller) => Promise.resolve(agentId !== LEAD_ID);
  /** Several tools check one caller at the same time. */
  const configOfCall = new WeakMap<Caller, ReturnType<Configs['agent']>>();
  function configOf(caller: Caller): ReturnType<Configs['agent']> {
    const config = configOfCall.get(caller) ?? configs.agent(caller.agentId);
    configOfCall.set(caller, config);
    return config;
  }
  const mayWake = async (caller: Caller) => {
    const { wakes_enabled, coordination } = (await configOf(caller)).effective;
    return wakes_enabled && coordination.wake_guardrails.max_wakes_per_session > 0;
  };
  const mayPutOthersToSleep = async (caller: Caller) =>
    (await configOf(caller)).effective.coordination.may_put_others_to_sleep;

  async function setPaused(agentId: AgentId, caller: Caller) {
    if (caller.sessionId === null) return toolError('No session runs, so every agent sleeps.');
    const set = await pauses.set(caller.sessionId, agentId, true, caller.agentId);
    return set === null ? toolError('That agent is not in the running session, so it cannot be put to sleep.') : null;
  }

  return [
    defineTool({
      name: 'message_agent',
      description:
        'Leaves a message in another agent’s inbox. It reads it at its next turn, at no cost. Use this for almost everything. To “human”: a message in your conversation. Priority high or urgent also asks for a wake, within limits.',
      input: z.object({
        to,
        message: text,
        type: z.enum(MESSAGE_TYPES).default('info'),
        priority: z.enum(MESSAGE_PRIORITIES).default('normal'),
      }),
      run({ to: whom, message, type, priority }, caller) {
        if (!isHuman(whom, human())) return wakes.message(caller, { to: whom, text: message, priority, type });
        const what = messageTypeText(type);
        return toHuman(
          caller.agentId,
          what === null ? message : `${what[0]?.toUpperCase()}${what.slice(1)}: ${message}`,
        );
      },
    }),
    defineTool({
      name: 'wake_agent',
      description:
        'Leaves a message and asks to wake the other agent for it now. That costs a model run and is limited. Use it only for what cannot wait.',
      allowed: mayWake,
      input: z.object({ to, message: text, reason: z.enum(WAKE_REASONS) }),
      run: (input, caller) => wakes.wake(caller, { to: input.to, text: input.message, reason: input.reason }),
    }),
    defineTool({
      name: 'message_human',
      description: 'Leaves the human an unread message for when they look again. They see your answers to them anyway.',
      input: z.object({
        message: z
          .string()
          .trim()
          .min(1)
          .max(TO_HUMAN.characters, `a message to the human has at most ${TO_HUMAN.characters} characters here`),
      }),
      run: ({ message }, caller) => toHuman(caller.agentId, message),
    }),
    defineTool({
      name: 'read_inbox',
      description: 'Reads the messages that wait for you, oldest first, as many as fit. Each is given once.',
      input: z.object({}),
      async run(_input, caller) {
        const beside = caller.kind === 'client' && BY_MIND.has(host.stateOf(caller.agentId));
        const waiting = messageBatch(
          await inbox.waiting(caller.agentId, MESSAGE_BATCH_LIMITS.count),
          MESSAGE_BATCH_LIMITS,
        );
        // A client's read leaves no trace in the session's log, so it is not searched for there
        // after a crash.
        const readIn = caller.kind === 'client' ? null : (caller.sessionId ?? caller.runId ?? null);
        // The mind that drives this agent reads the inbox itself. So the messages are only shown
        // here, and go on waiting.
        const claimed = await inbox.claim(beside ? [] : waiting.map(({ messageId }) => messageId), {
          readIn,
          run: caller.run,
          time: now(),
        });
        const shownMessages = beside ? waiting : claimed;
        if (caller.signal.aborted && !beside) {
          // The caller is gone before it could read them.
          await inbox.release(shownMessages.map(({ messageId }) => messageId));
          return toolError('The call was cancelled before anything was read.');
        }
        for (const { messageId, from } of shownMessages)
          if (from === 'human' && !beside)
            tell({
              kind: 'message-read',
              time: now(),
              messageId,
              agentId: caller.agentId,
              sessionId: caller.kind === 'run' ? null : (caller.sessionId ?? caller.run),
              ...(caller.runId === undefined ? {} : { runId: caller.runId }),
            });
        const unreadCount = (await inbox.count(caller.agentId)) - (beside ? shownMessages.length : 0);
        const team = await directory.all();
        const nameOf = (id: string) =>
          id === 'human' ? 'the human' : id === 'relay' ? 'the relay' : withSeat(team, id);
        const lines = shownMessages.map((message) =>
          writeSaid({
            head: `From ${nameOf(message.from)} at ${new Date(message.time).toISOString()}${[message.priority === 'normal' ? null : message.priority, messageTypeText(message.type)].map((word) => (word === null ? '' : `, ${word}`)).join('')}:`,
            text: message.text,
          }),
        );
        // A result shows one picture.
        const [picture] = claimed.flatMap(({ attachments = [] }) => attachments.flatMap(pictureOf));
        const said =
          lines.length === 0
            ? 'Nothing waits for you.'
            : [
                ...(beside ? [BESIDE] : []),
                ...lines,
                ...(unreadCount <= 0
                  ? []
                  : [beside ? `${unreadCount} more wait, and are not shown here.` : `${moreWait(unreadCount)}.`]),
              ].join('\n\n');
        const hasFiles = claimed.some(({ attachments = [] }) => attachments.length > 0);
        const isOfOthers = hasFiles || shownMessages.some(({ from }) => from !== 'human');
        return { ...toolDone(said), ...(picture ? { picture } : {}), ...(isOfOthers ? { isOfOthers } : {}) };
      },
    }),
    defineTool({
      name: 'list_team',
      description: 'Lists who is on the team, their seats, and who is awake.',
      input: z.object({}),
      readOnly: true,
      async run(_input, caller) {
        const members = (await directory.all()).filter((member) => !member.retired);
        const line = ({ agentId, name, position }: (typeof members)[number]) =>
          `- ${name}${agentId === caller.agentId ? ' (you)' : ''}${agentId === LEAD_ID ? ', the lead' : position === null ? '' : `, seat ${seatNumber(position)}`}: ${host.stateOf(agentId) === 'absent' ? 'not in this session' : host.stateOf(agentId)}; id ${agentId}`;
        return toolDone(members.map(line).join('\n'));
      },
    }),
    defineTool({
      name: 'wake_limits',
      description:
        'Says how often an agent can still be woken today, and when the next wake would pass. Left out: yourself.',
      input: z.object({ agent: to.optional() }),
      readOnly: true,
      async run(input, caller) {
        const found = input.agent === undefined ? null : await directory.find(input.agent);
        if (found && !found.ok) return toolError(found.reason);
        return toolDone(JSON.stringify(await gate.stats(found ? found.agent.agentId : caller.agentId)));
      },
    }),
    defineTool({
      name: 'go_to_sleep',
      allowed: isNotLead,
      description:
        'Puts you to sleep after this call. Nothing is asked of you, and nothing is lost, until somebody wakes you.',
      input: z.object({}),
      run: async (_input, caller) =>
        (await setPaused(caller.agentId, caller)) ?? toolDone('You are asleep from now on. Messages to you wait.'),
    }),
    defineTool({
      name: 'put_to_sleep',
      description:
        'Puts another agent to sleep to save its tokens. Its current call finishes. What is sent to it waits.',
      input: z.object({ agent: to }),
      allowed: mayPutOthersToSleep,
      async run(input, caller) {
        const member = await directory.find(input.agent);
        if (!member.ok) return toolError(member.reason);
        return (
          (await setPaused(member.agent.agentId, caller)) ??
          toolDone(`${withSeatWhereAlike(await directory.all(), member.agent.agentId)} is asleep.`)
        );
      },
    }),
  ];
}
