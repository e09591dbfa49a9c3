/** Documents for tests: well-formed, small, and distinct by a number. */
import { formatStamp } from '../../src/shared/domain/stamp.ts';
import type {
  AgentChangeDoc,
  AgentIdentityDoc,
  MessageDoc,
  MessageReadDoc,
  QueuedMessageDoc,
  RunDoc,
  SessionDoc,
  SettingDoc,
} from '../../src/shared/protocol/documents.ts';

/** 2026-01-01 */
const START = Date.UTC(2026, 0, 1);
export const stampOf = (n: number) => formatStamp({ time: START + n * 1_000, counter: n % 1_000_000, node: 'test' });
const base = (n: number) => ({ schema: 1, at: stampOf(n) });

export function messageDoc(n: number, more: Partial<MessageDoc> = {}): MessageDoc {
  const messageId = more.messageId ?? `m${n}`;
  return {
    _id: `message:${messageId}`,
    type: 'message',
    ...base(n),
    messageId,
    sessionId: 's1',
    agentId: 'a1',
    author: n % 2 ? 'a1' : 'human',
    role: n % 2 ? 'assistant' : 'user',
    blocks: [{ kind: 'text', text: `words of ${messageId}` }],
    status: 'complete',
    error: null,
    usage: null,
    time: START + n * 1_000,
    clientId: null,
    replaces: null,
    ...more,
  };
}

export const sessionStart = (n: number, sessionId: string): SessionDoc => ({
  _id: `session:${sessionId}:start`,
  type: 'session',
  ...base(n),
  sessionId,
  phase: { kind: 'start', startedAt: START + n * 1_000, mind: 'rehearsal', model: 'm' },
});

export const sessionEnd = (n: number, sessionId: string): SessionDoc => ({
  _id: `session:${sessionId}:end`,
  type: 'session',
  ...base(n),
  sessionId,
  phase: { kind: 'end', endedAt: START + n * 1_000, reason: 'ended' },
});

export const runStart = (n: number, runId: string, agentId: string): RunDoc => ({
  _id: `run:${runId}:start`,
  type: 'run',
  ...base(n),
  runId,
  agentId,
  phase: { kind: 'start', startedAt: START + n * 1_000, cause: { kind: 'pulse', routine: 'Morning round' } },
});

export const identityDoc = (n: number, agentId: string, position: number, soul = 'I am.'): AgentIdentityDoc => ({
  _id: `agent-identity:${agentId}`,
  type: 'agent-identity',
  ...base(n),
  agentId,
  name: `Name ${agentId}`,
  color: '#c9b1e8',
  colorName: 'Violet Heaven',
  position,
  individuationArtifact: soul,
  bornAt: START,
  bornSessionId: 's1',
});

export const changeDoc = (n: number, agentId: string, change: AgentChangeDoc['change']): AgentChangeDoc => ({
  _id: `agent-change:${agentId}:${n}`,
  type: 'agent-change',
  ...base(n),
  agentId,
  change,
});

export const settingDoc = (n: number, key: string, value: unknown): SettingDoc => ({
  _id: `setting:${key}:${n}`,
  type: 'setting',
  ...base(n),
  key,
  value,
});

export const queuedDoc = (n: number, agentId: string, clientId = `c${n}`): QueuedMessageDoc => ({
  _id: `queued-message:${clientId}`,
  type: 'queued-message',
  ...base(n),
  clientId,
  agentId,
  text: `queued ${clientId}`,
  time: START + n * 1_000,
});

export const readDoc = (n: number, messageId: string): MessageReadDoc => ({
  _id: `message-read:${messageId}`,
  type: 'message-read',
  ...base(n),
  messageId,
  agentId: 'a1',
  sessionId: 's1',
  time: START + n * 1_000,
});
