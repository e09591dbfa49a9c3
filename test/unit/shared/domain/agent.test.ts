import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  displayName,
  emptySeats,
  resolveAgent,
  rosterOf,
  type AgentChange,
  type ChangeKind,
  type Identity,
} from '../../../../src/shared/domain/agent.ts';
import { SEAT_ORDER } from '../../../../src/shared/domain/seat.ts';
import { formatStamp } from '../../../../src/shared/domain/stamp.ts';
import { shuffledAndRepeated, someChanges, someIdentities } from './arbitraries.ts';

const identity = (agentId: string, more: Partial<Identity> = {}): Identity => ({
  id: `agent-identity:${agentId}`,
  agentId,
  name: agentId.toUpperCase(),
  color: '#c9b1e8',
  colorName: 'Violet Heaven',
  position: 0,
  individuationArtifact: `I am ${agentId}`,
  bornAt: 1000,
  bornSessionId: 's1',
  ...more,
});

const change = (
  agentId: string,
  time: number,
  kind: ChangeKind,
  id = `change-${agentId}-${time}-${kind.kind}`,
): AgentChange => ({
  id,
  agentId,
  at: formatStamp({ time, counter: 0, node: 'n' }),
  change: kind,
});

const seated = (roster: ReturnType<typeof rosterOf>) =>
  [...roster.seats].map(([position, agent]) => [position, agent.agentId]);
const ids = (agents: readonly { agentId: string }[]) => agents.map((agent) => agent.agentId);

describe('the roster', () => {
  it('gives the same roster for any order and repetition of the records', () => {
    const sameRecords = fc
      .tuple(someIdentities, someChanges)
      .chain(([identities, changes]) =>
        fc.tuple(fc.constant({ identities, changes }), shuffledAndRepeated(identities), shuffledAndRepeated(changes)),
      );
    fc.assert(
      fc.property(sameRecords, ([{ identities, changes }, otherIdentities, otherChanges]) => {
        const one = rosterOf(identities, changes);
        const other = rosterOf(otherIdentities, otherChanges);
        expect(other).toEqual(one);
        // Maps compare without their order, and the page walks them in order.
        expect([...other.seats.keys(), ...other.byId.keys()]).toEqual([...one.seats.keys(), ...one.byId.keys()]);
      }),
      { numRuns: 1500 },
    );
  });

  it('holds every agent exactly once: seated, waiting, retired or the lead', () => {
    fc.assert(
      fc.property(someIdentities, someChanges, (identities, changes) => {
        const roster = rosterOf(identities, changes);
        const placed = [
          ...ids([...roster.seats.values()]),
          ...ids(roster.waiting),
          ...ids(roster.retired),
          ...(roster.lead ? ['lead'] : []),
        ];
        expect(placed.sort()).toEqual([...new Set(identities.map((each) => each.agentId))].sort());
        expect([...roster.byId.keys()].sort()).toEqual(placed);
        for (const [position, agent] of roster.seats) {
          expect(agent.position).toBe(position);
          expect(agent.retired).toBe(false);
          for (const other of roster.waiting)
            if (other.position === position)
              expect(
                other.bornAt > agent.bornAt || (other.bornAt === agent.bornAt && other.agentId > agent.agentId),
              ).toBe(true);
        }
        expect(emptySeats(roster)).toEqual(SEAT_ORDER.filter((position) => !roster.seats.has(position)));
      }),
      { numRuns: 1500 },
    );
  });

  it('gives an empty roster without records', () => {
    const roster = rosterOf([], []);
    expect(roster).toEqual({
      lead: null,
      seats: new Map(),
      waiting: [],
      retired: [],
      byId: new Map(),
      alike: new Set(),
    });
    expect(emptySeats(roster)).toEqual([0, 1, 2, 3, 5, 6, 7, 8]);
  });
});

describe('two agents born into one seat', () => {
  it('seats the agent born first and lets the other wait', () => {
    const roster = rosterOf([identity('late', { bornAt: 2 }), identity('early', { bornAt: 1 })], []);
    expect(seated(roster)).toEqual([[0, 'early']]);
    expect(ids(roster.waiting)).toEqual(['late']);
    expect(roster.byId.get('late')?.soul).toBe('I am late');
  });

  it('seats the smaller id when both are born at the same moment', () => {
    const roster = rosterOf([identity('b'), identity('a')], []);
    expect(seated(roster)).toEqual([[0, 'a']]);
    expect(ids(roster.waiting)).toEqual(['b']);
  });

  it('make room for each other: the one that waits takes an empty seat, with its colour', () => {
    const roster = rosterOf([identity('a'), identity('b')], [change('b', 5, { kind: 'seat', position: 8 })]);
    expect(seated(roster)).toEqual([
      [0, 'a'],
      [8, 'b'],
    ]);
    expect(roster.seats.get(8)).toMatchObject({ color: '#F2C4B0', colorName: 'Cloud Coral' });
  });
});

