/** The documents that a page writes itself. */
import { pieceId, type Attachment } from '../../shared/domain/attachment.ts';
import { FORGET_AFTER } from '../../shared/domain/forgetting.ts';
import { type AgentGroup, groupSetting, LEAD_COLOR, LEAD_ID, LEAD_POSITION } from '../../shared/domain/seat.ts';
import { readMarkSetting, type ReadMark } from '../../shared/domain/read-marks.ts';
import type { SettingKey, Settings } from '../../shared/domain/settings.ts';
import { choiceSetting, type ChoiceKey } from '../../shared/domain/choices.ts';
import type { Clock } from '../../shared/domain/stamp.ts';
import type { ChangeKind } from '../../shared/domain/agent.ts';
import type { AgentId, DeviceId } from '../../shared/domain/ids.ts';
import type {
  AgentChangeDoc,
  AgentIdentityDoc,
  AttachmentDoc,
  ForgetDoc,
  ForgetUndoDoc,
  QueuedMessageDoc,
  SettingDoc,
} from '../../shared/protocol/documents.ts';
import { SCHEMA_VERSION } from '../../shared/protocol/documents/kinds.ts';

export interface Writer {
  leadIdentity(name: string): AgentIdentityDoc;
  setting<K extends SettingKey>(key: K, value: Settings[K]): SettingDoc;
  /** The person chose this for an agent; empty: nothing of its own any more. */
  choice(agentId: AgentId, key: ChoiceKey, value: string): SettingDoc;
  /** The person named a group, or changed it; without anybody: it is removed. */
  group(group: AgentGroup): SettingDoc;
  /** The person has read up to here. */
  readMark(mark: ReadMark): SettingDoc;
  /**
   * From now on messages are new where a conversation has no mark of its own; `newest` is the
   * greatest stamp there is.
   */
  readSince(newest: string): SettingDoc;
  change(agentId: AgentId, change: ChangeKind): AgentChangeDoc;
  queuedMessage(message: {
    clientId: string;
    agentId: AgentId;
    text: string;
    attachments?: readonly Attachment[];
  }): QueuedMessageDoc;
  /** A piece of a file that goes along with a message. */
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
  /** Which device of the household this is; null, or left out: it has none besides. */
  readonly deviceId?: () => DeviceId | null;
}

export function createWriter({ clock, newId, now, deviceId = () => null }: WriterDeps): Writer {
  const base = () => ({ schema: SCHEMA_VERSION, at: clock.next() });
  /** What the person changes is listed with where they did. */
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
      // What is here already is not new, also where the clock that stamped it is ahead.
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
    // One message is one document, however often it is kept: the id comes from the client id.
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
      return { _id: `forget:${newId()}`, type: 'forget', ...base(), target, askedAt, finalAt: askedAt + FORGET_AFTER };
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
