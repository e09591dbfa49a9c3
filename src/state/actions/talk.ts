/** Writing to the lead or to an agent. What a person wrote is never lost: it is sent, kept, or given back. */
import type { AgentId } from '../../domain/ids.ts';
import { LEAD_ID } from '../../domain/seat.ts';
import type { MessageDoc } from '../../protocol/documents.ts';
import { textOf } from '../answers.ts';
import type { SendingMessage } from '../sending.ts';
import type { RelayProblem } from '../../relay/index.ts';
import { problemText } from '../ports.ts';
import { attempt, type Parts } from './parts.ts';

export interface TalkActions {
  /** `replaces`: the person's last message there, which this one takes the place of. */
  send(agentId: AgentId, text: string, replaces?: string): Promise<void>;
  /** Sends again what did not go. */
  sendAgain(clientId: string): Promise<void>;
  /** Takes back what did not go; answers with its text. */
  takeBack(clientId: string): string;
  /** Asks for the answer to the person's last message anew. */
  retry(message: MessageDoc): Promise<void>;
  /** Has an answer that broke off gone on with, by the words that one would write. */
  goOn(agentId: AgentId): Promise<void>;
  stop(agentId: AgentId): Promise<void>;
}

const GO_ON = 'Go on.';

/** May this message wait on this device until a relay can take it? */
function canWait(problem: RelayProblem): boolean {
  return problem.kind !== 'refused' || (problem.status === 409 && problem.problem.type.endsWith('no-session'));
}

export function createTalkActions({
  owner,
  relay,
  device,
  writer,
  household,
  live,
  conversations,
  notices,
}: Parts): TalkActions {
  async function keep(item: SendingMessage): Promise<void> {
    const doc = writer.queuedMessage(item);
    const kept = await attempt(owner.call('append', [doc]));
    if (!kept.ok)
      return conversations.sending({ ...item, error: `It could not be kept on this device: ${kept.reason}` });
    household.take([doc]);
    conversations.sent(item.clientId);
  }

  async function deliver(item: SendingMessage): Promise<void> {
    conversations.sending({ ...item, error: null });
    const { clientId, agentId, text, replaces } = item;
    if (!live.store.getState().live) {
      if (replaces === null) return keep(item);
      return conversations.sending({ ...item, error: 'Nobody is awake to answer anew. Press WAKE first.' });
    }
    const posted = await relay.postMessage({
      body: {
        text,
        clientId,
        ...(agentId === LEAD_ID ? {} : { to: agentId }),
        ...(replaces === null ? {} : { replaces }),
      },
    });
    if (posted.ok) return;
    // The same client id goes along, so that a message which did arrive after all is not there twice.
    if (replaces === null && canWait(posted.problem)) return keep(item);
    conversations.sending({ ...item, error: problemText(posted.problem) });
  }

  const send: TalkActions['send'] = (agentId, text, replaces) =>
    deliver({ clientId: device.newId(), agentId, text, time: device.now(), replaces: replaces ?? null, error: null });

  const find = (clientId: string) => conversations.store.getState().sending.find((item) => item.clientId === clientId);

  return {
    send,
    async sendAgain(clientId) {
      const item = find(clientId);
      if (item) await deliver(item);
    },
    takeBack(clientId) {
      const text = find(clientId)?.text ?? '';
      conversations.sent(clientId);
      return text;
    },
    goOn: (agentId) => send(agentId, GO_ON),
    retry: (message) => send(message.agentId, textOf(message.blocks), message.messageId),
    async stop(agentId) {
      const stopped = await relay.stop({ agentId });
      if (!stopped.ok) notices.refused(stopped.problem);
    },
  };
}
