import { describe, expect, it } from 'vitest';
import { SWITCHED_OFF, TOO_LONG, TOO_MANY, WAITS, WAITS_IN_A_RUN } from '../../../server/tools/calls/tell-agent.ts';
import { findMember } from '../../../server/team/directory/index.ts';
import { inGerman } from '../../../server/agents/minds/rehearsal/answers-german.ts';
import { refuseMessage } from '../../../server/platform/quotas.ts';
import { delivered, outcomeText } from '../../../server/agents/reach/tools.ts';
import { nameTaken, noRoom } from '../../../server/schedules/refusals.ts';
import { DEFAULT_LIMITS, type WakeLimits } from '../../../src/shared/domain/guardrails.ts';
import { checkName } from '../../../src/shared/domain/names.ts';
import { decideWake, type WakeFacts, type WakeQuestion } from '../../../src/shared/domain/wake-gate.ts';

const NOW = Date.UTC(2026, 10, 23, 7, 5);
const DAY = { start: Date.UTC(2026, 10, 23), end: Date.UTC(2026, 10, 24) };
const ENGLISH =
  /(?<![\p{L}’'])(?:the|you|your|and|is|are|my|with|of|to|not|have|it|its|undefined|null|seat)(?![\p{L}’'])/iu;

/** What the gate says, as whoever asked is told it. */
function stopped(
  limits: Partial<WakeLimits>,
  facts: Partial<WakeFacts> = {},
  question: Partial<WakeQuestion> = {},
): string {
  const verdict = decideWake(
    { way: 'wake_agent', byPerson: false, state: 'idle', ...question },
    { ...DEFAULT_LIMITS, timeZone: 'UTC', ...limits },
    {
      ...{ day: DAY, callsInSession: 0, lastWake: null, wakesToday: 0, pairToday: 0 },
      ...{ endedMs: 0, running: [], latest: [], ...facts },
    },
    NOW,
  );
  expect(verdict.outcome).not.toBe('granted');
  return outcomeText('Wren', verdict, 2);
}

const MINUTE = 60_000;
const GATE: readonly (readonly [said: RegExp, text: () => string])[] = [
  [/nicht\. Ich darf niemanden wecken\. Die Nachricht wartet/, () => stopped({ maxWakesPerSession: 0 })],
  [/schon 3 Mal geweckt; mehr darf ich nicht\./, () => stopped({}, { callsInSession: 3 })],
  [/Das Wecken ist dort ausgeschaltet\./, () => stopped({ enabled: false })],
  [/alle Weckrufe angehalten\./, () => stopped({ householdEnabled: false })],
  [/keine 300 Sekunden her.* in 4 Minuten, um 07:09 Uhr\./, () => stopped({}, { lastWake: NOW - MINUTE })],
  [/keine 300 Sekunden her.* in 1 Sekunde, um 07:05 Uhr\./, () => stopped({}, { lastWake: NOW - 299_500 })],
  [/auf 0 Weckrufe am Tag gestellt/, () => stopped({ maxWakesPerDay: 0 })],
  [
    /schon 12 Weckrufe; mehr geht am Tag nicht\. Das nächste Mal geht es in 17 Stunden, um 00:00 Uhr\./,
    () => stopped({}, { wakesToday: 12 }),
  ],
  [/schon einen Weckruf; mehr geht/, () => stopped({ maxWakesPerDay: 1 }, { wakesToday: 1 })],
  [/auf 0 Weckrufe am Tag gestellt/, () => stopped({ maxWakesPerPairPerDay: 0 })],
  [/heute schon 5 Mal geweckt; mehr darf einer nicht\. Das nächste Mal/, () => stopped({}, { pairToday: 5 })],
  [
    /Um diese Zeit wird dort nicht geweckt \(Ruhe\)\. Das nächste Mal geht es in 55 Minuten, um 08:00 Uhr\./,
    () => stopped({ blackouts: [{ label: 'Ruhe', start_time: '07:00', end_time: '08:00', days: [] }] }),
  ],
  [/auf 0 Minuten am Tag gestellt/, () => stopped({ maxDailySessionMinutes: 0 })],
  [/liefen heute 120 Minuten; mehr/, () => stopped({}, { endedMs: 120 * MINUTE })],
  [/auf 0 Sitzungen auf einmal gestellt/, () => stopped({ maxConcurrentSessions: 0 })],
  [/Dort läuft schon eine Sitzung;/, () => stopped({ maxConcurrentSessions: 1 }, { running: [NOW] })],
  [/Dort laufen schon 2 Sitzungen;/, () => stopped({ maxConcurrentSessions: 2 }, { running: [NOW, NOW] })],
  [/Dort läuft keine Sitzung\./, () => stopped({}, {}, { state: 'absent' })],
  [/spielt diesen Platz/, () => stopped({}, {}, { state: 'played' })],
  [/gerade eine Antwort im Gang/, () => stopped({}, {}, { state: 'busy' })],
  [/weckt niemand außer dir\./, () => stopped({ floodMaxWakes: 0 })],
  [
    /gab es einen Weckruf in 60 Sekunden; mehr geht nicht\. Das/,
    () => stopped({ floodMaxWakes: 1, floodWindowSeconds: 60 }, { latest: [NOW] }),
  ],
];

