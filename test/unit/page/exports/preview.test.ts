import { describe, expect, it } from 'vitest';
import type { Doc } from '../../../../src/shared/protocol/documents.ts';
import { changeDoc, identityDoc, messageDoc, sessionStart, stampOf } from '../../../support/documents.ts';
import { exportOf, memoryLedger, open } from './support.ts';

const previewOf = async (file: readonly Doc[], here: readonly Doc[] = [], forgotten: readonly string[] = []) =>
  (await open(await exportOf(file), memoryLedger(here, new Set(forgotten)))).preview;

const born = (doc: ReturnType<typeof identityDoc>, bornAt: number) => ({ ...doc, bornAt });

describe('A preview', () => {
  it('counts what is in the file, by kind, and says what this Roost does not know', async () => {
    const preview = await previewOf([
      identityDoc(1, 'a1', 0),
      messageDoc(2),
      messageDoc(3),
      sessionStart(4, 's1'),
      { _id: 'r', type: 'routine', schema: 1, at: stampOf(5), agentId: 'a1' },
    ]);
    expect(preview).toMatchObject({
      version: 1,
      sealed: false,
      documents: 5,
      fresh: 5,
      same: 0,
      different: 0,
      forgotten: 0,
      conflicts: [],
    });
    expect(preview.kinds[0]).toEqual({ type: 'message', documents: 2, isKnown: true });
    expect(preview.kinds.find(({ type }) => type === 'routine')).toEqual({
      type: 'routine',
      documents: 1,
      isKnown: false,
    });
  });

  it('shows who is in the file, as they stand after every change, the lead first and then by seat', async () => {
    const preview = await previewOf(
      [
        identityDoc(1, 'a2', 7, 'second'),
        identityDoc(2, 'a1', 0, 'first words'),
        changeDoc(9, 'a1', { kind: 'rename', name: 'Later' }),
        changeDoc(3, 'a1', { kind: 'rename', name: 'Earlier' }),
        changeDoc(4, 'a1', { kind: 'soul', individuationArtifact: 'twelve chars' }),
        identityDoc(5, 'a3', 2),
        changeDoc(6, 'a3', { kind: 'retire' }),
        identityDoc(7, 'lead', 4, ''),
        messageDoc(10),
        messageDoc(11),
        messageDoc(12, { agentId: 'a2' }),
      ],
      [identityDoc(2, 'a1', 0, 'first words'), messageDoc(10)],
    );
    expect(preview.agents.map(({ agentId }) => agentId)).toEqual(['lead', 'a1', 'a2', 'a3']);
    expect(preview.agents[1]).toMatchObject({
      name: 'Later',
      position: 0,
      soulChars: 12,
      messages: 2,
      documents: 6,
      fresh: 4,
      isHere: true,
      retired: false,
    });
    expect(preview.agents[2]).toMatchObject({ messages: 1, documents: 2, fresh: 2, isHere: false });
    expect(preview.agents[3]).toMatchObject({ retired: true });
  });

  it('tells what is new here, what is the same, what differs and what was forgotten', async () => {
    const preview = await previewOf(
      [messageDoc(1), messageDoc(2), messageDoc(3), messageDoc(4)],
      [messageDoc(2), messageDoc(3, { author: 'a9' })],
      ['message:m4'],
    );
    expect(preview).toMatchObject({ fresh: 1, same: 1, different: 1, forgotten: 1 });
    expect(preview.conflicts).toEqual([{ kind: 'different', documents: 1, ids: ['message:m3'] }]);
  });

  it('writes nothing', async () => {
    const ledger = memoryLedger();
    await open(await exportOf([messageDoc(1)]), ledger);
    expect(ledger.batches).toEqual([]);
  });
});

describe('A conflict', () => {
  it('reports a seat that another agent has here, and seats the one born first', async () => {
    const [early, late] = [born(identityDoc(1, 'a1', 3), 100), born(identityDoc(2, 'b1', 3), 200)];
    const names = { a: { agentId: 'a1', name: 'Name a1' }, b: { agentId: 'b1', name: 'Name b1' } };
    // Who would take a seat that somebody has is asked for: see ./consent.test.ts.
    expect((await previewOf([early], [late])).conflicts).toEqual([]);
    expect((await previewOf([early], [late])).changes).toEqual([
      { kind: 'takes-seat', tick: 'takes-seat:a1', agentId: 'a1', name: 'Name a1', position: 3, here: 'Name b1' },
    ]);
    expect((await previewOf([late], [early])).conflicts).toEqual([
      { kind: 'seat', position: 3, file: names.b, here: names.a, sits: 'a1' },
    ]);
  });

  it('reports no conflict for a seat that was left, or that two in the file already shared', async () => {
    const [one, two] = [identityDoc(1, 'a1', 3), identityDoc(2, 'b1', 3)];
    const away = changeDoc(3, 'b1', { kind: 'seat', position: 5 });
    expect((await previewOf([one], [two, away])).conflicts).toEqual([]);
    expect((await previewOf([two, away], [one])).conflicts).toEqual([]);
    expect((await previewOf([one, changeDoc(4, 'a1', { kind: 'retire' })], [two])).conflicts).toEqual([]);
    expect((await previewOf([one, two])).conflicts).toEqual([]);
    expect((await previewOf([one, two], [one, two])).conflicts).toEqual([]);
  });

  it('reports another lead that was named later, and keeps the present one', async () => {
    const mine = { ...born(identityDoc(1, 'lead', 4, ''), 200), _id: 'agent-identity:mine', name: 'Mine' };
    const theirs = { ...born(identityDoc(2, 'lead', 4, ''), 100), _id: 'agent-identity:theirs', name: 'Theirs' };
    expect((await previewOf([mine], [theirs])).conflicts).toEqual([
      { kind: 'lead', here: 'Theirs', file: 'Mine', after: 'Theirs' },
    ]);
    expect((await previewOf([theirs], [mine])).conflicts).toEqual([]);
    expect((await previewOf([mine], [mine])).conflicts).toEqual([]);
  });
});
