/**
 * Tells an agent what came of a question: by a message, which waits like any other, and a turn that
 * begins with it where it can.
 */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { Picture, SentAttachment } from '../../../src/shared/domain/attachment.ts';
import type { Alone, Inbox, NewInboxMessage, Reach, SessionHost, ToolOutcome } from '../../contracts/index.ts';
import type { Logger } from '../../agents/runs/context.ts';
import type { Db } from '../../store/index.ts';
import type { CallRows, KeptCall } from './rows.ts';
import { ANSWERED, pictureName, toldOf } from './words.ts';

/** The inbox, as far as it is told here; `also`: written with the message, or neither is. */
export interface ToldInbox extends Pick<Inbox, 'count'> {
  tell(message: NewInboxMessage & { readonly from: 'relay' }, also: (within: Db) => Promise<void>): Promise<void>;
}

export interface TellAgentDeps {
  readonly rows: Pick<CallRows, 'told'>;
  readonly inbox: ToldInbox;
  readonly host: Pick<SessionHost, 'stateOf' | 'rouse'>;
  readonly alone: Alone;
  readonly reach: Pick<Reach, 'askTo'>;
  /** Is not waited for by whoever is told; `what` is logged where it fails. */
  readonly beside: (work: Promise<unknown>, what: string) => void;
  readonly closing: AbortSignal;
  readonly now: () => number;
  readonly logger: Logger;
}

/**
 * `input`: as its agent gave it; `answer`: all that the tool gave back; null: only the beginning of
 * its words is known. `also`: written with the message, or neither is.
 */
export type TellAgent = (
  call: KeptCall,
  input: string,
  answer: Answered | null,
  also?: (within: Db) => Promise<void>,
) => Promise<void>;
export type Answered = Pick<ToolOutcome, 'text' | 'picture'>;

/** A picture that a tool gave back goes along with the message as one of the person's does. */
function alongOf({ callId, tool }: KeptCall, { type, data }: Picture): SentAttachment {
  const bytes = Buffer.byteLength(data, 'base64');
  return { attachmentId: `call-${callId}`, name: pictureName(tool), mediaType: type, bytes, data };
}

export function createTellAgent(deps: TellAgentDeps): TellAgent {
  const { rows, inbox, host, alone, reach, beside, closing, now, logger } = deps;
  /**
   * The person's answer wakes as their own word does: the gate refuses it nothing, and has it in
   * its account. Resolves when what it began is over.
   */
  async function wakeByPerson(agentId: AgentId, carry: () => Promise<unknown>): Promise<void> {
    const begun: Promise<unknown>[] = [];
    await reach.askTo(
      {
        target: agentId,
        source: { kind: 'person' },
        way: 'answer',
        reason: null,
        messageId: null,
        callerSession: null,
      },
      async () => {
        const work = carry();
        begun.push(work);
        await work;
      },
    );
    await Promise.all(begun);
  }
  /** By agent: its runs that begin with a result, one after another. */
  const followUps = new Map<string, Promise<void>>();

  /** One run for all that waits by then. */
  function followUp(agentId: AgentId): void {
    const next = (followUps.get(agentId) ?? Promise.resolve()).then(async () => {
      if (closing.aborted || (await inbox.count(agentId)) === 0 || !(await alone.can(agentId))) return;
      await wakeByPerson(agentId, () =>
        host.stateOf(agentId) === 'absent'
          ? alone.wake(agentId, { name: 'human', reason: null, why: `[${ANSWERED}]` })
          : host.rouse(agentId, ANSWERED),
      );
    });
    const known = next.catch((error: unknown) =>
      logger.error('a run that begins with a result could not be begun; the result waits', {
        agentId,
        error: String(error),
      }),
    );
    followUps.set(agentId, known);
    // Not waited for at the end: the run itself is.
    void known.then(() => followUps.get(agentId) === known && followUps.delete(agentId));
  }

  return async (call, input, answer, also) => {
    const { agentId, callId } = call;
    // What the relay asked by itself is worth no turn and no run: it is read with whatever comes
    // next.
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
      return beside(
        wakeByPerson(agentId, () => host.rouse(agentId, ANSWERED)),
        'a turn could not begin',
      );
    // A no is read with whatever comes next: it is worth no run of its own.
    if (call.state !== 'declined') followUp(agentId);
  };
}