const lyra = { agentId: 'a', name: 'Lyra', position: 0, retired: false } as const;
const wren = { agentId: 'b', name: 'Wren', position: 1, retired: false } as const;
const whyNot = (members: Parameters<typeof findMember>[0], reference: string) => {
  const found = findMember(members, reference);
  return found.ok ? '' : found.reason;
};
const noName = (name: string, person: string) => {
  const checked = checkName(name, 'agent', person);
  return checked.ok ? '' : checked.reason;
};
const full = { messages: 1_000_000, bytes: 0 };
const none = { messages: 0, bytes: 0 };
const OTHERS: readonly (readonly [said: RegExp, text: string])[] = [
  [/^Die Nachricht liegt im Posteingang von Wren/, delivered('Wren')],
  [/^Hier heißt niemand „Bob“\. Es gibt: Lyra, Wren\.$/, whyNot([lyra, wren], 'Bob')],
  [/^Hier heißt niemand „Bob“\.$/, whyNot([], 'Bob')],
  [/^„Lyra“ heißen hier mehrere/, whyNot([lyra, { ...wren, name: 'Lyra' }], 'Lyra')],
  [/^Lyra ist nicht mehr im Team/, whyNot([{ ...lyra, retired: true }], 'Lyra')],
  [/^Wren hat noch nicht gelesen/, refuseMessage('Wren', 1, full, none) ?? ''],
  [/^Der Posteingang von Wren ist voll/, refuseMessage('Wren', 1, none, full) ?? ''],
  [/^Geplant werden können höchstens 3 /, noRoom({ perAgent: 3, perHousehold: 9 }).reason],
  [/^Etwas Geplantes heißt schon so/, nameTaken({ name: 'x' }).reason],
  [/^Die Zeit ist schon vorbei\.$/, 'That time is over already. Choose one that is to come.'],
  [/^Von mir warten schon 5 Bitten/, '5 of your proposals wait for the human. Wait for an answer first.'],
  [/mindestens einen Buchstaben/, noName(' ', 'Sam')],
  [/höchstens 80 Zeichen/, noName('x'.repeat(100), 'Sam')],
  [/^„Relay“ würde für/, noName('Relay', 'Sam')],
  [/^So wie „Sam“ heißt du/, noName('Sam', 'Sam')],
  ...[WAITS, WAITS_IN_A_RUN].map((text) => [/^Das wartet auf dein Ja/, text] as const),
  [/^Von mir warten schon \d+ Fragen/, TOO_MANY],
  [/dein Ja und ist zu lang/, TOO_LONG],
  [/für mich ausgeschaltet/, SWITCHED_OFF],
  [
    /^Das ist zu lang\.$/,
    'message_agent could not be read. message: a message to another agent has at most 4000 characters.',
  ],
  [
    /^Von Wren \(Platz 2\), dringend:\n> The tide is up\.\n\nVon dir:\n> From me\.\n\n3 weitere Nachrichten warten\.$/,
    'From Wren (seat 2) at 2026-11-23T07:05:00.000Z, urgent:\n> The tide is up.\n\nFrom the human at 2026-11-23T07:05:00.000Z:\n> From me.\n\n3 more messages wait for you; read_inbox gives the next.',
  ],
];

describe('an answer of the relay in German', () => {
  it.each(GATE)('says why a wake was stopped, and when the next can pass: %s', (said, text) => {
    const german = inGerman(text());
    expect(german).toMatch(/^Geweckt habe ich Wren damit nicht\. .*Die Nachricht wartet im Posteingang/);
    expect(german).toMatch(said);
    expect(german).not.toMatch(ENGLISH);
    expect(german).not.toContain('Das Relay sagt dazu');
  });
  it.each(OTHERS)('says what became of a call: %s', (said, text) => {
    const german = inGerman(text);
    expect(german).toMatch(said);
    expect(german?.replace(/^> .*$/gm, '')).not.toMatch(ENGLISH);
  });
  it('is none for what it does not know, and keeps the words of the relay where it does not know why', () => {
    expect(inGerman('The moon is full.')).toBeNull();
    expect(inGerman('Suppressed: The moon is full. Your message is in Wren’s inbox and')).toContain(
      'Das Relay sagt dazu: „The moon is full.“',
    );
  });
});
