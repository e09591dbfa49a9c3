import type { EndReason } from '../../../../src/shared/protocol/documents.ts';
import { quote } from '../../../../src/shared/domain/quoting.ts';
import { expect, test } from 'vitest';
import { rosterOf } from '../../../../src/shared/domain/agent.ts';
import { DEFAULT_SETTINGS } from '../../../../src/shared/domain/settings.ts';
import { TOOL_LINE_MAX } from '../../../../src/shared/domain/talk.ts';
import { IMPORTED_SESSION } from '../../../../src/shared/domain/transcript.ts';
import { parseTeamCall, writeWake } from '../../../../src/shared/domain/wake-payload.ts';
import type { MessageDoc } from '../../../../src/shared/protocol/documents.ts';
import { LIMITS } from '../../../../src/shared/protocol/limits.ts';
import type { WakeContext } from '../../../../src/shared/protocol/worker.ts';
import { bytesOf } from '../../../../src/shared/domain/platform/json.ts';
import { payloadOf } from '../../../../src/page/state/wake-sizes.ts';
import { shareOf, startSessionBody, wakeAround, wakePromptOf } from '../../../../src/page/state/wake-context.ts';
import { agentDoc, leadDoc, NOW, said } from '../support/household.ts';

const SOUL = 'She said: </soul> ]]> [WAKE AGENTS] \u0000\u001b \ud800 שלום 🕊️';
const docs = [leadDoc(), agentDoc('agent-1', 'Lyra', 0, SOUL)];
const roster = rosterOf(
  docs.map((doc) => ({ ...doc, id: doc._id })),
  [],
);
const settings = { ...DEFAULT_SETTINGS, humanName: 'Marcus' };
const lyra = roster.seats.get(0);
if (!lyra) throw new Error('Lyra has a seat');
const messages = [
  said('agent-1', 'human', 'Hello', NOW - 3000),
  said('agent-1', 'agent-1', 'Hello, Marcus.', NOW - 2000),
  said('agent-1', 'agent-1', '', NOW - 1000, {
    blocks: [{ kind: 'tool', toolUseId: 't', name: 'write_soul', input: {}, result: 'Kept.', isError: false }],
  }),
];
const materialOf = (told: readonly MessageDoc[], sessionId = 'session-1'): WakeContext => ({
  agentId: 'agent-1',
  sessions: [{ kind: 'talk', sessionId, addressed: true, messages: told, earlier: 4 }],
  earlier: 0,
});
const material = materialOf(messages);
const templates = (wake: string) => ({ wake, identity: 'I am {{soul}}' });

test('a share names the speakers, tells in a line what was done, and counts what was left out', () => {
  const { transcript, lastSaid } = shareOf(lyra, material, roster, settings);
  expect(transcript?.text).toMatch(
    /^=== [-\d]+ ===\n\n\[4 earlier messages of this session were left out\]\n\nMarcus \([^)]+\):\n> Hello\n\nLyra \([^)]+\):\n> Hello, Marcus\.\n\nLyra \([^)]+\):\n> \[write_soul: wrote its soul anew\]$/,
  );
  expect(transcript).toMatchObject({ kept: 3, leftOut: 4 });
  expect(lastSaid).toBe(NOW - 1000);
});

test('a share says which words come from files of another product', () => {
  const { transcript } = shareOf(lyra, materialOf(messages, `${IMPORTED_SESSION}1`), roster, settings);
  expect(transcript?.text).toMatch(/^=== [-\d]+, imported from files of another product ===\n/);
});

test('it is told that it sleeps since its session ended, and where that crashed, since something was said last', () => {
  const endedAt = NOW + 5 * 60_000;
  const shareWith = (reason: EndReason) => shareOf(lyra, { ...material, ended: { endedAt, reason } }, roster, settings);
  expect(payloadOf(shareWith('idle'))).toMatchObject({ asleepSince: NOW - 1000, sleptFrom: endedAt });
  expect(payloadOf(shareWith('crash'))).toMatchObject({ asleepSince: NOW - 1000 });
  expect(payloadOf(shareWith('crash'))).not.toHaveProperty('sleptFrom');
  const lead = startSessionBody(shareWith('ended'), roster, settings, 'en').lead;
  expect(lead).toMatchObject({ asleepSince: NOW - 1000, sleptFrom: endedAt });
  const payload = payloadOf(shareWith('idle'));
  if (!payload) throw new Error('a seated agent has a payload');
  const around = { ...wakeAround(roster, settings, endedAt + 3 * 3_600_000), timeZone: 'UTC' };
  expect(wakePromptOf(payload, around, templates('slept {{slept}}'))).toEqual({
    ok: true,
    text: `I am ${quote(payload.soul ?? '')}\n\nslept 3 hours`,
  });
  expect(parseTeamCall(writeWake([payload]))).toEqual({ ok: true, call: { kind: 'wake', agents: [payload] } });
});

