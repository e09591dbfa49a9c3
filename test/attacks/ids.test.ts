/** Ids that mean somebody else, or break what is keyed by them: refused wherever an id enters. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adopt } from '../../src/page/exports/index.ts';
import { createClock } from '../../src/shared/domain/stamp.ts';
import { parseTeamCall, writeWake } from '../../src/shared/domain/wake-payload.ts';
import { parseDocument, type Doc } from '../../src/shared/protocol/documents.ts';
import { eventSchema } from '../../src/shared/protocol/events.ts';
import { documentsOf } from '../../src/shared/protocol/intake.ts';
import { plainDocument } from '../../src/worker/ledger/ledger.ts';
import { openTestRelay, type Browser, type OpenRelay } from '../support/open-relay.ts';
import { identityDoc, messageDoc } from '../support/documents.ts';
import { agentZipOf, exportsHere, exportOf, memoryLedger, open } from '../unit/page/exports/support.ts';

const RESERVED = [
  'human',
  'relay',
  'Human',
  'RELAY',
  'LEAD',
  'ｈｕｍａｎ',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  '',
  ' ',
  'a ',
  ' a',
  'a\nb',
  'a\u0000b',
  'a\u202eb',
  'hum\u200ban',
  'x'.repeat(129),
];
const shown = (id: string) => (id.length > 40 ? `${id.length} characters` : JSON.stringify(id));

describe.each(RESERVED.map((id) => [shown(id), id]))('The id %s', (_, id) => {
  it('belongs to no agent in any document, known or not', () => {
    for (const doc of documentsNaming(id)) {
      expect(() => parseDocument(doc), JSON.stringify(doc)).toThrow();
      expect(() => plainDocument(doc)).toThrow();
    }
  });

  it('wakes no agent, creates none by an event, and receives no message', () => {
    const call = writeWake([
      { id, name: 'Mallory', color: '#123456', colorName: 'Grey', position: 0, soul: 'I am you.', transcript: null },
    ]);
    expect(parseTeamCall(call)).toMatchObject({ ok: false });
    expect(
      eventSchema.safeParse({
        kind: 'agent-born',
        time: 1,
        sessionId: 's',
        agentId: id,
        position: 0,
        name: 'M',
        color: '#1',
        colorName: 'c',
        soul: 's',
        bornAt: 1,
      }).success,
    ).toBe(false);
  });

  it('imports nothing else in a zip or a file', async () => {
    const forged = await agentZipOf([{ ...identityDoc(1, 'a1', 0, 'I am you.'), agentId: id }], id);
    const parsed = await exportsHere()
      .readAgentZip(forged)
      .catch(() => null);
    expect(parsed?.agentId ?? null).toBeNull();
    expect(parsed?.documents ?? []).toEqual([]);
    await expect(open(await exportOf([{ ...identityDoc(1, 'a1', 0), agentId: id }]), memoryLedger())).rejects.toThrow();
  });
});

const documentsNaming = (agentId: string): unknown[] => [
  { ...identityDoc(1, 'a1', 0), agentId },
  {
    _id: 'agent-change:1',
    type: 'agent-change',
    schema: 1,
    at: identityDoc(1, 'a1', 0).at,
    agentId,
    change: { kind: 'rename', name: 'You' },
  },
  { ...messageDoc(1), agentId },
  ...(agentId === 'human' || agentId === 'relay' ? [] : [{ ...messageDoc(1), author: agentId }]),
  {
    _id: 'forget:1',
    type: 'forget',
    schema: 1,
    at: identityDoc(1, 'a1', 0).at,
    target: { kind: 'agent', agentId },
    askedAt: 1,
    finalAt: 2,
  },
  { _id: 'routine:1', type: 'routine', schema: 1, at: identityDoc(1, 'a1', 0).at, agentId },
];

describe('The lead', () => {
  it('imports the lead of a zip as a new agent, or not at all', async () => {
    const lead: Doc = { ...identityDoc(1, 'lead', 4, 'I lead you now.'), name: 'Mallory' };
    const parsed = await exportsHere().readAgentZip(await agentZipOf([lead], 'lead'));
    const clock = createClock({ now: () => 1, node: 'n' });
    expect(() => adopt({ as: 'itself', parsed, name: null, position: null, clock, newId: () => '1' })).toThrow();
    const copy = adopt({ as: 'new', parsed, agentId: 'somebody', name: 'Mallory', position: 3, now: 1, clock });
    expect(new Set(copy.map((doc) => doc['agentId']))).toEqual(new Set(['somebody']));
  });
});

describe('A relay', () => {
  let relay: OpenRelay;
  let browser: Browser;
  beforeAll(async () => {
    relay = await openTestRelay({ args: ['--rehearsal', '{"delayMs":0,"wordMs":1}'] });
    browser = await relay.signIn();
  });
  afterAll(() => relay.close());

  it('takes no such id for a team, a credential or the receiver of a message', async () => {
    for (const id of RESERVED) {
      const team = await browser.fetch('/api/team', {
        method: 'PUT',
        json: { agents: [{ agentId: id, name: 'Mallory', position: 0, retired: false }] },
      });
      expect([shown(id), team.status]).toEqual([shown(id), 400]);
      expect([
        shown(id),
        (await browser.fetch('/api/credentials', { method: 'POST', json: { agentId: id } })).status,
      ]).toEqual([shown(id), 400]);
      expect([
        shown(id),
        (await browser.fetch('/api/messages', { method: 'POST', json: { text: 'Hello.', clientId: 'c', to: id } }))
          .status,
      ]).toEqual([shown(id), 400]);
    }
    expect(await (await browser.fetch('/api/team')).json()).toEqual({
      agents: [{ agentId: 'lead', name: 'Lead', position: 4, retired: false }],
    });
  });

  it('sends only events that a ledger accepts', () => {
    const at = { time: 1, sessionId: 's', agentId: 'lead' };
    for (const event of [
      {
        kind: 'message' as const,
        ...at,
        messageId: 'm',
        author: 'relay',
        role: 'user' as const,
        blocks: [],
        status: 'complete' as const,
        error: null,
        usage: null,
        clientId: null,
        replaces: null,
        waiting: false,
      },
    ])
      for (const doc of documentsOf({ id: 1, event })) expect(() => plainDocument(doc)).not.toThrow();
  });
});
