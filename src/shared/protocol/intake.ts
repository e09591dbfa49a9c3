/**
 * Derives the ledger's documents from the relay's events. Pure and deterministic: ids and stamps
 * come from the event. Two devices that receive the same event write the same document, and writing
 * it twice is harmless.
 */
import { isAgentId } from '../domain/agent-id.ts';
import type { RunId } from '../domain/ids.ts';
import { formatStamp, LAST_TIME, RELAY_NODE, type Stamp } from '../domain/stamp.ts';
import type { Doc } from './documents.ts';
import { SCHEMA_VERSION } from './documents/kinds.ts';
import type { StoredEvent } from './events.ts';
import type { RelayRecord } from './records.ts';

/** The stamp of an event. For a log without stamps, it is made from the event's time and id. */
export const stampOf = (id: number, { at, time }: { readonly at?: Stamp | undefined; readonly time: number }): Stamp =>
  at ?? formatStamp({ time: Math.min(time, LAST_TIME), counter: id % 1_000_000, node: RELAY_NODE });

/**
 * A version of a record as a document. A thread's message has one document; every other record has
 * one per change.
 */
function documentOf({ type, id, value }: RelayRecord, at: Stamp): Doc {
  const agentId =
    type === 'limits'
      ? value.agentId
      : type === 'schedule'
        ? value.schedule.agentId
        : type === 'routine-mapping' || type === 'attempt' || type === 'memory' || type === 'exam'
          ? value.agentId
          : type === 'thread-message' && isAgentId(value.from)
            ? value.from
            : null;
  return {
    _id: type === 'thread-message' ? `${type}:${id}` : `${type}:${id}:${at}`,
    type,
    schema: SCHEMA_VERSION,
    at,
    recordId: id,
    ...(agentId === null ? {} : { agentId }),
    value: { ...value },
  };
}
const runOf = ({ runId }: { readonly runId?: RunId | undefined }) => (runId === undefined ? {} : { runId });

/** The documents of an event. Most events of a stream in progress have none. */
export function documentsOf({ id, event }: StoredEvent): Doc[] {
  const base = (given: { readonly at?: Stamp | undefined; readonly time: number }) => ({
    schema: SCHEMA_VERSION,
    at: stampOf(id, given),
  });
  switch (event.kind) {
    case 'session-started':
      return [
        {
          _id: `session:${event.sessionId}:start`,
          type: 'session',
          ...base(event),
          sessionId: event.sessionId,
          phase: { kind: 'start', startedAt: event.time, mind: event.mind.kind, model: event.mind.leadModel },
        },
      ];
    case 'session-ended':
      return [
        {
          _id: `session:${event.sessionId}:end`,
          type: 'session',
          ...base(event),
          sessionId: event.sessionId,
          phase: { kind: 'end', endedAt: event.time, reason: event.reason },
        },
      ];
    case 'agent-born':
      return [
        {
          _id: `agent-identity:${event.agentId}`,
          type: 'agent-identity',
          ...base(event),
          agentId: event.agentId,
          name: event.name,
          color: event.color,
          colorName: event.colorName,
          position: event.position,
          individuationArtifact: event.soul,
          bornAt: event.bornAt,
          bornSessionId: event.sessionId,
        },
      ];
    case 'agent-changed':
      return [
        {
          _id: `agent-change:${event.sessionId}:${id}`,
          type: 'agent-change',
          ...base(event),
          agentId: event.agentId,
          change: event.change,
        },
      ];
    case 'message':
      return [
        {
          _id: `message:${event.messageId}`,
          type: 'message',
          ...base(event),
          messageId: event.messageId,
          sessionId: event.sessionId,
          ...runOf(event),
          agentId: event.agentId,
          author: event.author,
          role: event.role,
          blocks: event.blocks,
          ...(event.attachments ? { attachments: event.attachments } : {}),
          status: event.status,
          error: event.error,
          usage: event.usage,
          time: event.time,
          clientId: event.clientId,
          replaces: event.replaces,
          ...(event.compaction === undefined ? {} : { compaction: event.compaction }),
          ...(event.waiting ? { waiting: true } : {}),
          ...(event.unasked ? { unasked: true } : {}),
          ...(event.completedAt === undefined ? {} : { completedAt: event.completedAt }),
        },
      ];
    case 'message-read':
      return [
        {
          _id: `message-read:${event.messageId}`,
          type: 'message-read',
          ...base(event),
          messageId: event.messageId,
          agentId: event.agentId,
          sessionId: event.sessionId,
          ...runOf(event),
          time: event.time,
        },
      ];
    case 'record': {
      const { record } = event;
      const { at } = base(event);
      return [documentOf(record, at)];
    }
    // For runs in a session, the session's documents are enough.
    case 'run-started':
      if (event.sessionId !== null) return [];
      return [
        {
          _id: `run:${event.runId}:start`,
          type: 'run',
          ...base(event),
          runId: event.runId,
          agentId: event.agentId,
          phase: { kind: 'start', startedAt: event.time, cause: event.cause },
        },
      ];
    case 'run-ended': {
      if (event.sessionId !== null) return [];
      const { outcome, reason, usage, costMicroUsd, estimated } = event;
      return [
        {
          _id: `run:${event.runId}:end`,
          type: 'run',
          ...base(event),
          runId: event.runId,
          agentId: event.agentId,
          phase: { kind: 'end', endedAt: event.time, outcome, reason, usage, costMicroUsd, estimated },
        },
      ];
    }
    case 'mind-changed':
    case 'call-started':
    case 'call-ended':
    case 'agent-awake':
    case 'client-joined':
    case 'client-left':
    case 'agent-asleep':
    case 'birth-ended':
    case 'answer-started':
    case 'text':
    case 'tool':
    case 'pause-flag':
    case 'changed':
      return [];
    default:
      return event satisfies never;
  }
}

/**
 * How far a browser may acknowledge: up to the last stored event. It stops just before the first
 * event of an unfinished answer. A reload then receives that answer from its first word.
 */
export function createAckMark(): {
  take(stored: StoredEvent): void;
  /** This event could not be read. It and all later ones have to be sent again. */
  hold(id: number): void;
  upTo(): number;
} {
  const open = new Map<string, number>();
  let last = 0;
  let lowest = Infinity;
  return {
    take({ id, event }) {
      last = Math.max(last, id);
      if (event.kind === 'answer-started') open.set(event.messageId, id);
      else if (event.kind === 'message') open.delete(event.messageId);
    },
    hold(id) {
      lowest = Math.min(lowest, id);
    },
    upTo: () => Math.min(last, lowest - 1, ...[...open.values()].map((id) => id - 1)),
  };
}