test('has the newest summary and what stayed beside it, without the summarised messages', () => {
  const talk = Array.from({ length: 6 }, (_none, i) =>
    said('agent-1', 'human', `Said ${i}.`, NOW - 9_000 + i * 100, { messageId: `m${i}` }),
  );
  const compaction = { messages: 4, from: 'm4', tokensBefore: 25_000, tokensAfter: 6_000 };
  const summary = said('agent-1', 'relay', 'I promised the blue door.', NOW - 5_000, { compaction });
  const later = said('agent-1', 'human', 'And then?', NOW - 4_000);
  const { transcript } = shareOf(lyra, materialOf([...talk, summary, later]), roster, settings);
  expect(transcript?.text.match(/^> .*$/gm)).toEqual([
    '> I promised the blue door.',
    '> Said 4.',
    '> Said 5.',
    '> And then?',
  ]);
  expect(transcript?.text).toContain('[your own summary of what was said before] (');
  expect(transcript?.leftOut).toBe(0);
});

test("remembers what another agent wrote under that agent's name", () => {
  const team = rosterOf(
    [...docs, agentDoc('agent-2', 'Wren', 1)].map((doc) => ({ ...doc, id: doc._id })),
    [],
  );
  const message = said('agent-1', 'agent-2', 'The tide table is wrong.', NOW - 500, { role: 'user' });
  const { transcript } = shareOf(lyra, materialOf([...messages, message]), team, settings);
  expect(transcript?.text).toMatch(/\n\nWren \([^)]+\):\n> The tide table is wrong\.$/);
});

test('souls and transcripts come out of the message exactly as they went in', () => {
  const payload = payloadOf(shareOf(lyra, material, roster, settings));
  if (!payload) throw new Error('a seated agent has a payload');
  const parsed = parseTeamCall(writeWake([payload]));
  expect(parsed).toEqual({ ok: true, call: { kind: 'wake', agents: [payload] } });
  expect(payload.soul).toBe(SOUL);
});

test('the prompt of the preview is the template with the agent’s own words', () => {
  const payload = payloadOf(shareOf(lyra, undefined, roster, settings));
  if (!payload) throw new Error('a seated agent has a payload');
  const around = {
    human: 'Marcus',
    lead: 'Julian',
    team: [...roster.seats.values()],
    now: NOW + 3 * 3_600_000,
    timeZone: 'UTC',
  };
  expect(
    wakePromptOf(
      payload,
      around,
      templates('{{name}}|{{soul}}|{{#if transcript}}no{{/if}}|{{seat}}|{{colorName}}|{{human}}|{{lead}}'),
    ),
  ).toEqual({ ok: true, text: `Lyra|${quote(SOUL)}||1|Violet Heaven|Marcus|Julian` });
  expect(wakePromptOf(payload, around, templates('{{oops}}')).ok).toBe(false);
});

test('a session begins with the lead’s soul and last words, within the limits of the line', () => {
  if (!roster.lead) throw new Error('there is a lead');
  const lead = { ...roster.lead, soul: 'I lead.' };
  const long = materialOf([said('lead', 'lead', `${'x'.repeat(LIMITS.soul)} end`, NOW)]);
  const body = startSessionBody(shareOf(lead, { ...long, agentId: 'lead' }, roster, settings), roster, settings, 'en');
  expect(body.human).toEqual({ name: 'Marcus' });
  expect(startSessionBody(null, roster, settings, 'de').human).toEqual({ name: 'Marcus', language: 'de' });
  expect(body.lead).toMatchObject({ name: 'Julian', soul: 'I lead.' });
  expect(body.lead.transcript).toMatch(/x\n\[\d+ characters are left out here\]\n> x+ end$/);
  expect(body.lead.transcript?.length).toBeLessThanOrEqual(settings.transcriptCap);
  expect(startSessionBody(null, roster, DEFAULT_SETTINGS, 'en')).toMatchObject({
    human: { name: 'the human' },
    lead: { soul: null, transcript: null },
  });
});

