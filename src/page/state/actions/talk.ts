/**
 * Writes to the lead or to an agent. The person's text is never lost: it is sent, stored, or put
 * back into the field.
 */
import type { Attachment } from '../../../shared/domain/attachment.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { LEAD_ID } from '../../../shared/domain/seat.ts';
import { t } from '../../language/t.ts';
import type { MessageDoc, QueuedMessageDoc } from '../../../shared/protocol/documents.ts';
import { textOf } from '../../../shared/domain/text-of.ts';
import { createAttachments, type PreparedFile } from '../attachments.ts';
import type { SendingMessage } from '../conversations.ts';
import type { Withdrawn } from './withdraw.ts';
import type { RelayProblem } from '../../../shared/relay-client/index.ts';
import { isPassing, isRefusedAs, problemText } from '../ports.ts';
import { attempt, type Parts } from './parts.ts';

/** Attachments of a message: new files, and those of the message that it replaces. */
export interface Along {
  readonly files?: readonly PreparedFile[];
  readonly attachments?: readonly Attachment[] | undefined;
  /** Left out: a new one. */
  readonly clientId?: string;
}

export type { Withdrawn };

export interface TalkActions {
  /** `replaces`: the person's last message there, which this one replaces. */
  send(agentId: AgentId, text: string, replaces?: string, along?: Along): Promise<void>;
  /**
   * Sends what an earlier page had not sent. `files`: its attachments that are not in the ledger
   * yet.
   */
  takeUp(item: SendingMessage, files: readonly PreparedFile[]): Promise<void>;
  /** Sends a failed message again. */
  sendAgain(clientId: string): Promise<void>;
  /** Removes a message that was not sent, and returns it. */
  withdrawUnsent(clientId: string): Withdrawn;
  /**
   * Withdraws an unread message. null: it was read already, or the withdrawal failed; a notice says
   * which.
   */
  withdraw(message: MessageDoc | QueuedMessageDoc): Promise<Withdrawn | null>;
  /** Requests a new answer to the person's last message. */
  retry(message: MessageDoc): Promise<void>;
  /** Asks the agent to continue an interrupted answer, as a message of the person would. */
  goOn(agentId: AgentId): Promise<void>;
  stop(agentId: AgentId): Promise<void>;
}

const GO_ON = t`Continue.`;
/** ms until the next attempt, if the relay is reachable but has not answered. */
const AGAIN_MS = 5_000;

/** May this message wait on this device until a relay accepts it? */
function canWait(problem: RelayProblem): boolean {
  return isPassing(problem) || isRefusedAs(problem, 'no-session');
}

