/**
 * One attempt to send a message of the outbox. A message to an agent goes to the running session.
 * Without one, it is stored in the ledger, from which the data worker sends it.
 */
import { LEAD_ID } from '../../../shared/domain/seat.ts';
import type { ThreadId } from '../../../shared/domain/ids.ts';
import type { ThreadMessage } from '../../../shared/protocol/threads.ts';
import type { RelayProblem } from '../../../shared/relay-client/index.ts';
import { t } from '../../language/t.ts';
import type { Attachments } from '../attachments.ts';
import { attempt } from '../attempt.ts';
import type { Writer } from '../documents.ts';
import type { Household } from '../household.ts';
import type { Live } from '../live.ts';
import { isPassing, isRefusedAs, problemText, type DataWorkerPort, type Device, type RelayPort } from '../ports.ts';
import type { ReachPort } from '../reach.ts';
import { isPrepared, type Deliver, type MessageToAgent, type MessageToThread, type Outcome } from './index.ts';

interface DeliveryDeps {
  readonly attachments: Attachments;
  readonly dataWorker: DataWorkerPort;
  readonly device: Pick<Device, 'shelf'>;
  readonly household: Household;
  readonly live: Live;
  readonly reach: ReachPort;
  readonly relay: RelayPort;
  readonly writer: Writer;
}

export interface Delivery {
  readonly deliver: Deliver;
  /** Calls `show` with each message that this thread accepts from the outbox. */
  follow(threadId: ThreadId, show: (message: ThreadMessage) => Promise<void>): void;
}

const refused = (reason: string): Outcome => ({ kind: 'refused', reason });
const UNANSWERED: Outcome = { kind: 'unanswered' };
const ARRIVED: Outcome = { kind: 'arrived' };

const failed = (problem: RelayProblem): Outcome => (isPassing(problem) ? UNANSWERED : refused(problemText(problem)));

export function createDelivery(deps: DeliveryDeps): Delivery {
  const { attachments, dataWorker, device, household, live, reach, relay, writer } = deps;
  const shown = new Map<ThreadId, (message: ThreadMessage) => Promise<void>>();

  /** The message once its files are in the ledger, or why they are not. */
  async function withFilesStored(item: MessageToAgent): Promise<MessageToAgent | Outcome> {
    const files = item.attachments.filter(isPrepared);
    if (files.length === 0) return item;
    const stored = await attachments.keep(item.agentId, files);
    if (!stored.ok) return refused(t`What is attached could not be kept on this device: ${stored.reason}`);
    void device.shelf.remove(files.map(({ attachmentId }) => attachmentId));
    const others = item.attachments.filter((file) => !isPrepared(file));
    return { ...item, attachments: [...others, ...stored.attachments] };
  }
  async function queue(item: MessageToAgent): Promise<Outcome> {
    const doc = writer.queuedMessage(item);
    const stored = await attempt(dataWorker.call('append', [doc]));
    if (!stored.ok) return refused(t`It could not be kept on this device: ${stored.reason}`);
    household.take([doc]);
    return ARRIVED;
  }

  async function toAgent(written: MessageToAgent, update: (item: MessageToAgent) => void): Promise<Outcome> {
    const item = await withFilesStored(written);
    if ('kind' in item) return item;
    if (item !== written) update(item);
    const { agentId, clientId, replaces, text } = item;
    const { live: session, link } = live.store.getState();
    if (!session) {
      if (replaces === null) return queue(item);
      return link.kind === 'live' ? refused(t`Nobody is awake to answer anew. Press WAKE first.`) : UNANSWERED;
    }
    const files = await attachments.toSend(item.attachments);
    if (!files.ok) return refused(t`What is attached could not be read: ${files.reason}`);
    const posted = await relay.postMessage({
      body: {
        text,
        clientId,
        ...(files.attachments.length === 0 ? {} : { attachments: [...files.attachments] }),
        ...(agentId === LEAD_ID ? {} : { to: agentId }),
        ...(replaces === null ? {} : { replaces }),
      },
    });
    if (posted.ok) return { kind: 'accepted' };
    const { problem } = posted;
    if (replaces === null && (isPassing(problem) || isRefusedAs(problem, 'no-session'))) return queue(item);
    return failed(problem);
  }
  async function toThread({ threadId, clientId, text, mentions }: MessageToThread): Promise<Outcome> {
    const sent = await reach((client) =>
      client.sendToThread({ threadId, body: { clientId, text, mentions: [...mentions] } }),
    );
    if (!sent.ok) return failed(sent.problem);
    await shown.get(threadId)?.(sent.value);
    return ARRIVED;
  }

  return {
    deliver: (item, update) => (item.to === 'agent' ? toAgent(item, update) : toThread(item)),
    follow: (threadId, show) => void shown.set(threadId, show),
  };
}
