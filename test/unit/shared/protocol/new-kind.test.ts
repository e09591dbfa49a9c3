import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseDocument, type Doc } from '../../../../src/shared/protocol/documents.ts';
import { addKind, isCovered, isKnown, kindsMark } from '../../../../src/shared/protocol/documents/kinds.ts';
import { createHousehold } from '../../../../src/page/state/household.ts';
import { streamOfDocument } from '../../../../src/worker/sync/data-worker/relay-connection.ts';
import { kindName } from '../../../../src/page/ui/text/kinds.ts';
import { identityDoc, stampOf } from '../../../support/documents.ts';
import { weather } from '../../../support/weather-kind.ts';
import { agentZipOf, exportsHere, exportOf, memoryLedger, open } from '../../page/exports/support.ts';

const report = (n: number, place: string, celsius: number, more: Record<string, unknown> = {}): Doc => ({
  _id: `weather:${n}`,
  type: 'weather',
  schema: 2,
  at: stampOf(n),
  place,
  celsius,
  ...more,
});
const old = { ...report(3, 'Ulm', 0), schema: 1, celsius: undefined, fahrenheit: 50 };
const HOUSE = [identityDoc(1, 'a1', 0), report(2, 'Oslo', -3), report(4, 'Oslo', -7), report(5, 'Rome', 21)];

let before: number;
describe('a kind that is one file and one line', () => {
  let forget: () => void;
  beforeAll(() => {
    before = kindsMark();
    forget = addKind(weather);
  });
  afterAll(() => forget());

  it('parses a document of the new kind, and upgrades an older version', () => {
    expect(parseDocument(report(1, 'Oslo', 4))).toEqual(report(1, 'Oslo', 4));
    expect(() => parseDocument({ ...report(1, 'Oslo', 4), celsius: 'warm' })).toThrow(/celsius/);
    const read = parseDocument(JSON.parse(JSON.stringify(old)));
    expect(read).toMatchObject({ _id: 'weather:3', schema: 2, place: 'Ulm', celsius: 10 });
    expect(read).not.toHaveProperty('fahrenheit');
    expect(isKnown(read)).toBe(true);
  });

  it('stores a document of a newer version unchanged', () => {
    const newer = { ...report(1, 'Oslo', 4), schema: 3, celsius: 'mild' };
    expect(parseDocument(newer)).toEqual(newer);
    expect(isKnown(parseDocument(newer))).toBe(false);
  });

  it('rebuilds the views of a kind that was unknown before', () => expect(kindsMark()).not.toBe(before));

  it('folds documents in the page in any order', () => {
    for (const docs of [HOUSE, HOUSE.toReversed()]) {
      const household = createHousehold(() => 0);
      household.take(docs);
      expect([...household.store.getState().records.values()].map((doc) => doc._id).sort()).toEqual([
        'weather:4',
        'weather:5',
      ]);
    }
  });

  it('travels with what the page needs first, has a name for people, and goes with what is forgotten', () => {
    expect(streamOfDocument(report(1, 'Oslo', 4))).toBe('people');
    expect(kindName('weather')).toBe('The weather');
    const asked = { at: stampOf(3), target: { kind: 'conversation', agentId: 'a1' } } as const;
    expect(isCovered(report(2, 'Oslo', 4, { agentId: 'a1' }), asked)).toBe(true);
    expect(isCovered(report(4, 'Oslo', 4, { agentId: 'a1' }), asked)).toBe(false);
  });

  it('exports a document of the new kind, and imports it when the person agrees', async () => {
    const file = await exportOf(HOUSE);
    const there = memoryLedger([identityDoc(9, 'a9', 3)]);
    const opened = await open(file, there);
    expect(opened.preview.kinds).toContainEqual({ type: 'weather', documents: 3, isKnown: true });
    const asked = opened.preview.changes.filter(({ kind }) => kind === 'records');
    expect(asked).toEqual([{ kind: 'records', tick: 'records:The weather', what: 'The weather', documents: 3 }]);
    const request = { ...there.lent, withSettings: true, leaveOut: [] };
    await exportsHere().importExport(opened, { ...request, ticks: [] });
    expect(there.documents.has('weather:4')).toBe(false);
    await exportsHere().importExport(opened, { ...request, ticks: ['records:The weather'] });
    expect([...there.documents.keys()].filter((id) => id.startsWith('weather')).sort()).toEqual([
      'weather:2',
      'weather:4',
      'weather:5',
    ]);
  });

  it('puts a document of one agent into the folder of that agent', async () => {
    const mine = report(6, 'Oslo', 1, { agentId: 'a1' });
    const { documents } = await exportsHere().readAgentZip(await agentZipOf([...HOUSE, mine], 'a1'));
    expect(documents).toContainEqual(mine);
  });
});