export function createTalkActions(parts: Parts): TalkActions {
  const { dataWorker, relay, device, writer, household, live, conversations, notices } = parts;
  const attachments = createAttachments({ dataWorker, writer, household });
  /** Files that are not in the ledger yet, by client id. */
  const unkept = new Map<string, readonly PreparedFile[]>();
  /** New files of messages being sent, by client id. They go back into the field with the text. */
  const underWay = new Map<string, readonly PreparedFile[]>();

  const find = (clientId: string) => conversations.store.getState().sending.find((item) => item.clientId === clientId);

  async function keep(item: SendingMessage): Promise<void> {
    const doc = writer.queuedMessage(item);
    const kept = await attempt(dataWorker.call('append', [doc]));
    if (!kept.ok)
      return conversations.sending({ ...item, error: t`It could not be kept on this device: ${kept.reason}` });
    household.take([doc]);
    conversations.sent(item.clientId);
  }

  /**
   * The message once its files are in the ledger; null where they could not be stored. The message
   * then shows the error and can be sent again.
   */
  async function withFilesKept(item: SendingMessage): Promise<SendingMessage | null> {
    const files = unkept.get(item.clientId);
    if (!files) return item;
    const kept = await attachments.keep(item.agentId, files);
    if (!kept.ok) {
      conversations.sending({ ...item, error: t`What is attached could not be kept on this device: ${kept.reason}` });
      return null;
    }
    unkept.delete(item.clientId);
    void device.shelf.remove(files.map(({ attachmentId }) => attachmentId));
    const with_ = { ...item, attachments: [...(item.attachments ?? []).slice(0, -files.length), ...kept.attachments] };
    conversations.sending(with_);
    return with_;
  }

  /** The message goes out when the relay is back, or shortly if the connection is up. */
  function waitWith(item: SendingMessage): void {
    conversations.sending({ ...item, waits: true });
    device.after(AGAIN_MS, () => live.store.getState().link.kind === 'live' && goOut(item.clientId));
  }
  function goOut(clientId: string): void {
    const item = find(clientId);
    if (item?.waits === true) void deliver(item);
  }

  async function deliver(asked: SendingMessage): Promise<void> {
    const begun = { ...asked, error: null, waits: false };
    conversations.sending(begun);
    const item = await withFilesKept(begun);
    if (!item) return;
    const { clientId, agentId, text, replaces } = item;
    const { live: session, link } = live.store.getState();
    if (!session) {
      if (replaces === null) return keep(item);
      if (link.kind !== 'live') return waitWith(item);
      return conversations.sending({ ...item, error: t`Nobody is awake to answer anew. Press WAKE first.` });
    }
    const along = item.attachments?.length ? await attachments.toSend(item.attachments) : null;
    if (along && !along.ok)
      return conversations.sending({ ...item, error: t`What is attached could not be read: ${along.reason}` });
    const posted = await relay.postMessage({
      body: {
        text,
        clientId,
        ...(along ? { attachments: [...along.attachments] } : {}),
        ...(agentId === LEAD_ID ? {} : { to: agentId }),
        ...(replaces === null ? {} : { replaces }),
      },
    });
    if (posted.ok) return;
    // The client id stays the same, so a message that did arrive is not there twice.
    if (replaces === null && canWait(posted.problem)) return keep(item);
    if (isPassing(posted.problem)) return waitWith(item);
    conversations.sending({ ...item, error: problemText(posted.problem) });
  }

  const send: TalkActions['send'] = (agentId, text, replaces, along = {}) => {
    const { files = [], attachments: held = [], clientId = device.newId() } = along;
    // Forgets files of messages that were sent.
    for (const sent of underWay.keys()) if (!find(sent)) underWay.delete(sent);
    if (files.length > 0) {
      unkept.set(clientId, files);
      underWay.set(clientId, files);
    }
    return deliver({
      clientId,
      agentId,
      text,
      time: device.now(),
      replaces: replaces ?? null,
      attachments: [...held, ...files],
      error: null,
    });
  };

  live.store.subscribe(({ link }, before) => {
    if (link.kind !== 'live' || before.link.kind === 'live') return;
    for (const { clientId } of conversations.store.getState().sending) goOut(clientId);
  });

  return {
    send,
    async takeUp(item, files) {
      if (find(item.clientId)) return;
      if (files.length > 0) {
        unkept.set(item.clientId, files);
        underWay.set(item.clientId, files);
      }
      if (item.error === null) await deliver(item);
      else conversations.sending(item);
    },
    async sendAgain(clientId) {
      const item = find(clientId);
      if (item) await deliver(item);
    },
    withdrawUnsent(clientId) {
      const text = find(clientId)?.text ?? '';
      const files = underWay.get(clientId) ?? [];
      conversations.sent(clientId);
      for (const held of [unkept, underWay]) held.delete(clientId);
      return { text, files };
    },
    withdraw: async (message) => (await import('./withdraw.ts')).withdraw({ ...parts, attachments }, message),
    goOn: (agentId) => send(agentId, GO_ON),
    retry: (message) =>
      send(message.agentId, textOf(message.blocks), message.messageId, { attachments: message.attachments }),
    async stop(agentId) {
      const stopped = await relay.stop({ agentId });
      if (!stopped.ok) notices.refused(stopped.problem);
    },
  };
}
