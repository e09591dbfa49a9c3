/**
 * What a WAKE of eight costs with the models that are the default, at the list prices in the code:
 * what leaves a relay for a household whose souls and last conversations have the size that a
 * long-lived team has. Once as Claude is asked, whose address is led to a scripted model in this
 * process, and once as any other server is.
 */
import { randomUUID } from 'node:crypto';
import { usdText } from '../../src/shared/domain/money.ts';
import { costOf, DEFAULT_PRICES, type TokenCount } from '../../src/shared/domain/prices.ts';
import { SEAT_ORDER, seatColor } from '../../src/shared/domain/seat.ts';
import { DEFAULT_SETTINGS } from '../../src/shared/domain/settings.ts';
import { writeWake } from '../../src/shared/domain/wake-payload.ts';
import { wakeCostSchema } from '../../src/shared/protocol/costs.ts';
import { sendAnthropicTo } from '../support/anthropic-at.ts';
import { openEventSource } from '../support/event-source.ts';
import { seatsCalled, startScriptedModel, toldIn, type ScriptedRequest } from '../support/scripted-model.ts';
import { definePart, withOpened } from './part.ts';
import { SHARED, type Place } from './place.ts';

const SOUL = 1_500;
/** A token counted strictly: English prose has about four to one. */
const CHARACTERS_PER_TOKEN = 3.5;
/** Tokens of an answer: a greeting of a few sentences, with what is thought before it. */
const ANSWER = 250;

const filled = (text: string, length: number) => text.repeat(Math.ceil(length / text.length)).slice(0, length);
const soul = filled('I am somebody, and I chose this name myself. ', SOUL);
const talk = (length: number) => filled('Ada (2026-11-21 08:52 UTC):\nWhat shall we read tonight?\n\n', length);
const agents = (transcript: string) =>
  SEAT_ORDER.map((position) => ({
    id: `agent-${position}`,
    name: `Agent ${position}`,
    ...seatColor(position),
    position,
    soul,
    transcript,
  }));

/**
 * What is marked for the cache is written to it once; what the same mind sent before is read from
 * it. Tools that wait are sent along, and are not read.
 */
function tokensOf(requests: readonly ScriptedRequest[]): TokenCount[] {
  const sent = new Map<number | null, number>();
  return requests.map((request) => {
    const { seat, body } = request;
    const { system, messages } = body;
    const read = { system, tools: toldIn(request), messages };
    const tokens = Math.ceil(JSON.stringify(read).length / CHARACTERS_PER_TOKEN);
    const cacheReadTokens = sent.get(seat) ?? 0;
    sent.set(seat, tokens);
    return {
      model: body.model,
      inputTokens: 0,
      outputTokens: ANSWER,
      cacheReadTokens,
      cacheWriteTokens: tokens - cacheReadTokens,
    };
  });
}

/** How full the last conversations are. */
const FULL = {
  shares: { 'last conversations full': 1, 'half full': 0.5, 'none yet': 0 } as Readonly<Record<string, number>>,
};
const SMOKE: typeof FULL = { shares: { 'none yet': 0 } };

/** One line for each share: what a wake sends, beside what its preview said. */
async function wakesOf(who: string, { shares }: typeof FULL, isClaude: boolean, place: Place): Promise<string[]> {
  return await withOpened(async (keep) => {
    const model = keep(
      await startScriptedModel(({ seat, last, results }) => {
        if (seat !== null) return [{ say: 'Good morning.' }];
        return results.length > 0
          ? [{ say: 'Welcome.' }]
          : [{ call: 'spawn_team', input: { seats: seatsCalled(last) } }];
      }),
      (one) => one.close(),
    );
    if (isClaude) keep(sendAnthropicTo(model.url), (restore) => restore());
    const env = isClaude ? { ANTHROPIC_API_KEY: 'none' } : { ANTHROPIC_BASE_URL: model.url };
    const relay = keep(await place.startRelay({ env }), (one) => one.stop());
    const headers = await relay.headers();
    const events = keep(
      await openEventSource((signal) => fetch(`${relay.url}/api/events`, { headers, signal })),
      (one) => one.close(),
    );
    const call = async (path: string, init: Parameters<typeof relay.fetch>[1]) => {
      const response = await relay.fetch(path, init);
      if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    };
    const wake = async (what: string, length: number): Promise<string> => {
      const start = { human: { name: 'Ada' }, lead: { name: 'Julian', soul, transcript: talk(length) } };
      const text = writeWake(agents(talk(length)));
      const measured = wakeCostSchema.parse(
        await (await relay.fetch('/api/costs/wake', { method: 'POST', json: { start, text } })).json(),
      );
      const preview = measured.reads.reduce((total, { tokens }) => total + tokens, 0);
      const [asked, before] = [model.requests.length, events.messages.length];
      const since = (kind: string) => events.messages.slice(before).filter(({ event }) => event === kind);
      await call('/api/sessions', { method: 'POST', json: start });
      await call('/api/messages', { method: 'POST', json: { text, clientId: randomUUID() } });
      await events.until(() => since('agent-awake').length === SEAT_ORDER.length);
      await events.until(() => since('message').some(({ data }) => /"author":"lead"/.test(JSON.stringify(data))));
      await call('/api/sessions/current', { method: 'DELETE' });
      await events.until(() => since('session-ended').length === 1);
      const requests = model.requests.slice(asked);
      const all = tokensOf(requests);
      const sum = (of: (tokens: TokenCount) => number) => all.reduce((total, tokens) => total + of(tokens), 0);
      const input = sum(({ cacheReadTokens, cacheWriteTokens }) => cacheReadTokens + cacheWriteTokens);
      const cost = isClaude ? `, ${usdText(sum((tokens) => costOf(tokens, DEFAULT_PRICES).microUsd))}` : '';
      const tools = Math.max(...requests.map((request) => JSON.stringify(toldIn(request)).length));
      return `${who}, ${what}: ${all.length} requests, ${input.toLocaleString('en')} tokens in (${preview.toLocaleString('en')} by the preview), ${sum(({ outputTokens }) => outputTokens).toLocaleString('en')} out${cost}; tools in each ${tools.toLocaleString('en')} characters at most (${[...new Set(all.map(({ model: name }) => name))].join(', ')})`;
    };
    const notes: string[] = [];
    for (const [what, share] of Object.entries(shares))
      notes.push(await wake(what, DEFAULT_SETTINGS.transcriptCap * share));
    return notes;
  });
}

export const wakeCost = definePart({
  name: 'wake-cost',
  needs: 'relay',
  full: FULL,
  smoke: SMOKE,
  async run(sizes, place) {
    return {
      title: 'What a WAKE of eight costs',
      method: `souls of ${SOUL} characters, the lead’s too; ${CHARACTERS_PER_TOKEN} characters a token, all of it written to the cache at first; ${ANSWER} tokens an answer; list prices of the default models`,
      figures: [],
      notes: [
        ...(await wakesOf('Claude', sizes, true, SHARED)),
        ...(await wakesOf('any other server', sizes, false, place)),
      ],
    };
  },
});
