import { describe, expect, it } from 'vitest';
import { rosterOf, type Agent, type Identity } from '../../../../src/shared/domain/agent.ts';
import {
  bigButton,
  lifecycleOf,
  type BigButton,
  type LiveSession,
  type PendingCall,
} from '../../../../src/shared/domain/lifecycle.ts';
import { SEAT_ORDER, seatColor, type SeatPosition } from '../../../../src/shared/domain/seat.ts';

const identity = (position: SeatPosition): Identity => ({
  id: `agent-identity:agent-${position}`,
  agentId: `agent-${position}`,
  name: `Agent ${position}`,
  ...seatColor(position),
  position,
  individuationArtifact: 'I am',
  bornAt: 1,
  bornSessionId: 's1',
});
const agent = rosterOf([identity(0)], []).seats.get(0);

const session = (parts: Partial<Omit<LiveSession, 'sessionId'>> = {}): LiveSession => ({
  sessionId: 's1',
  awake: new Set(),
  clients: new Map(),
  paused: new Set(),
  waking: new Set(),
  births: new Set(),
  ...parts,
});

/** Every row: is there an agent, what the session knows of it, and the state that follows. */
describe('the state of a seat', () => {
  const both = new Set(['agent-0']);
  const driven = new Map([['agent-0', { name: 'Claude Code', readsInbox: true }]]);
  const rows: [string, Agent | undefined, LiveSession | null, string][] = [
    ['no agent, no session', undefined, null, 'empty'],
    ['no agent, a session', undefined, session(), 'empty'],
    ['no agent, a birth here', undefined, session({ births: new Set([0]) }), 'hatching'],
    ['no agent, a birth elsewhere', undefined, session({ births: new Set([1]) }), 'empty'],
    ['an agent, no session', agent, null, 'sleeping'],
    ['an agent, a session that has not called it', agent, session(), 'sleeping'],
    [
      'an agent, others awake and waking',
      agent,
      session({ awake: new Set(['agent-1']), waking: new Set(['agent-2']) }),
      'sleeping',
    ],
    ['an agent that is being woken', agent, session({ waking: both }), 'hatching'],
    ['an agent that has answered', agent, session({ awake: both }), 'awake'],
    [
      'an agent that has answered while its wake is still under way',
      agent,
      session({ awake: both, waking: both }),
      'awake',
    ],
    ['an agent that only a client drives', agent, session({ clients: driven }), 'driven'],
    ['an agent that a client drives, set to sleep', agent, session({ clients: driven, paused: both }), 'sleeping'],
    [
      'an agent that a client drives, while it is being woken',
      agent,
      session({ clients: driven, waking: both }),
      'hatching',
    ],
    ['an agent that a client drives beside its mind', agent, session({ clients: driven, awake: both }), 'awake'],
    ['an agent, and a birth in its seat on another device', agent, session({ births: new Set([0]) }), 'sleeping'],
  ];
  it.each(rows)('%s: %s', (_what, who, live, state) => {
    expect(lifecycleOf(who, 0, live)).toBe(state);
  });

  it('shows every seat asleep when no session is known to run', () => {
    const roster = rosterOf(SEAT_ORDER.map(identity), []);
    for (const position of SEAT_ORDER) expect(lifecycleOf(roster.seats.get(position), position, null)).toBe('sleeping');
  });
});

type SeatState = 'empty' | 'egg' | 'stirring' | 'awake' | 'sleeping';
const STATES: readonly SeatState[] = ['empty', 'egg', 'stirring', 'awake', 'sleeping'];

/**
 * Every way to fill eight seats with these states; which seat has which does not matter to the
 * button.
 */
function everyGrid(length: number, states: readonly SeatState[]): SeatState[][] {
  const [first, ...others] = states;
  if (!first) return length === 0 ? [[]] : [];
  return Array.from({ length: length + 1 }, (_, count) =>
    everyGrid(length - count, others).map((rest) => [...Array<SeatState>(count).fill(first), ...rest]),
  ).flat();
}

function household(grid: readonly SeatState[]) {
  const placed = SEAT_ORDER.map((position, i) => ({ position, state: grid[i] ?? 'empty' }));
  const at = (...states: SeatState[]) =>
    placed.filter((seat) => states.includes(seat.state)).map((seat) => seat.position);
  const named = (positions: SeatPosition[]) => new Set(positions.map((position) => `agent-${position}`));
  return {
    roster: rosterOf(at('stirring', 'awake', 'sleeping').map(identity), []),
    live: session({ awake: named(at('awake')), waking: named(at('stirring')), births: new Set(at('egg')) }),
    sleeping: at('sleeping'),
    empty: at('empty'),
  };
}

const shown = (button: BigButton) => {
  switch (button.kind) {
    case 'none':
      return ['none'];
    case 'busy':
      return ['busy', button.label];
    case 'wake':
      return [button.label, ...button.agents.map((each) => each.position)];
    case 'summon':
      return [button.label, ...button.seats];
  }
};

/** The table of the button, read from above. */
function expected(grid: readonly SeatState[], pending: PendingCall): (string | number)[] {
  const { sleeping, empty } = household(grid);
  if (pending === 'summon' || grid.includes('egg')) return ['busy', 'SUMMONING…'];
  if (pending === 'wake' || grid.includes('stirring')) return ['busy', 'WAKING…'];
  if (sleeping.length > 0) return ['WAKE', ...sleeping];
  if (empty.length === 8) return ['SUMMON', ...empty];
  if (empty.length > 0) return [`SUMMON ${empty.length} MORE`, ...empty];
  return ['none'];
}

describe('the big button', () => {
  const grids = everyGrid(8, STATES);

  it.each([null, 'wake', 'summon'] as const)(
    'says and does what the table says, for every grid, with %s pending',
    (pending) => {
      expect(grids).toHaveLength(495);
      for (const grid of grids) {
        const { roster, live } = household(grid);
        expect(shown(bigButton(roster, live, pending)), grid.join(' ')).toEqual(expected(grid, pending));
      }
    },
  );

  it('wakes everyone there is where no session is known to run', () => {
    const grid: SeatState[] = ['awake', 'stirring', 'sleeping', 'empty', 'empty', 'awake', 'egg', 'empty'];
    expect(shown(bigButton(household(grid).roster, null, null))).toEqual(['WAKE', 0, 1, 2, 6]);
  });

  it('says SUMMON over an empty grid without a session, and is held down while a call is on its way', () => {
    const nobody = rosterOf([], []);
    expect(shown(bigButton(nobody, null, null))).toEqual(['SUMMON', 0, 1, 2, 3, 5, 6, 7, 8]);
    expect(shown(bigButton(nobody, null, 'summon'))).toEqual(['busy', 'SUMMONING…']);
    expect(shown(bigButton(nobody, null, 'wake'))).toEqual(['busy', 'WAKING…']);
  });

  it('leaves the big button usable when an agent without a seat stirs', () => {
    const roster = rosterOf(SEAT_ORDER.map(identity), []);
    const awake = new Set(SEAT_ORDER.map((position) => `agent-${position}`));
    expect(shown(bigButton(roster, session({ awake, waking: new Set(['one that waits']) }), null))).toEqual(['none']);
  });
});
