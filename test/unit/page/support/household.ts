/** Documents of a household to test with. */
import { LEAD_COLOR, seatColor, type SeatPosition } from '../../../../src/shared/domain/seat.ts';
import { formatStamp } from '../../../../src/shared/domain/stamp.ts';
import type {
  AgentIdentityDoc,
  Doc,
  MessageDoc,
  SessionDoc,
  SettingDoc,
} from '../../../../src/shared/protocol/documents.ts';
import type { MindInfo, Snapshot } from '../../../../src/shared/protocol/events.ts';

export const NOW = new Date('2026-11-21T08:55:00').getTime();
export const MIND: MindInfo = { kind: 'rehearsal', leadModel: 'rehearsal', agentModel: 'rehearsal' };

let counter = 0;
export const at = (time: number): string => formatStamp({ time, counter: counter++ % 1_000_000, node: 'test' });
const base = (time: number) => ({ schema: 1, at: at(time) });

export function leadDoc(name = 'Julian'): AgentIdentityDoc {
  return {
    _id: 'agent-identity:lead',
    type: 'agent-identity',
    ...base(1),
    agentId: 'lead',
    name,
    ...LEAD_COLOR,
    position: 4,
    individuationArtifact: '',
    bornAt: 1,
    bornSessionId: null,
  };
}

export function agentDoc(
  agentId: string,
  name: string,
  position: SeatPosition,
  soul = `I am ${name}.`,
  bornAt = NOW - 86_400_000,
): AgentIdentityDoc {
  return {
    _id: `agent-identity:${agentId}`,
    type: 'agent-identity',
    ...base(bornAt),
    agentId,
    name,
    ...seatColor(position),
    position,
    individuationArtifact: soul,
    bornAt,
    bornSessionId: 'session-0',
  };
}

export const settingDoc = (key: string, value: unknown): SettingDoc => ({
  _id: `setting:${key}:${counter}`,
  type: 'setting',
  ...base(2),
  key,
  value,
});

type Said = Partial<
  Pick<
    MessageDoc,
    'messageId' | 'sessionId' | 'blocks' | 'status' | 'error' | 'clientId' | 'replaces' | 'role' | 'compaction'
  >
> & { readonly waiting?: boolean };

/** What `author` said in the conversation of `agentId`. */
export function said(agentId: string, author: string, text: string, time: number, more: Said = {}): MessageDoc {
  const messageId = more.messageId ?? `m-${agentId}-${counter}`;
  return {
    _id: `message:${messageId}`,
    type: 'message',
    ...base(time),
    sessionId: 'session-1',
    agentId,
    author,
    role: author === 'human' ? 'user' : 'assistant',
    blocks: [{ kind: 'text', text }],
    status: 'complete',
    error: null,
    usage: null,
    time,
    clientId: null,
    replaces: null,
    ...more,
    messageId,
  };
}

export const sessionStart = (sessionId: string, startedAt: number): SessionDoc => ({
  _id: `session:${sessionId}:start`,
  type: 'session',
  ...base(startedAt),
  sessionId,
  phase: { kind: 'start', startedAt, mind: 'rehearsal', model: 'rehearsal' },
});

export const sessionEnd = (
  sessionId: string,
  endedAt: number,
  reason: 'ended' | 'idle' | 'shutdown' | 'crash' = 'ended',
): SessionDoc => ({
  _id: `session:${sessionId}:end`,
  type: 'session',
  ...base(endedAt),
  sessionId,
  phase: { kind: 'end', endedAt, reason },
});

export const NAMES = ['Lyra', 'Wren', 'Sable', 'Emmet', 'Iris', 'Soren', 'Vael', 'Ondine'] as const;
export const SEATS = [0, 1, 2, 3, 5, 6, 7, 8] as const satisfies readonly SeatPosition[];

/** A household with a lead and the first `count` agents. */
export function team(count: number): Doc[] {
  const agents = SEATS.slice(0, count).map((position, i) =>
    agentDoc(`agent-${i + 1}`, NAMES[i] ?? `Agent ${i}`, position),
  );
  return [leadDoc(), settingDoc('humanName', 'Marcus'), ...agents];
}

export function runningSession(change: Partial<NonNullable<Snapshot['session']>> = {}): Snapshot {
  return {
    upTo: 100,
    runs: [],
    answering: [],
    lastEnd: null,
    session: {
      sessionId: 'session-2',
      startedAt: NOW - 12 * 60_000,
      mind: MIND,
      awake: [],
      hatching: [],
      asleep: [],
      clients: [],
      paused: [],
      ...change,
    },
  };
}

export const NO_SESSION_SNAPSHOT: Snapshot = {
  upTo: 100,
  session: null,
  runs: [],
  answering: [],
  lastEnd: { sessionId: 'session-1', reason: 'ended', endedAt: NOW - 9 * 3_600_000 },
};
