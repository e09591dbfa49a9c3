/**
 * Tells an agent the outcome of a question. The outcome is an inbox message, and starts a turn
 * where that is possible.
 */
import { answeredText, PICTURE_BESIDE } from '../../../src/shared/domain/answered-call.ts';
import { cutMiddle } from '../../../src/shared/domain/cut-middle.ts';
import { quote } from '../../../src/shared/domain/quoting.ts';
import { sentence } from '../../../src/shared/domain/names.ts';
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { Picture, SentAttachment } from '../../../src/shared/domain/attachment.ts';
import type { Alone, Wakes } from '../../agents/wakes/contract.ts';
import type { SessionHost } from '../../agents/session/contract.ts';
import type { Inbox } from '../../team/inbox/index.ts';
import type { NewInboxMessage } from '../../team/inbox/put.ts';
import type { ToolOutcome } from '../../tools/index.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Db } from '../../store/index.ts';
import type { CallRows, StoredCall } from './rows.ts';
import { CALL_LIMITS } from './settings.ts';

// Texts for an agent about calls that wait for the person, and about their outcomes.

export const WAITS =
  'This waits for the human: it has not run yet. They see your question on their page, and you receive the answer, perhaps much later. Continue without it, and do not ask again.';
export const WAITS_IN_A_RUN =
  'This waits for the human, who is away: it has not run yet. They see your question when they return. If they say yes, it runs then, and you receive the result. Continue without it, and do not ask again.';
export const TOO_MANY = `${CALL_LIMITS.openPerAgent} questions of yours wait for the human. Wait for an answer first; this one was not asked.`;
export const TOO_LONG = `The human must approve this and read all of it, but it is longer than ${CALL_LIMITS.askedInput.toLocaleString('en')} characters. Make it shorter. The human was not asked.`;
export const TOO_MANY_FORMS = `${CALL_LIMITS.openPerAgent} questions of this agent wait for the person already.`;
export const SWITCHED_OFF = 'The human has switched this tool off for you.';

/** For the person. */
export const ASKS_FOR_FORM = sentence`This is a form of an MCP server. Fill it in and send it, or decline. A yes is not enough.`;
export const NO_FORM = sentence`This is an agent’s question. Answer yes or no: there is no form to send.`;
export const CHANGED = 'The content has changed since it was shown, so nothing was done. Review it again.';

export const ASKED_EACH_TIME = 'This tool asks you about each call. Answer yes or no for this call only.';
export const NO_HOSTS = 'Hosts cannot be allowed here.';

export const LET_LATER =
  'The human allows this once. Nothing has been done yet. Do it now, exactly as you asked. The permission expires after one day.';
export const TURN_OVER = sentence`The turn ended before the human answered.`;
export const saidNo = (words: string) => `The human said no.${words.trim() === '' ? '' : ` They say: ${words.trim()}`}`;

const UNNEEDED = sentence`This question no longer needs an answer.`;
export const WITHDRAWN = {
  session: sentence`The session ended before you answered.`,
  forgotten: sentence`The agent is no longer in the team.`,
  detached: sentence`The server was removed.`,
  off: sentence`The tool is now switched off for this agent.`,
  restarted: sentence`The relay restarted before you answered.`,
  unneeded: UNNEEDED,
  replaced: sentence`A newer question has replaced it.`,
  settled: UNNEEDED,
} as const;

/** The line that opens a turn about an outcome. */
const ANSWERED = 'The human has answered your question.';

const cut = (text: string) =>
  text.length <= CALL_LIMITS.toldOutcome
    ? text
    : `${text.slice(0, CALL_LIMITS.toldOutcome)}\n[… ${(text.length - CALL_LIMITS.toldOutcome).toLocaleString('en')} more characters were left out.]`;

/** The name of a picture in this tool's answer. */
const pictureName = (tool: string): string => `the picture that ${tool} returned`;

/**
 * `input`: as the agent wrote it. `answer`: the tool's full answer. Null: only its stored beginning
 * is known.
 */
function toldOf(
  { state, tool, words, outcome, where }: StoredCall,
  input: string,
  answer: Pick<ToolOutcome, 'text' | 'picture'> | null,
): string {
  const theirs = words === null ? '' : ` They say:\n${quote(words)}`;
  if (where === 'relay') {
    const about = `The file of one of your scripts differs from what the human accepted. They were asked about it:\n${quote(cutMiddle(input, CALL_LIMITS.toldInput))}\n\n`;
    switch (state) {
      case 'done':
        return `${about}The human said yes.\n${quote(cut(answer?.text ?? outcome ?? ''))}`;
      case 'declined':
        return `${about}The human said no. The text that they accepted before keeps running.${theirs}`;
      default:
        return `${about}The human said yes, but the relay stopped while it stored the answer. It asks them again if needed.`;
    }
  }
  const called = { tool, input: cutMiddle(input, CALL_LIMITS.toldInput) };
  switch (state) {
    case 'done':
      return `${answeredText({ ...called, end: 'done', text: cut(answer?.text ?? outcome ?? '') })}${answer?.picture ? PICTURE_BESIDE : ''}`;
    case 'declined':
      return answeredText({ ...called, end: 'declined', text: words ?? '' });
    default:
      return answeredText({ ...called, end: 'unknown', text: '' });
  }
}

