/** The documents that a page writes itself. */
import type { StoreApi } from 'zustand/vanilla';
import { newerOf, type RelayResult } from '../../shared/relay-client/result.ts';
import { createListeners, type Listeners } from '../../shared/domain/platform/events.ts';
import type { AgentId, DeviceId, ProjectId } from '../../shared/domain/ids.ts';
import type { Changed } from '../../shared/protocol/events.ts';
import { type Clock, MAX_AHEAD_MS } from '../../shared/domain/stamp.ts';
import type {
  AgentChangeDoc,
  AgentIdentityDoc,
  AttachmentDoc,
  Doc,
  ForgetDoc,
  ForgetUndoDoc,
  QueuedMessageDoc,
  SettingDoc,
} from '../../shared/protocol/documents.ts';
import { type Attachment, pieceId } from '../../shared/domain/attachment.ts';
import { forgetWait } from '../../shared/domain/forgetting.ts';
import { type AgentGroup, groupSetting, LEAD_COLOR, LEAD_ID, LEAD_POSITION } from '../../shared/domain/seat.ts';
import { type ReadMark, readMarkSetting } from '../../shared/domain/read-marks.ts';
import type { SettingKey, Settings } from '../../shared/domain/settings.ts';
import { type ChoiceKey, choiceSetting } from '../../shared/domain/choices.ts';
import type { ChangeKind } from '../../shared/domain/agent.ts';
import { SCHEMA_VERSION } from '../../shared/protocol/documents/kinds.ts';
import { t } from '../language/t.ts';
import type { Device, DataWorkerPort } from './ports.ts';
import type { Household } from './household.ts';
import { attempt, type Done } from './attempt.ts';
import type { Notices } from './notices.ts';

// Changes of records that somebody else may change at the same time. A change names the version
// that it was made from. The relay refuses an old one, and answers with the record as it is now.
// What another page has set since stands; what the person typed stays, and can be saved over that.

/** What the person reads where both changed the same. */
export const CHANGED_ELSEWHERE = t`Somebody has changed this elsewhere meanwhile. Save once more to put yours in its place.`;

/** Tries of a change while others keep changing the same record. */
const MOST_TRIES = 3;

/** `clash`: the record as it is now, over which the change is not made. */
type OverNewest<Now> = RelayResult<Now> | { readonly ok: false; readonly clash: Now };

/**
 * Makes a change over a record, and again over the newer one where it was changed meanwhile.
 * `change` null: it clashes with what is there now, and is not made.
 */
export async function overNewest<Now>(
  current: Now,
  change: (now: Now) => Promise<RelayResult<Now>> | null,
): Promise<OverNewest<Now>> {
  let now = current;
  for (let tries = 1; ; tries++) {
    const result = await change(now);
    if (result === null) return { ok: false, clash: now };
    const newer = newerOf(result);
    if (newer === undefined || tries >= MOST_TRIES) return result;
    now = newer;
  }
}

// Waits for the ledger. Until it is read, the page shows the team of the last visit, on which no
// decision or date may depend.

/** Resolves when `holds` is true for the store's state, or after `patience` ms. */
export function until<State>(
  { after }: Pick<Device, 'after'>,
  patience: number,
  store: Pick<StoreApi<State>, 'getState' | 'subscribe'>,
  holds: (state: State) => boolean,
): Promise<void> {
  if (holds(store.getState())) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      stop();
      stopTimer();
      resolve();
    };
    const stopTimer = after(patience, done);
    const stop = store.subscribe((state) => {
      if (holds(state)) done();
    });
  });
}

/** Longest wait, in ms, of a person who acts before the ledger is read. */
const READ_MS = 20_000;

/** Resolves with true once reading the ledger has succeeded or failed, or with false after 20 s. */
export async function whenRead(device: Device, { store }: Pick<Household, 'store'>): Promise<boolean> {
  await until(device, READ_MS, store, ({ status }) => status !== 'loading');
  return store.getState().status !== 'loading';
}

// State that the relay stores beside its log. The relay only announces that it changed, and views
// that show it ask again.

export interface Change {
  /** `everything`: the connection to the relay was lost, and changes may have been missed. */
  readonly what: Changed | 'everything';
  /** The agent; null: all agents. */
  readonly agentId: AgentId | null;
  /** The project; left out: any. */
  readonly projectId?: ProjectId | undefined;
}

export type Changes = Pick<Listeners<[Change]>, 'tell' | 'subscribe'>;

export const createChanges = (): Changes => createListeners<[Change]>();

// The one way to write the person's changes: settings, names, choices, agents and groups.

const DAY_MS = 24 * 60 * 60 * 1000;

interface WriteParts {
  readonly dataWorker: DataWorkerPort;
  readonly device: Device;
  readonly clock: Clock;
  readonly household: Household;
  readonly notices: Notices;
}

/** Why a change is not written. */
type Refusal = Extract<Done, { ok: false }>;

/**
 * Writes the documents of `make`, all or none. `make` runs, dates and validates them only after the
 * ledger is read. Only then does the clock know of documents dated ahead. A change with an earlier
 * stamp would be stored but never take effect.
 */
