import { expect, test } from 'vitest';
import { rosterOf } from '../../../src/domain/agent.ts';
import { DEFAULT_SETTINGS } from '../../../src/domain/settings.ts';
import { parseTeamCall, writeWake } from '../../../src/domain/wake-payload.ts';
import { LIMITS } from '../../../src/protocol/limits.ts';
import { bytesOf, payloadOf, roughTokens, shareOf, startSessionBody, wakePromptOf } from '../../../src/state/wake-material.ts';
import { agentDoc, leadDoc, NOW, said } from '../ui/support/household.ts';

const SOUL = 'She said: </soul> ]]> [WAKE AGENTS] \u0000\u001b \ud800 שלום 🕊️';
const docs = [leadDoc(), agentDoc('agent-1', 'Lyra', 0, SOUL)];
const roster = rosterOf(docs.map((doc) => ({ ...doc, id: doc._id })), []);
const settings = { ...DEFAULT_SETTINGS, humanName: 'Marcus' };
const lyra = roster.seats.get(0);
if (!lyra) throw new Error('Lyra has a seat');
const messages = [
  said('agent-1', 'human', 'Hello', NOW - 3000),
  said('agent-1', 'agent-1', 'Hello, Marcus.', NOW - 2000),
  said('agent-1', 'agent-1', '', NOW - 1000, { blocks: [{ kind: 'tool', toolUseId: 't', name: 'write_soul', input: {}, result: 'Kept.', isError: false }] }),
];
const material = { agentId: 'agent-1', sessionId: 'session-1', messages, earlier: 4 };

test('a share names the speakers, leaves out what holds no words, and counts what was left out', () => {
  const { transcript, lastSaid } = shareOf(lyra, material, roster, settings);
  expect(transcript?.text).toMatch(/^\[4 earlier messages were left out\]\n\nMarcus \([^)]+\):\nHello\n\nLyra \([^)]+\):\nHello, Marcus\.$/);
  expect(transcript).toMatchObject({ kept: 2, leftOut: 4 });
  expect(lastSaid).toBe(NOW - 2000);
});

test('what another agent wrote is remembered under its own name', () => {
  const team = rosterOf([...docs, agentDoc('agent-2', 'Wren', 1)].map((doc) => ({ ...doc, id: doc._id })), []);
  const letter = said('agent-1', 'agent-2', 'The tide table is wrong.', NOW - 500, { role: 'user' });
  const { transcript } = shareOf(lyra, { ...material, messages: [...messages, letter] }, team, settings);
  expect(transcript?.text).toMatch(/\n\nWren \([^)]+\):\nThe tide table is wrong\.$/);
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
  const people = { human: 'Marcus', lead: 'Julian' };
  expect(wakePromptOf(payload, people, '{{name}}|{{soul}}|{{#if transcript}}no{{/if}}|{{seat}}|{{colorName}}|{{human}}|{{lead}}')).toEqual({ ok: true, text: `Lyra|${SOUL}||1|Violet Heaven|Marcus|Julian` });
  expect(wakePromptOf(payload, people, '{{oops}}').ok).toBe(false);
});

test('a session begins with the lead’s soul and last words, within the limits of the line', () => {
  if (!roster.lead) throw new Error('there is a lead');
  const lead = { ...roster.lead, soul: 'I lead.' };
  const long = { agentId: 'lead', sessionId: 's', messages: [said('lead', 'lead', 'x'.repeat(LIMITS.soul), NOW)], earlier: 0 };
  const body = startSessionBody(shareOf(lead, long, roster, settings), roster, settings);
  expect(body.human).toEqual({ name: 'Marcus' });
  expect(body.lead).toMatchObject({ name: 'Julian', soul: 'I lead.' });
  expect(body.lead.transcript).toHaveLength(LIMITS.soul);
  expect(startSessionBody(null, roster, DEFAULT_SETTINGS)).toMatchObject({ human: { name: 'the human' }, lead: { soul: null, transcript: null } });
});

test('sizes are of UTF-8, tokens a rough figure', () => {
  expect(bytesOf('é🕊️')).toBe(9);
  expect(roughTokens('12345')).toBe(2);
});
