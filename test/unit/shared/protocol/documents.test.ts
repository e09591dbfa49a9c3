import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ZodError } from 'zod';
import { parseDocument } from '../../../../src/shared/protocol/documents.ts';
import { isKnown, type KnownType, SCHEMA_VERSION } from '../../../../src/shared/protocol/documents/kinds.ts';

const base = { _id: 'one', schema: SCHEMA_VERSION, at: '000000000001000-000001-node' };
const message = {
  ...base,
  type: 'message',
  messageId: 'm1',
  sessionId: 's1',
  agentId: 'a',
  author: 'human',
  role: 'user',
  blocks: [{ kind: 'text', text: 'Hello' }],
  status: 'complete',
  error: null,
  usage: null,
  time: 1000,
  clientId: 'c1',
  replaces: null,
};
const examples: Record<KnownType, Record<string, unknown>> = {
  'agent-identity': {
    ...base,
    type: 'agent-identity',
    agentId: 'a',
    name: 'Lyra',
    color: '#c9b1e8',
    colorName: 'Violet Heaven',
    position: 0,
    individuationArtifact: 'I am',
    bornAt: 1000,
    bornSessionId: null,
  },
  'agent-change': { ...base, type: 'agent-change', agentId: 'a', change: { kind: 'seat', position: null } },
  session: { ...base, type: 'session', sessionId: 's1', phase: { kind: 'end', endedAt: 1000, reason: 'idle' } },
  message,
  'queued-message': { ...base, type: 'queued-message', clientId: 'c1', agentId: 'a', text: 'Hello', time: 1000 },
  attachment: {
    ...base,
    type: 'attachment',
    agentId: 'a',
    attachmentId: 'x',
    sha256: 'ab',
    bytes: 3,
    index: 0,
    data: 'AAAA',
  },
  'message-read': { ...base, type: 'message-read', messageId: 'm1', agentId: 'a', sessionId: 's1', time: 1000 },
  'message-withdrawn': { ...base, type: 'message-withdrawn', agentId: 'a', clientId: 'c1', time: 1000 },
  run: {
    ...base,
    type: 'run',
    runId: 'r1',
    agentId: 'a',
    phase: {
      kind: 'end',
      endedAt: 1000,
      outcome: 'done',
      reason: null,
      costMicroUsd: 12,
      estimated: false,
      usage: null,
    },
  },
  setting: { ...base, type: 'setting', key: 'leadName', value: 'Julian' },
  forget: { ...base, type: 'forget', target: { kind: 'conversation', agentId: 'a' }, askedAt: 1000, finalAt: 2000 },
  'forget-undo': { ...base, type: 'forget-undo', forgetId: 'one' },
  limits: { ...base, type: 'limits', recordId: 'household', value: { agentId: null, config: {} } },
  prices: { ...base, type: 'prices', recordId: 'prices', value: { prices: [{ model: '*' }] } },
  thread: { ...base, type: 'thread', recordId: 't1', value: { title: 'Plan' } },
  'thread-message': {
    ...base,
    type: 'thread-message',
    recordId: 'm1',
    value: { threadId: 't1', sequence: 1, time: 1000 },
  },
  project: {
    ...base,
    type: 'project',
    recordId: 'p1',
    value: { name: 'Plan our trip', instructions: '', columns: [], agents: [], createdAt: 1000, removed: false },
  },
  task: {
    ...base,
    type: 'task',
    recordId: 't1',
    value: { projectId: 'p1', title: 'Find a ferry', removed: false },
  },
  attempt: { ...base, type: 'attempt', recordId: 'a1', value: { projectId: 'p1', taskId: 't1', number: 1 } },
  'routine-mapping': {
    ...base,
    type: 'routine-mapping',
    recordId: 'm1',
    value: {
      ...{ projectId: 'p1', routineId: 's1', agentId: 'agent-1', columnIds: null, toolOverrides: null },
      ...{ separate: false, createdAt: 1000, removed: false },
    },
  },
  memory: {
    ...base,
    type: 'memory',
    recordId: 'f1',
    value: { agentId: 'a', path: 'index.md', text: 'Maya likes herons.', removed: false },
  },
  exam: {
    ...base,
    type: 'exam',
    recordId: 'exam-1',
    value: { agentId: 'agent-1', state: 'kept', changedAt: 1_000 },
  },
  'attached-server': {
    ...base,
    type: 'attached-server',
    recordId: 'r',
    value: { name: 'notes', removed: false, where: { kind: 'address', url: 'https://x.org/mcp' } },
  },
  schedule: {
    ...base,
    type: 'schedule',
    recordId: 's1',
    value: { homeRelay: 'h1', removed: false, schedule: { kind: 'routine', agentId: 'a', name: 'Morning' } },
  },
};
const kinds = Object.entries(examples);