export async function writeChange(
  { dataWorker, device, clock, household, notices }: WriteParts,
  make: () => readonly Doc[] | Refusal,
): Promise<Done> {
  if (!(await whenRead(device, household)))
    return { ok: false, reason: t`Roost is still reading what this browser stores. Try again in a moment.` };
  const made = make();
  if ('ok' in made) return made;
  // The new value must win over those dated ahead, so it is dated after them.
  const lead = clock.lead();
  if (lead > MAX_AHEAD_MS)
    notices.info(
      t`Something here is dated ${Math.round(lead / DAY_MS)} days ahead of this device’s clock. Your change is dated after it, so it applies.`,
    );
  const written = await attempt(dataWorker.call('append', made));
  if (written.ok) household.take(made);
  return written;
}

export interface Writer {
  leadIdentity(name: string): AgentIdentityDoc;
  setting<K extends SettingKey>(key: K, value: Settings[K]): SettingDoc;
  /** The person's choice for an agent; empty: back to the default. */
  choice(agentId: AgentId, key: ChoiceKey, value: string): SettingDoc;
  /** The person created or changed a group; without members: removed. */
  group(group: AgentGroup): SettingDoc;
  /** The person has read up to here. */
  readMark(mark: ReadMark): SettingDoc;
  /**
   * From now on, messages are new in conversations without a read mark. `newest` is the greatest
   * known stamp.
   */
  readSince(newest: string): SettingDoc;
  change(agentId: AgentId, change: ChangeKind): AgentChangeDoc;
  queuedMessage(message: {
    clientId: string;
    agentId: AgentId;
    text: string;
    attachments?: readonly Attachment[];
  }): QueuedMessageDoc;
  /** A piece of a file attached to a message. */
  attachment(
    piece: Pick<AttachmentDoc, 'agentId' | 'attachmentId' | 'sha256' | 'bytes' | 'index' | 'data'>,
  ): AttachmentDoc;
  forget(target: ForgetDoc['target']): ForgetDoc;
  forgetUndo(forgetId: string): ForgetUndoDoc;
}

interface WriterDeps {
  readonly clock: Clock;
  readonly newId: () => string;
  readonly now: () => number;
  /** The id of this device in the household; null or left out: it has no other devices. */
  readonly deviceId?: () => DeviceId | null;
}

export function createWriter({ clock, newId, now, deviceId = () => null }: WriterDeps): Writer {
  const base = () => ({ schema: SCHEMA_VERSION, at: clock.next() });
  /** Changes of the person carry the device and are listed in the change log. */
  const changed = () => {
    const device = deviceId();
    return { ...base(), ...(device === null ? {} : { device }) };
  };
  return {
    leadIdentity: (name) => ({
      _id: `agent-identity:${newId()}`,
      type: 'agent-identity',
      ...base(),
      agentId: LEAD_ID,
      name,
      ...LEAD_COLOR,
      position: LEAD_POSITION,
      individuationArtifact: '',
      bornAt: now(),
      bornSessionId: null,
    }),
    setting: (key, value) => ({ _id: `setting:${newId()}`, type: 'setting', ...changed(), key, value }),
    choice: (agentId, key, value) => ({
      _id: `setting:${newId()}`,
      type: 'setting',
      ...changed(),
      ...choiceSetting(agentId, key, value),
    }),
    group: (group) => ({ _id: `setting:${newId()}`, type: 'setting', ...changed(), ...groupSetting(group) }),
    readMark: (mark) => ({ _id: `setting:${newId()}`, type: 'setting', ...base(), ...readMarkSetting(mark) }),
    readSince(newest) {
      // Existing documents are not new, even if the clock that stamped them is ahead.
      clock.follow(newest);
      const { schema, at } = base();
      return { _id: `setting:${newId()}`, type: 'setting', schema, at, ...readMarkSetting({ kind: 'since', at }) };
    },
    change: (agentId, change) => ({
      _id: `agent-change:${newId()}`,
      type: 'agent-change',
      ...changed(),
      agentId,
      change: { ...change },
    }),
    // One message is one document however often it is stored: its id derives from the client id.
    queuedMessage: ({ clientId, agentId, text, attachments = [] }) => ({
      _id: `queued-message:${clientId}`,
      type: 'queued-message',
      ...base(),
      clientId,
      agentId,
      text,
      ...(attachments.length > 0 ? { attachments: attachments.map((file) => ({ ...file })) } : {}),
      time: now(),
    }),
    attachment: ({ agentId, attachmentId, sha256, bytes, index, data }) => ({
      _id: pieceId({ attachmentId }, index),
      type: 'attachment',
      ...base(),
      agentId,
      attachmentId,
      sha256,
      bytes,
      index,
      data,
    }),
    forget: (target) => {
      const askedAt = now();
      const finalAt = askedAt + forgetWait(target);
      return { _id: `forget:${newId()}`, type: 'forget', ...base(), target, askedAt, finalAt };
    },
    forgetUndo: (forgetId) => ({
      _id: `forget-undo:${newId()}`,
      type: 'forget-undo',
      ...base(),
      forgetId,
      time: now(),
    }),
  };
}
