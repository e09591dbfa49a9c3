/**
 * One attempt to send a message of the outbox. A message to an agent goes to the running session.
 * Without one, it is stored in the ledger, from which the data worker sends it. Loaded after the
 * page is painted.
 */
import type { ThreadId } from '../../../shared/domain/ids.ts';
import type { ThreadMessage } from '../../../shared/protocol/threads.ts';
import type { RelayProblem } from '../../../shared/relay-client/index.ts';
import { messageBody } from '../../../shared/relay-client/message-body.ts';
import { t } from '../../language/t.ts';
import { createAttachments, type Attachments } from '../attachments.ts';
import { attempt } from '../attempt.ts';
import type { Writer } from '../documents.ts';
import type { Household } from '../household.ts';
import type { Live } from '../live.ts';
import { isPassing, isRefusedAs, problemText, type DataWorkerPort, type Device, type RelayPort } from '../ports.ts';
import type { CallRelay } from '../call-relay.ts';
import { isPrepared, type MessageToAgent, type MessageToThread, type Outcome, type Outgoing } from './index.ts';

/** Shows a message that a thread has accepted. */
export type ShowAccepted = (message: ThreadMessage) => Promise<void>;

export interface DeliveryDeps {
  readonly dataWorker: DataWorkerPort;
  readonly device: Pick<Device, 'shelf'>;
  readonly household: Household;
  readonly live: Live;
  readonly callRelay: CallRelay;
  readonly relay: RelayPort;
  readonly writer: Writer;
  /** The threads that are open. */
  readonly threads: ReadonlyMap<ThreadId, ShowAccepted>;
}

const refused = (reason: string): Outcome => ({ kind: 'refused', reason });
const UNANSWERED: Outcome = { kind: 'unanswered' };
const ARRIVED: Outcome = { kind: 'arrived' };

const failed = (problem: RelayProblem): Outcome => (isPassing(problem) ? UNANSWERED : refused(problemText(problem)));

/** The message once its files are in the ledger, or why they are not. */
async function withFilesStored(
  { device }: DeliveryDeps,
  attachments: Attachments,
  item: MessageToAgent,
): Promise<MessageToAgent | Outcome> {
  const files = item.attachments.filter(isPrepared);
  if (files.length === 0) return item;
  const stored = await attachments.keep(item.agentId, files);
  if (!stored.ok) return refused(t`Could not save this. ${stored.reason}`);
  void device.shelf.remove(files.map(({ attachmentId }) => attachmentId));
  const others = item.attachments.filter((file) => !isPrepared(file));
  return { ...item, attachments: [...others, ...stored.attachments] };
}

async function queue({ dataWorker, household, writer }: DeliveryDeps, item: MessageToAgent): Promise<Outcome> {
  const doc = writer.queuedMessage(item);
  const stored = await attempt(dataWorker.call('append', [doc]));
  if (!stored.ok) return refused(t`Could not save this. ${stored.reason}`);
  household.take([doc]);
  return ARRIVED;
}

async function toAgent(
  deps: DeliveryDeps,
  written: MessageToAgent,
  update: (item: MessageToAgent) => void,
): Promise<Outcome> {
  const attachments = createAttachments(deps);
  const item = await withFilesStored(deps, attachments, written);
  if ('kind' in item) return item;
  if (item !== written) update(item);
  const { agentId, replaces } = item;
  const { live: session, link } = deps.live.store.getState();
  if (!session) {
    if (replaces === null) return queue(deps, item);
    return link.kind === 'live' ? refused(t`Nobody is awake to answer again. Press WAKE first.`) : UNANSWERED;
  }
  const files = await attachments.toSend(item.attachments);
  if (!files.ok) return refused(t`Could not load this. ${files.reason}`);
  const posted = await deps.relay.postMessage({ body: messageBody(agentId, item, files.attachments) });
  if (posted.ok) return { kind: 'accepted' };
  const { problem } = posted;
  if (replaces === null && (isPassing(problem) || isRefusedAs(problem, 'no-session'))) return queue(deps, item);
  return failed(problem);
}

async function toThread({ callRelay, threads }: DeliveryDeps, item: MessageToThread): Promise<Outcome> {
  const { threadId, clientId, text, mentions } = item;
  const sent = await callRelay((client) =>
    client.sendToThread({ threadId, body: { clientId, text, mentions: [...mentions] } }),
  );
  if (!sent.ok) return failed(sent.problem);
  await threads.get(threadId)?.(sent.value);
  return ARRIVED;
}

/** Makes one attempt. `update` replaces the message in the outbox, if it is still there. */
export const deliver = (deps: DeliveryDeps, item: Outgoing, update: (item: MessageToAgent) => void): Promise<Outcome> =>
  item.to === 'agent' ? toAgent(deps, item, update) : toThread(deps, item);