/**
 * The inbox, as far as it is used here. The message and `also` are written together or not at all.
 */
export interface ToldInbox extends Pick<Inbox, 'count'> {
  tell(message: NewInboxMessage & { readonly from: 'relay' }, also: (within: Db) => Promise<void>): Promise<void>;
}

interface NotifyAgentDeps {
  readonly rows: Pick<CallRows, 'told'>;
  readonly inbox: ToldInbox;
  readonly host: Pick<SessionHost, 'stateOf' | 'rouse'>;
  readonly alone: Alone;
  readonly wakes: Pick<Wakes, 'permitFor'>;
  /** Runs work that the caller does not wait for. If it fails, `what` is logged. */
  readonly beside: (work: Promise<unknown>, what: string) => void;
  readonly closing: AbortSignal;
  readonly now: () => number;
  readonly logger: Pick<Logger, 'warn' | 'error'>;
}

/**
 * `input`: as the agent wrote it. `answer`: the tool's full answer. Null: only its stored beginning
 * is known. The message and `also` are written together or not at all.
 */
export type NotifyAgent = (
  call: StoredCall,
  input: string,
  answer: Answered | null,
  also?: (within: Db) => Promise<void>,
) => Promise<void>;
type Answered = Pick<ToolOutcome, 'text' | 'picture'>;

/** A picture in a tool's answer goes with the message, as an attachment of the person does. */
function alongOf({ callId, tool }: StoredCall, { type, data }: Picture): SentAttachment {
  const bytes = Buffer.byteLength(data, 'base64');
  return { attachmentId: `call-${callId}`, name: pictureName(tool), mediaType: type, bytes, data };
}

export function createNotifyAgent(deps: NotifyAgentDeps): NotifyAgent {
  const { rows, inbox, host, alone, wakes, beside, closing, now, logger } = deps;
  /**
   * Wakes the agent with the person's answer. The gate records this as a wake by the person, which
   * it never refuses. Resolves when the agent's turn or run is over. `alone`: an agent that is in
   * no session has a run of its own.
   */
  async function wakeByPerson(agentId: AgentId, options: { readonly alone: boolean }): Promise<void> {
    const { permit } = await wakes.permitFor({
      target: agentId,
      source: { kind: 'person' },
      way: 'answer',
      reason: null,
      messageId: null,
      callerSession: null,
    });
    if (!permit) return;
    try {
      await (options.alone && host.stateOf(agentId) === 'absent'
        ? alone.wake(agentId, { name: 'human', reason: null, why: `[${ANSWERED}]` })
        : host.rouse(agentId, ANSWERED));
    } finally {
      await permit.release();
    }
  }
  /** Runs that begin with an outcome, one after another for each agent. */
  const followUps = new Map<string, Promise<void>>();

  /** One run for all outcomes that wait by then. */
  function followUp(agentId: AgentId): void {
    const next = (followUps.get(agentId) ?? Promise.resolve()).then(async () => {
      if (closing.aborted || (await inbox.count(agentId)) === 0 || !(await alone.can(agentId))) return;
      await wakeByPerson(agentId, { alone: true });
    });
    const started = next.catch((error: unknown) =>
      logger.error('A run that begins with a result could not be started. The result waits.', {
        agentId,
        error,
      }),
    );
    followUps.set(agentId, started);
    // Not awaited at shutdown, because the run itself is.
    void started.then(() => followUps.get(agentId) === started && followUps.delete(agentId));
  }

  return async (call, input, answer, also) => {
    const { agentId, callId } = call;
    // A question of the relay itself starts no turn and no run. Its outcome is read with the next
    // message.
    const isRelays = call.where === 'relay';
    const message = {
      messageId: `call-${callId}`,
      to: agentId,
      from: 'relay' as const,
      text: toldOf(call, input, answer),
      ...(answer?.picture ? { attachments: [alongOf(call, answer.picture)] } : {}),
      time: now(),
      priority: isRelays ? ('normal' as const) : ('high' as const),
      threadId: null,
    };
    await inbox.tell(message, async (within) => {
      await also?.(within);
      await rows.told(callId, now(), within);
    });
    if (isRelays) return;
    if (host.stateOf(agentId) !== 'absent')
      return beside(wakeByPerson(agentId, { alone: false }), 'A turn could not begin.');
    // The agent reads a refusal with the next message. It is worth no run of its own.
    if (call.state !== 'declined') followUp(agentId);
  };
}