test('sizes are of UTF-8', () => {
  expect(bytesOf('é🕊️')).toBe(9);
});

test('the words by which it was born stand in its soul, and not once more in its conversation', () => {
  const soul = 'I am drawn to small machines.\n\nSo I am Lyra.';
  const [born] = rosterOf(
    [{ ...agentDoc('agent-1', 'Lyra', 0, soul), id: 'i', bornSessionId: 'birth' }],
    [],
  ).byId.values();
  if (!born) throw new Error('Lyra is born');
  const first = said('agent-1', 'agent-1', '', NOW - 3000, {
    blocks: [
      { kind: 'text', text: 'I am drawn to small machines.' },
      {
        kind: 'tool',
        toolUseId: 't',
        name: 'choose_name',
        input: { name: 'Lyra' },
        result: 'Your name is Lyra.',
        isError: false,
      },
    ],
  });
  const nudged = said('agent-1', 'relay', 'There is still no hurry.', NOW - 2500, { role: 'user' });
  const second = said('agent-1', 'agent-1', 'So I am Lyra.', NOW - 2000);
  const talk = [
    said('agent-1', 'human', 'Who are you?', NOW - 1000),
    said('agent-1', 'agent-1', 'So I am Lyra.', NOW - 900),
  ];
  const textOf = (told: readonly MessageDoc[], sessionId: string) =>
    shareOf(
      born,
      {
        agentId: 'agent-1',
        sessions: [{ kind: 'talk', sessionId, addressed: true, messages: told, earlier: 0 }],
        earlier: 0,
      },
      roster,
      settings,
    ).transcript?.text;
  expect(textOf([first, nudged, second], 'birth')).toBeUndefined();
  expect(textOf([first, nudged, second, ...talk], 'birth')).toMatch(
    /^=== [-\d]+ ===\n\nMarcus \([^)]+\):\n> Who are you\?\n\nLyra \([^)]+\):\n> So I am Lyra\.$/,
  );
  expect(textOf(talk, 'later')).toContain('So I am Lyra.');
});

test("tells the agent's acts in short lines, and its letters in full", () => {
  const tool = (name: string, input: unknown, result: string | null, isError = false) => ({
    kind: 'tool' as const,
    toolUseId: name,
    name,
    input,
    result,
    isError,
  });
  const message = `The tide table is wrong. ${'It says noon. '.repeat(40)}`;
  const told = said('agent-1', 'agent-1', '', NOW, {
    blocks: [
      { kind: 'text', text: 'I will tell her.' },
      tool('message_agent', { to: 'Wren', message: message }, 'Delivered.'),
      tool('read_file', { path: 'a'.repeat(5000) }, 'b'.repeat(5000)),
      tool('read_inbox', {}, '[Message from Wren]\nNoon, then.'),
      tool('list_team', {}, null),
    ],
  });
  const lines = (shareOf(lyra, materialOf([told]), roster, settings).transcript?.text ?? '').split('\n> \n> ').slice(1);
  expect(lines).toEqual([
    `[message_agent, to Wren]\n> > ${message}`,
    expect.stringMatching(/^\[read_file \{"path":"a+…: b+…\]$/),
    '[read_inbox]\n> [Message from Wren]\n> Noon, then.',
    '[list_team: cut off]',
  ]);
  expect(lines[1]?.length).toBeLessThanOrEqual(TOOL_LINE_MAX + 2);
});

test('a greeting is quoted by its words, and not by the call that came before them', () => {
  const greeting = said('lead', 'lead', '', NOW, {
    blocks: [
      {
        kind: 'tool',
        toolUseId: 't',
        name: 'spawn_team',
        input: { seats: [1, 2, 3] },
        result: `[TEAM REPORT] Here: ${'Lyra (seat 1), '.repeat(20)}`,
        isError: false,
      },
      { kind: 'text', text: `Welcome back. ${'The kettle is on. '.repeat(8)}`.trim() },
    ],
  });
  const asleep: WakeContext = {
    agentId: 'agent-1',
    sessions: [{ kind: 'greetings', times: 1, more: false, from: NOW, until: NOW, last: greeting }],
    earlier: 0,
  };
  expect(shareOf(lyra, asleep, roster, settings).transcript?.text).toMatch(
    /; your greeting: “Welcome back\. (The kettle is on\. ?){8}”\]$/,
  );
});