describe('a change', () => {
  it('frees the old seat when an agent changes its seat', () => {
    const roster = rosterOf([identity('a')], [change('a', 5, { kind: 'seat', position: 3 })]);
    expect(seated(roster)).toEqual([[3, 'a']]);
    expect(emptySeats(roster)).toContain(0);
  });

  it('lets an agent without a seat wait in the colour of its birth', () => {
    const roster = rosterOf([identity('a')], [change('a', 5, { kind: 'seat', position: null })]);
    expect(roster.waiting).toMatchObject([{ agentId: 'a', position: null, color: '#c9b1e8' }]);
  });

  it("refuses a change to the lead's seat and lets the agent wait", () => {
    expect(ids(rosterOf([identity('a')], [change('a', 5, { kind: 'seat', position: 4 })]).waiting)).toEqual(['a']);
  });

  it('shows the newest name and soul, and keeps the face of birth', () => {
    const agent = resolveAgent(identity('a'), [
      change('a', 9, { kind: 'rename', name: 'Newest' }),
      change('a', 5, { kind: 'rename', name: 'Older' }),
      change('a', 7, { kind: 'soul', individuationArtifact: 'I am more' }),
    ]);
    expect(agent).toMatchObject({ name: 'Newest', birthName: 'A', soul: 'I am more' });
  });

  it('prefers the greater id when two changes have the same time', () => {
    const changes = [
      change('a', 5, { kind: 'rename', name: 'Two' }, 'id-2'),
      change('a', 5, { kind: 'rename', name: 'One' }, 'id-1'),
    ];
    expect(resolveAgent(identity('a'), changes).name).toBe('Two');
    expect(resolveAgent(identity('a'), changes.toReversed()).name).toBe('Two');
  });

  it('about nobody the ledger knows is kept for later and shows nothing', () => {
    expect(rosterOf([], [change('ghost', 5, { kind: 'retire' })]).byId.size).toBe(0);
  });
});

describe('retiring', () => {
  it('frees the seat and keeps the agent', () => {
    const roster = rosterOf([identity('a'), identity('b', { bornAt: 2000 })], [change('a', 5, { kind: 'retire' })]);
    expect(seated(roster)).toEqual([[0, 'b']]);
    expect(ids(roster.retired)).toEqual(['a']);
    expect(roster.byId.get('a')).toMatchObject({ retired: true, soul: 'I am a' });
  });

  it('follows the later one of retiring and returning', () => {
    const [retire, back, again] = [
      change('a', 5, { kind: 'retire' }),
      change('a', 6, { kind: 'return' }),
      change('a', 7, { kind: 'retire' }),
    ];
    expect(seated(rosterOf([identity('a')], [back, retire]))).toEqual([[0, 'a']]);
    expect(ids(rosterOf([identity('a')], [again, back, retire]).retired)).toEqual(['a']);
  });
});

describe('the lead', () => {
  it('sits in the centre and in no agent seat, whatever its record says', () => {
    const roster = rosterOf(
      [identity('lead', { position: 0, individuationArtifact: '' })],
      [change('lead', 5, { kind: 'seat', position: 1 })],
    );
    expect(roster.lead).toMatchObject({ agentId: 'lead', position: 4, soul: '' });
    expect(roster.byId.get('lead')).toBe(roster.lead);
    expect(roster.seats.size).toBe(0);
  });

  it('named on two devices is one: the earlier name holds', () => {
    const first = identity('lead', { id: 'z', name: 'Julian', bornAt: 1 });
    const second = identity('lead', { id: 'a', name: 'Juliane', bornAt: 2 });
    expect(rosterOf([second, first], []).lead?.name).toBe('Julian');
    expect(rosterOf([first, { ...second, bornAt: 1 }], []).lead?.name).toBe('Juliane');
  });
});

describe('a display name', () => {
  it('shows the name alone when nobody shares it', () => {
    const roster = rosterOf([identity('a'), identity('b', { position: 1 })], []);
    expect([...roster.seats.values()].map((agent) => displayName(agent, roster))).toEqual(['A', 'B']);
  });

  it('carries the colour of the seat where two share one', () => {
    const roster = rosterOf([identity('a', { name: 'Lyra' }), identity('b', { name: 'Lyra', position: 1 })], []);
    expect([...roster.seats.values()].map((agent) => displayName(agent, roster))).toEqual([
      'Lyra (Violet Heaven)',
      'Lyra (Ayahuasca Vine)',
    ]);
  });
});
