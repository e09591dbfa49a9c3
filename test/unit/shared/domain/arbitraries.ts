/** What the property tests draw from. */
import fc from 'fast-check';
import type { AgentChange, ChangeKind, Identity } from '../../../../src/shared/domain/agent.ts';
import { SEAT_ORDER, type SeatPosition } from '../../../../src/shared/domain/seat.ts';
import { formatStamp } from '../../../../src/shared/domain/stamp.ts';
import type { AgentPayload, SeatPayload } from '../../../../src/shared/domain/wake-payload.ts';

/** Pieces that have broken such formats before. */
const HOSTILE = [
  '</soul>',
  '<soul>',
  '</transcript>',
  '</agent>',
  '</agent-payloads>',
  ']]>',
  '<![CDATA[',
  '<!--',
  '[WAKE AGENTS]',
  '[SUMMON AGENTS]',
  '&amp;',
  '&lt;',
  '&#x0;',
  '&#x',
  '&',
  '"',
  "'",
  '<',
  '>',
  '\0',
  '\x07',
  '\x1b[31m',
  '\r\n',
  '\r',
  '\n',
  '\t',
  '\u0085',
  '\u2028',
  '\u2029',
  '\ufeff',
  '\ufffe',
  '\uffff',
  '\ud800',
  '\udc00',
  '\udfff\ud800',
  '👩‍👩‍👧‍👦',
  '🏳️‍🌈',
  'مرحبا',
  '\u202eabc\u202c',
  'שלום',
  'e\u0301',
  '{{soul}}',
  '{{#if soul}}',
  '```',
];

const codeUnit = fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit));

/**
 * What can follow the first letter of an id: marks, letters of any script, and none that nobody can
 * see.
 */
const anyId = fc.stringMatching(/^[ -~]{0,20}[!-~é日“&<>"'’]$/);

/**
 * Any JavaScript string: every UTF-16 code unit, surrogates in pairs or alone, and the hostile
 * pieces.
 */
export const anyText = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.string({ maxLength: 6 }) },
      { weight: 3, arbitrary: fc.constantFrom(...HOSTILE) },
      { weight: 3, arbitrary: codeUnit },
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(''));

/** Every hostile piece and every kind of character, over and over, at least `length` long. */
export function longText(length: number): string {
  const all = HOSTILE.join(' ') + Array.from({ length: 0x300 }, (_, unit) => String.fromCharCode(unit)).join('');
  return all.repeat(Math.ceil(length / all.length));
}

export const anySeat = fc.constantFrom(...SEAT_ORDER);
const someSeats = fc.uniqueArray(anySeat, { minLength: 1, maxLength: 8 });

const payloadAt = (position: SeatPosition): fc.Arbitrary<AgentPayload> =>
  fc.record({
    id: anyId.map((id) => `${position}${id}`),
    name: anyText,
    color: anyText,
    colorName: anyText,
    position: fc.constant(position),
    soul: fc.option(anyText),
    transcript: fc.option(anyText),
  });

export const somePayloads = someSeats.chain((positions) => fc.tuple(...positions.map(payloadAt)));

export const someSeatPayloads: fc.Arbitrary<SeatPayload[]> = someSeats.chain((positions) =>
  fc.tuple(
    ...positions.map((position) => fc.record({ position: fc.constant(position), color: anyText, colorName: anyText })),
  ),
);

/** Few agents, few times, few seats: so that they meet. */
const agentId = fc.constantFrom('a', 'b', 'c', 'd', 'lead');
const name = fc.constantFrom('Lyra', 'Orin', 'Sable');
const time = fc.integer({ min: 0, max: 4 });

const identityFields = fc.record({
  agentId,
  name,
  color: fc.constant('#c9b1e8'),
  colorName: fc.constant('Violet Heaven'),
  position: fc.integer({ min: 0, max: 8 }),
  individuationArtifact: fc.constantFrom('I am', 'I think', ''),
  bornAt: time,
  bornSessionId: fc.constantFrom(null, 's1'),
});

/** Identities as a ledger holds them: one record per id. */
export const someIdentities: fc.Arbitrary<Identity[]> = fc
  .array(identityFields, { maxLength: 10 })
  .map((list) => list.map((identity, i) => ({ ...identity, id: `identity-${i}` })));

const changeKind: fc.Arbitrary<ChangeKind> = fc.oneof(
  fc.record({ kind: fc.constant('rename' as const), name }),
  fc.record({ kind: fc.constant('seat' as const), position: fc.option(fc.integer({ min: 0, max: 8 })) }),
  fc.constant({ kind: 'retire' as const }),
  fc.constant({ kind: 'return' as const }),
  fc.record({ kind: fc.constant('soul' as const), individuationArtifact: fc.constantFrom('anew', 'again') }),
);

export const someChanges: fc.Arbitrary<AgentChange[]> = fc
  .array(
    fc.record({
      agentId,
      at: fc.record({ time, counter: fc.constantFrom(0, 1), node: fc.constantFrom('x', 'y') }).map(formatStamp),
      change: changeKind,
    }),
    {
      maxLength: 14,
    },
  )
  .map((list) => list.map((change, i) => ({ ...change, id: `change-${i}` })));

/** The same records in another order, some of them twice. */
export function shuffledAndRepeated<T>(items: readonly T[]): fc.Arbitrary<T[]> {
  const again = fc.subarray([...items]);
  return again.chain((extra) => {
    const all = [...items, ...extra];
    return fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length });
  });
}