function complaints(value: unknown): string[] {
  try {
    parseDocument(value);
    return [];
  } catch (error) {
    if (error instanceof ZodError) return error.issues.map((issue) => issue.path.join('.'));
    throw error;
  }
}

describe('a document', () => {
  it.each(kinds)('%s is read as it was written, with fields that a newer app added', (_kind, example) => {
    const newer = { ...example, mood: 'calm', nested: { of: ['a', 'newer', 'app'] } };
    expect(parseDocument(newer)).toEqual(newer);
  });

  it('keeps new fields inside its parts', () => {
    const newer = { ...message, blocks: [{ kind: 'text', text: 'Hello', language: 'en' }] };
    expect(parseDocument(newer)).toEqual(newer);
  });

  it.each(kinds)('%s of a newer schema is kept and passed on, whatever it holds', (_kind, example) => {
    const newer = { ...example, schema: SCHEMA_VERSION + 1, agentId: 42, blocks: 'none' };
    const doc = parseDocument(newer);
    expect(doc).toEqual(newer);
    expect(isKnown(doc)).toBe(false);
  });

  it('stores and forwards a document of an unknown kind, also one named like a built-in property', () => {
    const kind = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.constantFrom('toString', 'constructor', '__proto__', 'hasOwnProperty', 'valueOf'),
    );
    fc.assert(
      fc.property(
        kind.filter((type) => !Object.hasOwn(examples, type)),
        fc.dictionary(fc.stringMatching(/^x[a-z]{0,8}$/), fc.jsonValue()),
        (type, fields) => {
          const written = { ...fields, ...base, type };
          const doc = parseDocument(written);
          expect(doc).toEqual(written);
          expect(isKnown(doc)).toBe(false);
        },
      ),
    );
  });

  it.each(kinds)('%s with a field missing is refused, and the field is named', (_kind, example) => {
    for (const field of Object.keys(example)) {
      // The value of a setting may be anything, nothing too.
      if (field === 'value' && example['type'] === 'setting') continue;
      const without = Object.fromEntries(Object.entries(example).filter(([name]) => name !== field));
      expect(complaints(without), field).toContain(field);
    }
  });

  it.each([
    ['at', { ...message, at: 'yesterday' }],
    ['_id', { ...message, _id: '' }],
    ['_id', { ...message, _id: 'x'.repeat(513) }],
    ['schema', { ...message, schema: 0 }],
    ['status', { ...message, status: 'lost' }],
    ['blocks.0.text', { ...message, blocks: [{ kind: 'text' }] }],
    ['blocks.0.kind', { ...message, blocks: [{ kind: 'picture' }] }],
    ['time', { ...message, time: -1 }],
    ['time', { ...message, time: 1e15 }],
    ['position', { ...examples['agent-identity'], position: 9 }],
    ['change.position', { ...examples['agent-change'], change: { kind: 'seat', position: -1 } }],
    ['phase.reason', { ...examples.session, phase: { kind: 'end', endedAt: 1, reason: 'bored' } }],
  ])('refuses a document with a bad %s, and names the field', (field, value) => {
    expect(complaints(value)).toEqual([field]);
  });

  it.each([null, 'text', 7, [], {}, { type: 'message' }])('refuses %j as a document', (value) => {
    expect(complaints(value)).not.toEqual([]);
  });
});
